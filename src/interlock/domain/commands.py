"""Everything that can be asked of the workbench. Imperative, plain data."""

from msgspec import UNSET, Struct, UnsetType

from interlock.domain.approvals import Decision, MergePayload, ScriptPayload, SpawnPayload, ToolPayload
from interlock.domain.budgets import Caps, Micros, Usage
from interlock.domain.calls import Party
from interlock.domain.epics import TrackPlan
from interlock.domain.gates import Blob, Gate, GateDefaults, GateResult
from interlock.domain.steering_commands import Hear, Tell
from interlock.domain.tags import Tagged as _Command
from interlock.domain.tests import Execution, Report
from interlock.domain.tickets import Priority, Role, Saved, TicketSpec

# ── by people ────────────────────────────────────────────────────────────────────────────


class AddTrack(_Command, frozen=True):
    track: str
    title: str
    description: str
    tickets: tuple[TicketSpec, ...]


class AddTickets(_Command, frozen=True):
    track: str
    tickets: tuple[TicketSpec, ...]


class PlanEpic(_Command, frozen=True):
    """A goal in words: its tracks are planned and proposed."""

    text: str


class DropEpic(_Command, frozen=True):
    """Stop planning it."""

    epic: str
    reason: str = ""


class StartTrack(_Command, frozen=True):
    """Begin, or go on with, a track's tickets; plan them where that failed before."""

    track: str


class PauseTrack(_Command, frozen=True):
    track: str


class ResumeTrack(_Command, frozen=True):
    track: str


class EditTrack(_Command, frozen=True):
    """None: stays as it is."""

    track: str
    title: str | None = None
    description: str | None = None


class AbortTrack(_Command, frozen=True):
    track: str
    reason: str = "aborted"


class TicketChanges(Struct, frozen=True, gc=False, omit_defaults=True):
    """What an edit replaces; anything unset stays."""

    description: str | UnsetType = UNSET
    assigned_to: Role | UnsetType = UNSET
    target_file: str | UnsetType | None = UNSET
    context_requirements: tuple[str, ...] | UnsetType = UNSET
    depends_on: tuple[str, ...] | UnsetType = UNSET
    step_mode: bool | UnsetType = UNSET
    verify: tuple[Gate, ...] | UnsetType = UNSET
    script: str | UnsetType | None = UNSET
    priority: Priority | UnsetType = UNSET
    model_override: str | UnsetType | None = UNSET
    with_answers: bool | UnsetType = UNSET
    returns: bool | UnsetType = UNSET


class EditTicket(_Command, frozen=True):
    track: str
    ticket: str
    changes: TicketChanges


class MoveTicket(_Command, frozen=True):
    """Put a ticket at `position` (from 0) of its track's order."""

    track: str
    ticket: str
    position: int


class SkipTicket(_Command, frozen=True):
    track: str
    ticket: str


class RetryTicket(_Command, frozen=True):
    track: str
    ticket: str


class BlockTicket(_Command, frozen=True):
    track: str
    ticket: str
    reason: str


class CancelTicket(_Command, frozen=True):
    track: str
    ticket: str
    reason: str = "cancelled"


class KillWorker(_Command, frozen=True):
    track: str
    ticket: str


class ApproveTask(_Command, frozen=True):
    """Answer the ticket's step approval with yes."""

    track: str
    ticket: str


TicketCommand = (
    EditTicket | MoveTicket | SkipTicket | RetryTicket | BlockTicket | CancelTicket | KillWorker | ApproveTask
)


class Bulk(_Command, frozen=True):
    """All of these, or none."""

    commands: tuple[TicketCommand, ...]


class AnswerApproval(_Command, frozen=True):
    approval: str
    decision: Decision
    edited: str | None = None
    message: str = ""
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None  # of a worker about to start


class StartDiscussion(_Command, frozen=True):
    title: str = ""


class StopTurn(_Command, frozen=True):
    """End the model's turn as it is."""

    discussion: str
    reason: str = "stopped"


class WithdrawAsk(_Command, frozen=True):
    """The program that asked does not wait any more."""

    approval: str
    why: str = "withdrawn"


class RecordTests(_Command, frozen=True):
    """Tests that have ended: all of them, or none. With the file they come from, which is recorded once only."""

    executions: tuple[Execution, ...]
    report: Report | None = None
    again: bool = False


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


# ── by the engine: what its effects came to ──────────────────────────────────────────────


class StartConductor(_Command, frozen=True):
    """From now on ready tickets may start; a running process stands behind this."""

    workers: int = 4
    auto_queue: bool = False
    approve_all: bool = False
    gates: GateDefaults = GateDefaults()
    deadline_s: int | None = None  # every question is denied when nobody answers for so long
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None  # only these tracks go on; None: all


class ForgetTests(_Command, frozen=True):
    """Keep only so many, and none recorded before that moment."""

    keep: int
    before: str


class StopConductor(_Command, frozen=True):
    reason: str = ""


class Recover(_Command, frozen=True):
    """The process before this one is gone: what it had in hand is lost."""

    reason: str = "the workbench stopped"


class AskScript(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    payload: ScriptPayload
    why: str
    deadline: str | None = None
    allowed_by: str = ""  # the rule that says yes: it is asked for the record only


class AskWorker(_Command, frozen=True):
    """A worker's question: may it start, may it call this tool, may it run this script."""

    track: str
    ticket: str
    attempt: int
    payload: SpawnPayload | ToolPayload | ScriptPayload
    why: str


class AskPerson(_Command, frozen=True):
    """A program outside asks for a person's word. `key` is its own name for the question."""

    tool: str
    arguments: str  # a JSON object; where that is long, what to show of it
    arguments_sha256: str  # of all of it
    asker: str
    whole: Blob | None = None  # where it is long
    key: str = ""
    directory: str = ""
    why: str = ""
    deadline: str | None = None


class StartSession(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob


class ReserveCall(_Command, frozen=True):
    """A model is about to be asked: `amount` is the most it can cost, None where nobody knows."""

    party: Party
    tier: str
    model: str
    amount: Micros | None


class EndCall(_Command, frozen=True):
    """The call brought nothing to keep, and why (`error`; empty after a question in passing). `usage` is None where
    nobody knows what it cost.
    """

    call: str
    usage: Usage | None
    error: str


class FinishTurn(_Command, frozen=True):
    """One answer of a model, kept as a text, and what it cost."""

    track: str
    ticket: str
    attempt: int
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str = ""


class FinishPlanning(_Command, frozen=True):
    """A planner was asked and has answered: about an epic, or about one track of it."""

    epic: str
    track: str
    messages: tuple[Blob, ...]
    tier: str
    model: str
    usage: Usage
    call: str


class ProposeTracks(_Command, frozen=True):
    epic: str
    tracks: tuple[TrackPlan, ...]


class PlanTickets(_Command, frozen=True):
    track: str
    tickets: tuple[TicketSpec, ...]


class FailPlanning(_Command, frozen=True):
    epic: str
    track: str
    reason: str
    budget: bool = False


class FinishTool(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tool: str
    failed: bool
    by: str  # the approval or the rule that let it run


class Say(_Command, frozen=True):
    """The user's words in a discussion; the text itself is kept beside the journal."""

    discussion: str
    message: Blob
    made_of: Blob


class ReplyInDiscussion(_Command, frozen=True):
    """One answer of the model, which may still ask for tools."""

    discussion: str
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str


class BeginDiscussionTool(_Command, frozen=True):
    discussion: str
    call: str


class FinishDiscussionTool(_Command, frozen=True):
    discussion: str
    message: Blob
    tool: str
    failed: bool
    by: str


class AskInDiscussion(_Command, frozen=True):
    discussion: str
    payload: ToolPayload | ScriptPayload
    why: str


class EndTurn(_Command, frozen=True):
    discussion: str
    error: str = ""


class ExpireApproval(_Command, frozen=True):
    approval: str


class SubmitWork(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    saved: Saved | None = None
    summary: str = ""
    tampered: tuple[str, ...] = ()  # files that judge it, and that it has changed


class FailWork(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    reason: str
    budget: bool = False  # it was the money that ran out


class RedoAttempt(_Command, frozen=True):
    """The attempt is thrown away and a new one made, told why."""

    track: str
    ticket: str
    attempt: int
    why: str


class ReportGate(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    gate: int
    result: GateResult
    tree: str = ""
    escalation: str = ""  # the text for a human, should this be the last try
    feedback: Blob | None = None  # what a worker is told when it is to try again
    fresh: bool = False  # in a new session


class FinishMerge(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    commit: str


class AskLanding(_Command, frozen=True):
    track: str
    payload: MergePayload


class FinishLanding(_Command, frozen=True):
    track: str
    commit: str


class FailLanding(_Command, frozen=True):
    track: str
    reason: str


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
