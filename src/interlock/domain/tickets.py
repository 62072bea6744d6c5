"""A ticket: what is asked (TicketSpec), where it stands (Stage), what became of it (Ticket)."""

from typing import Literal, cast, get_args

from msgspec import Struct, to_builtins

from interlock.domain.gates import Blob, Gate, GateResult
from interlock.domain.plain_data import (
    Plain,
    Read,
    Wrong,
    flag,
    gates,
    one_of,
    or_null,
    read_table,
    shown,
    text,
    texts,
    whole,
    written,
)
from interlock.errors import Rejected

Role = Literal["tier3-worker", "tier4-qa", "shell"]
Priority = Literal["high", "medium", "low"]
Status = Literal["todo", "in_progress", "completed", "blocked", "cancelled"]

PRIORITY_RANK: dict[str, int] = {"high": 0, "medium": 1, "low": 2}


class TicketSpec(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What the author of a ticket wrote; it changes only by an edit."""

    id: str
    description: str = ""
    assigned_to: Role = "tier3-worker"
    target_file: str | None = None
    context_requirements: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    step_mode: bool = False
    verify: tuple[Gate, ...] = ()
    script: str | None = None
    priority: Priority = "medium"
    model_override: str | None = None
    with_answers: bool = False  # its worker is told what the tickets it depends on have answered
    returns: bool = False  # after a failed gate without `loop` a person says whether it tries again


class Saved(Struct, frozen=True, gc=False):
    """An attempt's work as a commit: made on `base`, kept on a ref of its own."""

    base: str
    commit: str
    tree: str


class Grant(Struct, frozen=True, gc=False):
    """A human's or a rule's yes to exactly one payload, not yet used up."""

    approval: str
    digest: str
    edited: str | None = None
    context: str | None = None  # what a worker is shown instead, where that was edited


# Where a ticket stands. Only Working and Verifying occupy a worker.


class Tried(Struct, frozen=True, gc=False):
    """A gate that failed in this attempt, and how often: a worker's next submission counts on."""

    gate: int
    attempt_count: int
    previous_results: tuple[GateResult, ...]


class Todo(Struct, frozen=True, gc=False, tag="todo", omit_defaults=True):
    asked: str | None = None  # the pending step approval
    cleared: bool = False  # its step approval was given
    tried: Tried | None = None  # a gate's failures before a crash lost the attempt: they still count


class Working(Struct, frozen=True, gc=False, tag="working", omit_defaults=True):
    tried: Tried | None = None


class Asking(Struct, frozen=True, gc=False, tag="asking", omit_defaults=True):
    approval: str
    then: Working = Working()


class Verifying(Struct, frozen=True, gc=False, tag="verifying", omit_defaults=True):
    """Pending verification: gate number `gate` of the ticket is next or running on `saved`."""

    saved: Saved
    gate: int = 0
    attempt_count: int = 0
    previous_results: tuple[GateResult, ...] = ()
    skipped: bool = False  # a gate before this one was skipped by a human
    tried: Tried | None = None  # what the submission before this one failed at


class Escalated(Struct, frozen=True, gc=False, tag="escalated"):
    approval: str
    at: Verifying


class Queued(Struct, frozen=True, gc=False, tag="queued"):
    """Answered, waiting for a free worker."""

    then: Working | Verifying


class Merging(Struct, frozen=True, gc=False, tag="merging"):
    saved: Saved
    unverified: bool


class Completed(Struct, frozen=True, gc=False, tag="completed"):
    commit: str | None = None


class Blocked(Struct, frozen=True, gc=False, tag="blocked", omit_defaults=True):
    reason: str
    budget: bool = False  # the money ran out
    failed: bool = False  # the work or its gate did


class Cancelled(Struct, frozen=True, gc=False, tag="cancelled"):
    reason: str


Stage = Todo | Working | Asking | Verifying | Escalated | Queued | Merging | Completed | Blocked | Cancelled


class Ticket(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    track: str
    spec: TicketSpec
    stage: Stage = Todo()
    attempts: int = 0
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    result: str | None = None
    unverified: bool = False
    grant: Grant | None = None
    why: str | None = None  # what went wrong in the attempt before
    resumes: int = 0  # how often an answered attempt got its worker back
    spawn: Grant | None = None  # the yes to its worker, good for a new attempt after a crash
    session: tuple[Blob, ...] = ()  # the messages of this attempt's conversation
    failures: int = 0  # how often somebody else had to take over: a stronger model may
    carried: tuple[str, ...] = ()  # approvals whose calls a crash cut off: the answers still count for the same call
    told: tuple[str, ...] = ()  # what the user has said to its workers: every new conversation hears all of it
    heard: int = 0  # how much of that is in this one
    accepted: tuple[str, ...] = ()  # changes to files that judge it, which a person has accepted

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def name(self) -> str:
        return f"{self.track}/{self.spec.id}"

    @property
    def status(self) -> Status:
        return STATUS[type(self.stage)]

    @property
    def blocked_reason(self) -> str | None:
        return self.stage.reason if isinstance(self.stage, Blocked) else None

    def to_dict(self) -> Plain:
        """All of it as plain data, flat (SPEC D1); the keys after `unverified` are what the others cannot say."""
        spec = self.spec
        return {
            "id": spec.id,
            "track": self.track,
            "description": spec.description,
            "status": self.status,
            "assigned_to": spec.assigned_to,
            "target_file": spec.target_file,
            "context_requirements": list(spec.context_requirements),
            "depends_on": list(spec.depends_on),
            "blocked_reason": self.blocked_reason,
            "step_mode": spec.step_mode,
            "verify": [to_builtins(gate) for gate in spec.verify],
            "script": spec.script,
            "priority": spec.priority,
            "model_override": spec.model_override,
            "with_answers": spec.with_answers,
            "returns": spec.returns,
            "attempts": self.attempts,
            "created_at": self.created_at,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "result": self.result,
            "unverified": self.unverified,
            "stage": to_builtins(self.stage),
            "grant": to_builtins(self.grant),
            "why": self.why,
            "resumes": self.resumes,
            "spawn": to_builtins(self.spawn),
            "session": to_builtins(self.session),
            "failures": self.failures,
            "carried": list(self.carried),
            "accepted": list(self.accepted),
        }

    @classmethod
    def from_dict(cls, data: object) -> "Ticket":
        """The inverse of `to_dict`; without `stage` the status says where the ticket stands."""
        try:
            found = read_table(data, _FIELDS, required=("id",))
            stage = _stage(found)
        except Wrong as wrong:
            raise Rejected(f"{ticket_label(data, 'a ticket')}: {wrong}") from None
        spec = TicketSpec(**{key: value for key, value in found.items() if key not in KEPT})
        kept = {key: value for key, value in found.items() if key in KEPT and key not in _FOLLOWING}
        fields: Plain = {"track": "", "created_at": "", **kept, "spec": spec, "stage": stage}
        return cls(**fields)


STATUS: dict[type[Stage], Status] = {
    Todo: "todo",
    Working: "in_progress",
    Asking: "in_progress",
    Verifying: "in_progress",
    Escalated: "in_progress",
    Queued: "in_progress",
    Merging: "in_progress",
    Completed: "completed",
    Blocked: "blocked",
    Cancelled: "cancelled",
}
BUSY: tuple[type[Stage], ...] = (Working, Verifying)
TERMINAL: tuple[type[Stage], ...] = (Completed, Cancelled)

# ── as plain data ────────────────────────────────────────────────────────────────────────

CHANGEABLE: dict[str, Read] = {
    "description": text,
    "assigned_to": one_of(get_args(Role)),
    "target_file": or_null(text),
    "context_requirements": texts,
    "depends_on": texts,
    "step_mode": flag,
    "verify": gates,
    "script": or_null(text),
    "priority": one_of(get_args(Priority)),
    "model_override": or_null(text),
    "with_answers": flag,
    "returns": flag,
}
"""What an author writes, and an edit can change."""

KEPT: dict[str, Read] = {
    "track": text,
    "status": one_of(get_args(Status)),
    "blocked_reason": or_null(text),
    "attempts": whole(0, 2**53),
    "created_at": text,
    "started_at": or_null(text),
    "finished_at": or_null(text),
    "result": or_null(text),
    "unverified": flag,
    "stage": written(Stage),
    "grant": written(Grant | None),
    "why": or_null(text),
    "resumes": whole(0, 2**53),
    "spawn": written(Grant | None),
    "session": written(tuple[Blob, ...]),
    "failures": whole(0, 2**53),
    "carried": texts,
    "accepted": texts,
}
"""What Interlock itself keeps about a ticket."""

_FIELDS: dict[str, Read] = {"id": text, **CHANGEABLE, **KEPT}
_FOLLOWING = ("status", "blocked_reason")  # from the stage


def ticket_label(data: object, place: str) -> str:
    """How a message names the ticket that `data` is meant to be."""
    name = cast("dict[object, object]", data).get("id") if isinstance(data, dict) else None
    return f"ticket {shown(name)}" if isinstance(name, str) else place


def _stage(found: Plain) -> Stage:
    status: Status | None = found.get("status")
    stage: Stage | None = found.get("stage")
    if stage is None:
        reason = found.get("blocked_reason") or ""
        implied: dict[Status, Stage] = {
            "todo": Todo(),
            "in_progress": Working(),
            "completed": Completed(),
            "blocked": Blocked(reason),
            "cancelled": Cancelled(reason),
        }
        return implied[status or "todo"]
    if status is not None and STATUS[type(stage)] != status:
        raise Wrong(f"'status' is {status!r}, but its 'stage' means {STATUS[type(stage)]!r}")
    return stage
