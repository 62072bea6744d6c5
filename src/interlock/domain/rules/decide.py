"""`decide` turns a command into events, or raises Rejected. One rules module per topic holds the rules themselves."""

from collections.abc import Callable
from typing import Any, get_args

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ApprovalCommand, ApproveTask
from interlock.domain.messages.commands.attempt_commands import AttemptCommand
from interlock.domain.messages.commands.call_commands import CallCommand
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import ConductorCommand
from interlock.domain.messages.commands.discussion_commands import DiscussionCommand, Say, StartDiscussion, StopTurn
from interlock.domain.messages.commands.epic_commands import EpicCommand, PlanEpic
from interlock.domain.messages.commands.external_ask_commands import ExternalAskCommand
from interlock.domain.messages.commands.landing_commands import LandingCommand
from interlock.domain.messages.commands.steering_commands import SteeringCommand
from interlock.domain.messages.commands.test_history_commands import TestHistoryCommand
from interlock.domain.messages.commands.ticket_commands import TicketCommand
from interlock.domain.messages.commands.track_commands import AddTickets, TrackCommand
from interlock.domain.messages.envelopes import PROGRAM, Actor, Submission, is_agent, reporter
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

Rule = Callable[[State, Any], Events]
RuleWithActor = Callable[[State, Any, Actor], Events]

# Tables, because isinstance on a union of structs takes a microsecond where a lookup takes 50 ns.
RULES: dict[type[Command], Rule] = {
    kind: rule
    for topic, rule in (
        (AttemptCommand, attempt_rules.decide),
        (CallCommand, call_rules.decide),
        (ConductorCommand, conductor_rules.decide),
        (DiscussionCommand, discussion_rules.decide),
        (EpicCommand, epic_rules.decide),
        (ExternalAskCommand, external_ask_rules.decide),
        (SteeringCommand, steering_rules.decide),
        (TestHistoryCommand, test_history_rules.decide),
        (TrackCommand, track_rules.decide),
    )
    for kind in get_args(topic)
}
RULES_WITH_ACTOR: dict[type[Command], RuleWithActor] = {
    kind: rule
    for topic, rule in (
        (ApprovalCommand, approval_rules.decide),
        (LandingCommand, landing_rules.decide),
        (TicketCommand, ticket_rules.decide),
    )
    for kind in get_args(topic)
}


_OF_PROGRAMS = (StartDiscussion, Say, StopTurn, PlanEpic, AddTickets, AnswerApproval, ApproveTask)
"""What an outside program may send. The rules for answering approvals reject it, with a more exact message."""


def decide(state: State, submission: Submission) -> Events:
    """The events of an allowed command. Raises Rejected, and changes nothing, if the command is not allowed."""
    command, actor = submission.command, submission.actor
    # The rules for answering approvals reject agents themselves, with a more exact message.
    if is_agent(actor) and actor != reporter(command) and not isinstance(command, AnswerApproval | ApproveTask):
        raise Rejected("an agent works on its own ticket; it does not command the workbench")
    # Not by the function: every command passes here.
    if actor.startswith(PROGRAM) and not isinstance(command, _OF_PROGRAMS):
        raise Rejected(f"an outside program ({actor}) may not do this; a person does it")
    kind = type(command)
    if rule := RULES.get(kind):
        return rule(state, command)
    if rule_with_actor := RULES_WITH_ACTOR.get(kind):
        return rule_with_actor(state, command, actor)
    raise Rejected("a bulk operation is decided part by part, by step()")
