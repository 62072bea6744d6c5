"""A ticket: what is asked (TicketSpec), where it stands (Stage), what became of it (Ticket)."""

from typing import Literal

from msgspec import Struct

from interlock.domain.gates import Gate, GateResult

Role = Literal["tier3-worker", "tier4-qa", "shell"]
Priority = Literal["high", "medium", "low"]
Status = Literal["todo", "in_progress", "completed", "blocked", "cancelled"]

PRIORITY_RANK: dict[str, int] = {"high": 0, "medium": 1, "low": 2}


class TicketSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
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


class Saved(Struct, frozen=True):
    """An attempt's work as a commit: made on `base`, kept on a ref of its own."""

    base: str
    commit: str
    tree: str


class Grant(Struct, frozen=True):
    """A human's or a rule's yes to exactly one payload, not yet used up."""

    approval: str
    digest: str
    edited: str | None = None


# Where a ticket stands. Only Working and Verifying occupy a worker.


class Todo(Struct, frozen=True, tag="todo"):
    asked: str | None = None  # the pending step approval
    cleared: bool = False  # its step approval was given


class Working(Struct, frozen=True, tag="working"):
    pass


class Asking(Struct, frozen=True, tag="asking"):
    approval: str


class Verifying(Struct, frozen=True, tag="verifying"):
    """Pending verification: gate number `gate` of the ticket is next or running on `saved`."""

    saved: Saved
    gate: int = 0
    attempt_count: int = 0
    previous_results: tuple[GateResult, ...] = ()
    skipped: bool = False  # a gate before this one was skipped by a human


class Escalated(Struct, frozen=True, tag="escalated"):
    approval: str
    at: Verifying


class Queued(Struct, frozen=True, tag="queued"):
    """Answered, waiting for a free worker."""

    then: Working | Verifying


class Merging(Struct, frozen=True, tag="merging"):
    saved: Saved
    unverified: bool


class Completed(Struct, frozen=True, tag="completed"):
    commit: str | None = None


class Blocked(Struct, frozen=True, tag="blocked"):
    reason: str


class Cancelled(Struct, frozen=True, tag="cancelled"):
    reason: str


Stage = Todo | Working | Asking | Verifying | Escalated | Queued | Merging | Completed | Blocked | Cancelled


class Ticket(Struct, frozen=True, kw_only=True, omit_defaults=True):
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
