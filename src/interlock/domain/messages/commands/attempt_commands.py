"""Commands of the engine about a running attempt."""

from interlock.domain.values.approvals import ReviewPayload, ScriptPayload, SpawnPayload, ToolPayload
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob, GateResult
from interlock.domain.values.tickets import Saved
from interlock.domain.values.wire_names import Tagged as _Command


class AskScript(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    payload: ScriptPayload
    why: str
    deadline: str | None = None
    allowed_by: str = ""  # the rule that approves it; the request is made for the record
    again_of: str = ""  # the answered approval that no longer fits what would run
    asked_by: str = ""  # the rule that wants a person's answer


class AskWorker(_Command, frozen=True):
    """Requests an approval: to start a worker, to call a tool, or to run a script."""

    track: str
    ticket: str
    attempt: int
    payload: SpawnPayload | ToolPayload | ScriptPayload
    why: str
    again_of: str = ""
    asked_by: str = ""


class StartSession(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob


class FinishTurn(_Command, frozen=True):
    """One answer of a model, stored as a blob, with its usage."""

    track: str
    ticket: str
    attempt: int
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str = ""


class BeginTool(_Command, frozen=True):
    """Recorded before a call that reaches beyond the worktree."""

    track: str
    ticket: str
    attempt: int
    call: str
    tool: str
    what: str
    by: str


class FinishTool(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tool: str
    failed: bool
    by: str  # the approval or the rule that allowed it, or refused it
    refused: str = ""
    replayed: bool = False  # a lost attempt begins from nothing, so the same call comes again: its answer counts again


class SubmitWork(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    saved: Saved | None = None
    summary: str = ""
    tampered: tuple[str, ...] = ()  # changed files that verify the work
    tampered_diff: str = ""  # what was changed in them, cut if it is long
    tampered_diff_blob: Blob | None = None  # all of it, if it is cut
    feedback: Blob | None = None  # of a worker that changed nothing: its next message, if a person says retry


class FailWork(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    reason: str
    budget: bool = False  # a budget was used up
    unsaved: str | None = None  # the summary of finished work that could not be saved; its folder stays
    output: Blob | None = None  # of the script that failed


class RedoAttempt(_Command, frozen=True):
    """Discards the attempt and starts a new one with the reason.

    `lost`: its process is gone, as after a crash. The new attempt begins with the same input.
    """

    track: str
    ticket: str
    attempt: int
    why: str
    lost: bool = False


class ReportGate(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    gate: int
    result: GateResult
    tree: str = ""
    escalation: str = ""  # the question for a person, if no try is left
    feedback: Blob | None = None  # the worker's next message, if it tries again
    fresh: bool = False  # in a new session


class AskReview(_Command, frozen=True):
    """The gates passed; a person reviews the diff before it is merged."""

    track: str
    ticket: str
    attempt: int
    payload: ReviewPayload


class SubmitParts(_Command, frozen=True):
    """The commit with only those parts of the work that a person accepted; its gates run again."""

    track: str
    ticket: str
    attempt: int
    saved: Saved


class FinishMerge(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    commit: str | None  # None if the ticket changes nothing on its branch


WorkerCommand = AskScript | AskWorker | StartSession | FinishTurn | BeginTool | FinishTool | SubmitWork
"""The commands by which a worker asks, says and hands in; the engine decides about its attempt with the others."""

AttemptCommand = (
    SubmitWork
    | ReportGate
    | AskReview
    | SubmitParts
    | FinishMerge
    | AskScript
    | AskWorker
    | StartSession
    | FinishTurn
    | BeginTool
    | FinishTool
    | FailWork
    | RedoAttempt
)
