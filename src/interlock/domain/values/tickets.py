"""A ticket: its specification (TicketSpec), its stage (Stage), and its record (Ticket)."""

import re
from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.gates import Blob, Gate, GateResult, Reused

Role = Literal["tier3-worker", "tier4-qa", "shell"]
ROLES: tuple[str, ...] = get_args(Role)
AGENTS = ("claude", "codex", "gemini", "opencode", "qwen", "goose", "copilot", "aider")
"""CLI agents that can be named as they are; another one is `agent:NAME`."""

AGENT = "agent:"
_AGENT_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")

Assignee = str
"""A role, the name of a known CLI agent, or `agent:NAME`."""
Priority = Literal["high", "medium", "low"]
Status = Literal["todo", "in_progress", "completed", "blocked", "cancelled"]

PRIORITY_RANK: dict[str, int] = {"high": 0, "medium": 1, "low": 2}


class TicketSpec(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The fields that the author of a ticket writes; only an edit changes them."""

    id: str
    description: str = ""
    assigned_to: Assignee = "tier3-worker"
    target_file: str | None = None
    context_requirements: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    step_mode: bool = False
    verify: tuple[Gate, ...] = ()
    script: str | None = None
    priority: Priority = "medium"
    model_override: str | None = None
    with_answers: bool = False  # its worker gets the results of the tickets it depends on
    returns: bool = False  # after a failed gate without `loop` a person decides whether it tries again

    @property
    def agent(self) -> str:
        """The CLI agent that works on it; empty for a role."""
        return "" if self.assigned_to in ROLES else self.assigned_to.removeprefix(AGENT)

    @property
    def changes_files(self) -> bool:
        """Whether a worker makes a change that is verified and merged."""
        return self.assigned_to not in ("tier4-qa", "shell")


def is_assignee(name: str) -> bool:
    if name in ROLES or name in AGENTS:
        return True
    return name.startswith(AGENT) and _AGENT_NAME.fullmatch(name.removeprefix(AGENT)) is not None


class Saved(Struct, frozen=True, gc=False):
    """An attempt's work as a commit on `base`, under a ref of its own."""

    base: str
    commit: str
    tree: str
    empty: Literal[True] | UnsetType = UNSET  # it changes nothing; unset also before 0.7


class Grant(Struct, frozen=True, gc=False):
    """The approval of exactly one payload by a person or a rule, not used yet."""

    approval: str
    digest: str
    edited: str | None = None
    context: str | None = None  # the edited context, if a person edited it


class ReusedGate(Struct, frozen=True, gc=False):
    """A gate of the ticket that did not run, and the run that its pass rests on."""

    gate: int  # from 0
    source: Reused


# The stages of a ticket. Only Working and Verifying occupy a worker.


class Tried(Struct, frozen=True, gc=False):
    """A gate that failed in this attempt, and how often; the next submission continues the count."""

    gate: int
    attempt_count: int
    previous_results: tuple[GateResult, ...]


class Todo(Struct, frozen=True, gc=False, tag="todo", omit_defaults=True):
    asked: str | None = None  # the pending step approval
    cleared: bool = False  # its step approval was given
    tried: Tried | None = None  # failures of a gate before a crash lost the attempt; they still count
    step: str | None = None  # the step approval that was given


class Working(Struct, frozen=True, gc=False, tag="working", omit_defaults=True):
    tried: Tried | None = None
    step: str | None = None  # the step approval that started this attempt


class Asking(Struct, frozen=True, gc=False, tag="asking", omit_defaults=True):
    approval: str
    then: Working = Working()


class Verifying(Struct, frozen=True, gc=False, tag="verifying", omit_defaults=True):
    """Pending verification: gate number `gate` of the ticket is next or running on `saved`."""

    saved: Saved
    gate: int = 0
    attempt_count: int = 0
    previous_results: tuple[GateResult, ...] = ()
    skipped: bool = False  # a person skipped an earlier gate
    tried: Tried | None = None  # the gate at which the earlier submission failed
    took: tuple[int, ...] = ()  # milliseconds of each gate before this one; -1 if a person skipped it


class Escalated(Struct, frozen=True, gc=False, tag="escalated"):
    approval: str
    at: Verifying


class Queued(Struct, frozen=True, gc=False, tag="queued"):
    """Answered, waiting for a free worker."""

    then: Working | Verifying


class Merging(Struct, frozen=True, gc=False, tag="merging"):
    saved: Saved
    unverified: bool


class Reviewing(Struct, frozen=True, gc=False, tag="reviewing", omit_defaults=True):
    """Verified, not merged: a person reviews the diff. Without an approval the review is still to be requested."""

    saved: Saved
    unverified: bool
    approval: str = ""
    parts: tuple[int, ...] = ()  # accepted parts of the diff: a commit with only these is to be made
    took: tuple[int, ...] = ()  # milliseconds of each gate; -1 if a person skipped it


class Completed(Struct, frozen=True, gc=False, tag="completed"):
    commit: str | None = None


class Blocked(Struct, frozen=True, gc=False, tag="blocked", omit_defaults=True):
    reason: str
    budget: bool = False  # a budget was used up
    failed: bool = False  # the work or its gate failed


class Cancelled(Struct, frozen=True, gc=False, tag="cancelled"):
    reason: str


Stage = Todo | Working | Asking | Verifying | Escalated | Queued | Reviewing | Merging | Completed | Blocked | Cancelled


class Ticket(
    Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    rename={"notes": "told", "delivered": "heard"},  # as stored checkpoints have them
):
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
    why: str | None = None  # why the earlier attempt failed
    resumes: int = 0  # how often an answered attempt got a worker again
    spawn: Grant | None = None  # the approval of its worker, also valid for a new attempt after a crash
    session: tuple[Blob, ...] = ()  # the messages of this attempt's conversation
    failures: int = 0  # failures that make the model ladder choose a stronger model
    carried: tuple[str, ...] = ()  # answered approvals of calls that a crash cut off; they count for the same call
    used: tuple[str, ...] = ()  # answers that this attempt has used; they are carried if it is lost
    notes: tuple[str, ...] = ()  # the user's notes to its workers; every new conversation gets all of them
    delivered: int = 0  # how many of them this conversation has
    accepted: tuple[str, ...] = ()  # changes to test files that a person accepted
    packages: str = ""  # the key of the installation that a person accepted
    unsaved: str | None = None  # the summary of finished work that could not be saved yet; it is only in its folder
    autonomy: Autonomy | None = None  # what a person chose for this ticket
    unseen: tuple[str, ...] = ()  # approvals that its autonomy answered, since the attempt or the last review began
    reviewed: str = ""  # the commit about which changes were requested last
    rounds: int = 0  # reviews of this ticket so far
    reused: tuple[ReusedGate, ...] = ()  # gates of this attempt that passed without a run of their own
    begun: str = ""  # what a call beyond the worktree is doing, until its result is recorded
    given_up: str = ""  # such a call that a crash cut off, and that a person decided not to repeat
    taken: str = ""  # the commit with the parts that a person accepted: it needs no other review

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def name(self) -> str:
        return f"{self.track}/{self.spec.id}"

    @property
    def status(self) -> Status:
        return STATUS[type(self.stage)]

    def rests_on(self, gate: int) -> Reused | UnsetType:
        """The recorded run that this gate's pass rests on, if the gate did not run itself."""
        return next((one.source for one in self.reused if one.gate == gate), UNSET)

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
    Reviewing: "in_progress",
    Merging: "in_progress",
    Completed: "completed",
    Blocked: "blocked",
    Cancelled: "cancelled",
}
BUSY: tuple[type[Stage], ...] = (Working, Verifying)
TERMINAL: tuple[type[Stage], ...] = (Completed, Cancelled)
