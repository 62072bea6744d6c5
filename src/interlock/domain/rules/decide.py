"""`decide` turns a command into events, or raises Rejected. One rules module per topic holds the rules themselves."""

from typing import assert_never

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ApprovalCommand, ApproveTask
from interlock.domain.messages.commands.attempt_commands import AttemptCommand
from interlock.domain.messages.commands.call_commands import CallCommand
from interlock.domain.messages.commands.command import Bulk
from interlock.domain.messages.commands.conductor_commands import ConductorCommand
from interlock.domain.messages.commands.discussion_commands import DiscussionCommand
from interlock.domain.messages.commands.epic_commands import EpicCommand
from interlock.domain.messages.commands.external_ask_commands import ExternalAskCommand
from interlock.domain.messages.commands.landing_commands import LandingCommand
from interlock.domain.messages.commands.steering_commands import SteeringCommand
from interlock.domain.messages.commands.test_history_commands import TestHistoryCommand
from interlock.domain.messages.commands.ticket_commands import TicketCommand
from interlock.domain.messages.commands.track_commands import TrackCommand
from interlock.domain.messages.envelopes import Submission, is_agent
from interlock.domain.messages.events.event import Events
from interlock.domain.rules import (
    approval_rules,
    attempt_rules,
    call_rules,
    conductor_rules,
    discussion_rules,
    epic_rules,
    external_ask_rules,
    landing_rules,
    steering_rules,
    test_history_rules,
    ticket_rules,
    track_rules,
)
from interlock.domain.state.state import State
from interlock.errors import Rejected


def decide(state: State, submission: Submission) -> Events:
    """The events of an allowed command. Raises Rejected, and changes nothing, if the command is not allowed."""
    command, actor = submission.command, submission.actor
    # The rules for answering approvals reject agents themselves, with a more exact message.
    if is_agent(actor) and not isinstance(command, AnswerApproval | ApproveTask):
        raise Rejected("an agent works on its own ticket; it does not command the workbench")
    if isinstance(command, AttemptCommand):  # first, because most commands are of this topic
        return attempt_rules.decide(state, command)
    if isinstance(command, CallCommand):
        return call_rules.decide(state, command)
    if isinstance(command, ApprovalCommand):
        return approval_rules.decide(state, command, actor)
    if isinstance(command, TicketCommand):
        return ticket_rules.decide(state, command, actor)
    if isinstance(command, TrackCommand):
        return track_rules.decide(state, command)
    if isinstance(command, SteeringCommand):
        return steering_rules.decide(state, command)
    if isinstance(command, DiscussionCommand):
        return discussion_rules.decide(state, command)
    if isinstance(command, EpicCommand):
        return epic_rules.decide(state, command)
    if isinstance(command, LandingCommand):
        return landing_rules.decide(state, command, actor)
    if isinstance(command, ConductorCommand):
        return conductor_rules.decide(state, command)
    if isinstance(command, TestHistoryCommand):
        return test_history_rules.decide(state, command)
    if isinstance(command, ExternalAskCommand):
        return external_ask_rules.decide(state, command)
    match command:
        case Bulk():
            raise Rejected("a bulk operation is decided part by part, by step()")
        case _:
            assert_never(command)
