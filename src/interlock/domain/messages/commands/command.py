"""The union of all commands, and several commands as one."""

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ApproveTask, ExpireApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskScript,
    AskWorker,
    FailWork,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor, StopConductor
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    EndTurn,
    FinishDiscussionTool,
    ReplyInDiscussion,
    Say,
    StartDiscussion,
    StopTurn,
)
from interlock.domain.messages.commands.epic_commands import (
    DropEpic,
    FailPlanning,
    FinishPlanning,
    PlanEpic,
    PlanTickets,
    ProposeTracks,
)
from interlock.domain.messages.commands.external_ask_commands import AskPerson, WithdrawAsk
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.commands.steering_commands import Hear, Tell
from interlock.domain.messages.commands.test_history_commands import ForgetTests, RecordTests
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
)
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    EditTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
)
from interlock.domain.values.wire_names import Tagged as _Command

TicketCommand = (
    EditTicket | MoveTicket | SkipTicket | RetryTicket | BlockTicket | CancelTicket | KillWorker | ApproveTask
)


class Bulk(_Command, frozen=True):
    """All of these, or none."""

    commands: tuple[TicketCommand, ...]


HumanCommand = (
    AddTrack
    | WithdrawAsk
    | StartDiscussion
    | StopTurn
    | Tell
    | PlanEpic
    | DropEpic
    | AddTickets
    | StartTrack
    | PauseTrack
    | ResumeTrack
    | AbortTrack
    | EditTrack
    | TicketCommand
    | Bulk
    | AnswerApproval
    | RecordTests
)
"""What people may ask for; everything below comes from the engine alone."""


Command = (
    HumanCommand
    | StartConductor
    | StopConductor
    | ForgetTests
    | Recover
    | AskScript
    | AskWorker
    | AskPerson
    | StartSession
    | ReserveCall
    | EndCall
    | Hear
    | FinishTurn
    | FinishPlanning
    | ProposeTracks
    | PlanTickets
    | FailPlanning
    | FinishTool
    | Say
    | ReplyInDiscussion
    | BeginDiscussionTool
    | FinishDiscussionTool
    | AskInDiscussion
    | EndTurn
    | ExpireApproval
    | SubmitWork
    | FailWork
    | RedoAttempt
    | ReportGate
    | FinishMerge
    | AskLanding
    | FinishLanding
    | FailLanding
)
