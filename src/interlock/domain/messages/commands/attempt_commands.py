"""Commands of the engine about an attempt under way."""

from interlock.domain.values.approvals import ScriptPayload, SpawnPayload, ToolPayload
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
    allowed_by: str = ""  # the rule that says yes: it is asked for the record only


class AskWorker(_Command, frozen=True):
    """A worker's question: may it start, may it call this tool, may it run this script."""

    track: str
    ticket: str
    attempt: int
    payload: SpawnPayload | ToolPayload | ScriptPayload
    why: str


class StartSession(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob


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


class FinishTool(_Command, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tool: str
    failed: bool
    by: str  # the approval or the rule that let it run


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


AttemptCommand = (
    SubmitWork
    | ReportGate
    | FinishMerge
    | AskScript
    | AskWorker
    | StartSession
    | FinishTurn
    | FinishTool
    | FailWork
    | RedoAttempt
)
