"""The union of all commands, and Bulk: several commands as one."""

from interlock.domain.messages.commands.approval_commands import (
    AnswerApproval,
    AnswerApprovals,
    ApprovalCommand,
    ApproveTask,
)
from interlock.domain.messages.commands.attempt_commands import AttemptCommand
from interlock.domain.messages.commands.call_commands import CallCommand
from interlock.domain.messages.commands.conductor_commands import ConductorCommand
from interlock.domain.messages.commands.discussion_commands import DiscussionCommand, StartDiscussion, StopTurn
from interlock.domain.messages.commands.epic_commands import DropEpic, EpicCommand, PlanEpic
from interlock.domain.messages.commands.external_ask_commands import ExternalAskCommand, WithdrawAsk
from interlock.domain.messages.commands.landing_commands import LandingCommand
from interlock.domain.messages.commands.steering_commands import SetAutonomy, SteeringCommand, Tell
from interlock.domain.messages.commands.test_history_commands import RecordTests, TestHistoryCommand
from interlock.domain.messages.commands.ticket_commands import TicketCommand
from interlock.domain.messages.commands.track_commands import TrackCommand
from interlock.domain.values.wire_names import Tagged as _Command

BulkPart = TicketCommand | ApproveTask


class Bulk(_Command, frozen=True):
    """All parts are applied, or none."""

    commands: tuple[BulkPart, ...]


HumanCommand = (
    TrackCommand
    | BulkPart
    | Bulk
    | AnswerApproval
    | AnswerApprovals
    | Tell
    | SetAutonomy
    | PlanEpic
    | DropEpic
    | StartDiscussion
    | StopTurn
    | WithdrawAsk
    | RecordTests
)
"""The commands that people may send; only the engine sends the others."""

Command = (
    AttemptCommand
    | ApprovalCommand
    | TicketCommand
    | TrackCommand
    | CallCommand
    | SteeringCommand
    | DiscussionCommand
    | EpicCommand
    | LandingCommand
    | ConductorCommand
    | TestHistoryCommand
    | ExternalAskCommand
    | Bulk
    | AnswerApprovals
)
