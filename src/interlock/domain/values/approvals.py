"""Approvals: the exact payload that would run, the decisions allowed, and the answer."""

from hashlib import sha256
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import Encoder
from msgspec.structs import replace

from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob

Kind = Literal["script", "tool", "step", "spawn", "ask", "tracks", "gate", "merge", "unknown"]
Decision = Literal["approve", "reject", "abort", "retry", "skip"]

NEVER_AUTOMATIC: frozenset[Kind] = frozenset({"gate", "unknown"})
"""Kinds that `--approve all` leaves to a person."""

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
    state: Pending | Answered | Withdrawn = Pending()


ALLOWED: dict[Kind, tuple[Decision, ...]] = {
    "script": ("approve", "reject", "abort"),
    "tool": ("approve", "reject", "abort"),
    "step": ("approve", "reject", "abort"),
    "spawn": ("approve", "reject", "abort"),
    "ask": ("approve", "reject"),
    "tracks": ("approve", "reject"),
    "gate": ("retry", "skip", "abort"),
    "merge": ("approve", "reject"),
    "unknown": ("retry", "skip", "abort"),
}


def digest(payload: Payload) -> str:
    """The hash of exactly what would run."""
    return sha256(_exact.encode(payload)).hexdigest()


def with_edit(payload: ScriptPayload | ToolPayload | SpawnPayload, text: str) -> Payload:
    """The payload with a person's edit in the place of the script, the arguments or the prompt."""
    if isinstance(payload, ScriptPayload):
        return replace(payload, script=text)
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
