"""Approvals: the exact payload that would run, the decisions allowed, and the answer."""

from hashlib import sha256
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import Encoder
from msgspec.structs import replace

from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, Reused
from interlock.domain.values.runs.effects import ScriptEffect

Kind = Literal["script", "tool", "step", "spawn", "ask", "tracks", "gate", "merge", "unknown", "review"]
Decision = Literal["approve", "reject", "abort", "retry", "skip", "changes"]

NEVER_AUTOMATIC: frozenset[Kind] = frozenset({"gate", "unknown"})
"""Kinds that `--approve all` leaves to a person."""

BY_ID_ONLY: frozenset[Kind] = frozenset({"merge", "review"})
"""Kinds that a selection of many leaves out: a diff is answered by someone who named it."""

_exact = Encoder(order="deterministic")


class ScriptPayload(Struct, frozen=True, gc=False, tag="script"):
    """A shell script with its directory, environment names and sandbox."""

    script: str
    directory: str
    env_names: tuple[str, ...]
    sandbox: str
    network: bool = False
    call: str = ""  # the worker's tool call that runs it, if any
    services: tuple[str, ...] | UnsetType = UNSET  # started beside it, one line each; unset without any, before 0.8
    effect: ScriptEffect | UnsetType = UNSET  # on the user's own files; unset in a worktree, and before 0.9


class ToolPayload(Struct, frozen=True, gc=False, tag="tool"):
    """A changing tool call of a worker: its exact arguments and what they would change."""

    call: str
    tool: str
    arguments: str  # JSON, cut when long
    arguments_sha256: str  # of the whole text
    title: str
    hunks: int
    diff: str
    directory: str
    diff_blob: Blob | None = None
    arguments_blob: Blob | UnsetType = UNSET  # the whole arguments, if they are cut; unset before 0.7
    hosts: tuple[str, ...] | UnsetType = UNSET  # that the call contacts; unset without any, and before 0.10

    @property
    def whole_arguments(self) -> Blob | None:
        """The blob of the whole arguments, if they are cut here. An ask has no diff and keeps them in its place."""
        return self.arguments_blob or (None if self.diff or self.hunks else self.diff_blob)


class SpawnPayload(Struct, frozen=True, gc=False, tag="spawn"):
    """A worker about to start: its role, its model and its whole input."""

    role: str
    model: str
    prompt: str
    context: str  # only its beginning if context_blob holds the whole
    context_blob: Blob | None = None
    terms: tuple[str, ...] | UnsetType = UNSET  # of a CLI agent: program, network, login; unset before 0.10
    unsupervised: Literal[True] | UnsetType = UNSET  # the agent asks nothing: only a person can allow it


class StepPayload(Struct, frozen=True, gc=False, tag="step"):
    """A ticket that starts only after a person's approval."""

    description: str
    role: str
    script: str | None = None
    gates: tuple[str, ...] | UnsetType = UNSET  # the commands and criteria that verify it; unset before 0.6


class GatePayload(Struct, frozen=True, gc=False, tag="gate"):
    """A failed gate that a person decides about: retry, skip or abort."""

    gate: int
    command: str
    attempts: int
    max_attempts: int
    message: str
    files: tuple[str, ...] = ()  # test files that the worker changed
    feedback: Blob | None = None  # the worker's next message if the person decides to retry
    fresh: bool = False
    unchanged: Literal[True] | UnsetType = UNSET  # the worker changed no file: skip accepts that; unset before 0.7
    gate_id: str | UnsetType = UNSET  # this and the following are unset before 0.7
    diff: str | UnsetType = UNSET  # what the worker changed in `files`
    diff_blob: Blob | UnsetType = UNSET  # the whole diff, if it is cut
    packages: str | UnsetType = UNSET  # retry accepts the installation with this key; unset before 0.8


class GateOnTree(Struct, frozen=True, gc=False):
    """A gate of a track and its result on the tree that would be landed."""

    ticket: str
    gate: str
    status: str  # of the gate's result, or `judged`: criteria count for the ticket's own change
    reused: Reused | UnsetType = UNSET  # it did not run again: the run that its pass rests on
    duration_ms: int | UnsetType = UNSET  # of its own run


class ReviewFile(Struct, frozen=True, gc=False):
    """A file of a diff under review, with the reasons to look at it first."""

    path: str
    added: int  # lines
    removed: int
    risks: tuple[str, ...] = ()
    folded: bool = False  # generated or binary: shown folded
    first: int = 0  # the number of its first part in the diff
    parts: int = 0  # its hunks, or 1 for a file without any


class LandedTicket(Struct, frozen=True, gc=False, omit_defaults=True):
    """A ticket of a landing: its own diff and the evidence for it."""

    id: str
    title: str
    commit: str
    files: tuple[ReviewFile, ...] = ()
    diff: Blob | None = None
    unverified: bool = False
    reviewed: bool = False  # a person accepted its diff
    ran: int = 0  # actions that ran without a question
    summary: str = ""  # the worker's own words
    cost: str = ""


class MergePayload(Struct, frozen=True, gc=False, tag="merge"):
    """Landing a track on the user's branch. The fields after `diff_blob` are unset before 0.7."""

    branch: str
    before: str
    after: str
    diff: str
    diff_blob: Blob | None = None
    tree: str | UnsetType = UNSET  # the files of `after`: the results below are valid for this tree only
    gates: tuple[GateOnTree, ...] | UnsetType = UNSET
    unverified: str | UnsetType = UNSET  # why the tree does not count as verified; empty if it does
    left_out: tuple[str, ...] | UnsetType = UNSET  # tickets of the track that are not completed, and why
    parts: int | UnsetType = UNSET  # of the diff; 0: it is cut, so that none can be chosen. Unset before 0.9, as below
    files: tuple[ReviewFile, ...] | UnsetType = UNSET  # those with risks first
    tickets: tuple[LandedTicket, ...] | UnsetType = UNSET
    since: str | UnsetType = UNSET  # the commit of the last round, if changes were requested
    since_diff: str | UnsetType = UNSET
    since_blob: Blob | UnsetType = UNSET


class ReviewPayload(Struct, frozen=True, gc=False, tag="review"):
    """The finished work of a ticket: the exact diff that its gates passed on."""

    base: str
    commit: str
    tree: str
    diff: str
    diff_blob: Blob | None = None
    files: tuple[ReviewFile, ...] = ()  # those with risks first
    gates: tuple[GateOnTree, ...] = ()
    unverified: str = ""  # why the tree does not count as verified; empty if it does
    ran: tuple[str, ...] = ()  # what ran without a question, one line each
    summary: str = ""  # the worker's own words
    cost: str = ""  # of the ticket's model calls
    round: int = 1
    since: str = ""  # the commit of the last round, if changes were requested
    since_diff: str = ""  # what changed since then
    since_blob: Blob | None = None
    parts: int = 0  # of the diff, which can be accepted one by one; 0: the diff is cut


class Comment(Struct, frozen=True, gc=False, omit_defaults=True):
    """A reviewer's comment on a file, or on a line of its new content."""

    file: str
    text: str
    line: int = 0  # 0: the whole file


class TracksPayload(Struct, frozen=True, gc=False, tag="tracks"):
    """The proposed tracks of an epic; accepting them plans the tickets of each track."""

    epic: str
    text: str
    tracks: tuple[TrackPlan, ...]


class UnknownPayload(Struct, frozen=True, gc=False, tag="unknown"):
    """An effect that may or may not have happened before a crash."""

    what: str
    question: str


Payload = (
    ScriptPayload
    | ToolPayload
    | SpawnPayload
    | StepPayload
    | GatePayload
    | MergePayload
    | TracksPayload
    | UnknownPayload
    | ReviewPayload
)


class Change(Struct, frozen=True, gc=False):
    """A field of a payload that changed between two questions."""

    field: str
    before: str
    after: str


class Again(Struct, frozen=True, gc=False, omit_defaults=True):
    """The approval was asked once more, because what was approved is no longer what would run."""

    of: str  # the earlier approval
    changes: tuple[Change, ...] = ()
    edited: str | None = None  # the person's edit of the earlier approval; this payload contains it
    edited_context: str | None = None


class Pending(Struct, frozen=True, gc=False, tag="pending"):
    pass


class Answered(Struct, frozen=True, gc=False, tag="answered"):
    decision: Decision
    by: str
    at: str
    message: str = ""
    edited: str | None = None
    digest: str = ""
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None
    comments: tuple[Comment, ...] | UnsetType = UNSET  # of a review; unset without any, and before 0.9
    together: str | UnsetType = UNSET  # the root of the set that was answered at once; unset alone, and before 0.9


class Withdrawn(Struct, frozen=True, gc=False, tag="withdrawn"):
    why: str
    at: str


class Approval(Struct, frozen=True, gc=False, kw_only=True):
    id: str
    kind: Kind
    asker: str
    track: str
    ticket: str | None = None
    why: str = ""
    payload: Payload
    digest: str
    requested_at: str
    deadline: str | None = None
    discussion: str = ""
    again: Again | UnsetType = UNSET  # unset before 0.7, and for a first question
    asked_by: str | UnsetType = UNSET  # the rule that wants a person's answer; unset without one, and before 0.9
    state: Pending | Answered | Withdrawn = Pending()


ALLOWED: dict[Kind, tuple[Decision, ...]] = {
    "script": ("approve", "reject", "abort"),
    "tool": ("approve", "reject", "abort"),
    "step": ("approve", "reject", "abort"),
    "spawn": ("approve", "reject", "abort"),
    "ask": ("approve", "reject"),
    "tracks": ("approve", "reject"),
    "gate": ("retry", "skip", "abort"),
    "merge": ("approve", "changes", "reject"),
    "unknown": ("retry", "skip", "abort"),
    "review": ("approve", "changes", "reject", "abort"),
}


def only_a_person(payload: Payload) -> bool:
    """Whether no rule, level of autonomy or option answers this, whatever its kind."""
    return isinstance(payload, SpawnPayload) and payload.unsupervised is True


def count_choices(payload: Payload) -> int:
    """How many hunks, or parts of a diff, can be accepted one by one."""
    match payload:
        case ToolPayload(hunks=hunks):
            return hunks
        case ReviewPayload(parts=parts) | MergePayload(parts=int(parts)):
            return parts
        case _:
            return 0


def digest(payload: Payload) -> str:
    """The hash of exactly what would run."""
    return sha256(_exact.encode(payload)).hexdigest()


def with_edit(payload: ScriptPayload | ToolPayload | SpawnPayload, text: str) -> Payload:
    """The payload with a person's edit in the place of the script, the arguments or the prompt."""
    if isinstance(payload, ScriptPayload):
        return replace(payload, script=text, effect=UNSET)  # the effect of another script is not known yet
    if isinstance(payload, SpawnPayload):
        return replace(payload, prompt=text)
    return replace(payload, arguments=text, arguments_blob=UNSET)


def is_allowed(payload: ScriptPayload | ToolPayload | SpawnPayload, answer: Answered) -> bool:
    """Whether the answer allows exactly this payload, or exactly this payload with its edit."""
    allowed = payload if answer.edited is None else with_edit(payload, answer.edited)
    return answer.decision == "approve" and digest(allowed) == answer.digest


def allows(approval: Approval, payload: ScriptPayload | ToolPayload) -> bool:
    """Whether the approval's answer allows exactly this payload.

    An edit that came with the question is part of the payload; an edit of the answer is not.
    """
    answer = approval.state
    if not isinstance(answer, Answered):
        return False
    if approval.again and approval.again.edited is not None and answer.edited == approval.again.edited:
        return answer.decision == "approve" and digest(payload) == answer.digest
    return is_allowed(payload, answer)


def kept_edit(approval: Approval) -> str | None:
    """The edit that came with the question."""
    return approval.again.edited if approval.again else None


def approval_number(approval_id: str) -> int:
    """`A-17` → 17; ids count up in the order of the requests."""
    return int(approval_id[2:])


def is_call(approval: Approval) -> bool:
    """Whether it is about a worker's tool call: then a rejection goes back as the call's result."""
    payload = approval.payload
    return isinstance(payload, ToolPayload) or (isinstance(payload, ScriptPayload) and bool(payload.call))
