"""Many approvals at once: what is equal, which ones a person selects, and the check of a recorded answer."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import UNSET, Struct
from msgspec.json import Encoder
from msgspec.structs import replace

from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalsAnswered
from interlock.domain.messages.events.event import Event
from interlock.domain.state.state import State
from interlock.domain.values.answer_sets import Seen, merkle_root
from interlock.domain.values.approvals import (
    BY_ID_ONLY,
    NEVER_AUTOMATIC,
    Answered,
    Approval,
    Kind,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    approval_number,
)
from interlock.views.display import counted
from interlock.views.inbox import approval_title

_exact = Encoder(order="deterministic")


class Alike(Struct, frozen=True):
    """Approvals with equal content, oldest first."""

    approvals: tuple[Approval, ...]

    @property
    def first(self) -> Approval:
        return self.approvals[0]

    @property
    def count(self) -> int:
        return len(self.approvals)


def likeness(approval: Approval) -> bytes:
    """Equal for approvals of one kind whose content is equal. Only the worktree and the number of a call may differ."""
    payload = approval.payload
    match payload:
        case ScriptPayload():
            script = payload.script.replace(payload.directory, ".") if payload.directory else payload.script
            payload = replace(payload, script=script, directory="", call="")
        case ToolPayload():
            payload = replace(payload, directory="", call="")
        case _:
            pass
    # What changed since the last answer is read one by one, and so is what needs its own decision.
    alone = approval.again is not UNSET or not fits_many(approval)
    return _exact.encode((approval.kind, approval.id if alone else "", payload))


def grouped(approvals: Sequence[Approval]) -> tuple[Alike, ...]:
    """What is equal once, in the order of the first of each."""
    groups: dict[bytes, list[Approval]] = {}
    for approval in approvals:
        groups.setdefault(likeness(approval), []).append(approval)
    return tuple(Alike(tuple(group)) for group in groups.values())


def fits_many(approval: Approval) -> bool:
    """Whether a selection may include it; the other kinds need their own decision, or a person who names them."""
    return approval.kind not in NEVER_AUTOMATIC and approval.kind not in BY_ID_ONLY


class Selection(Struct, frozen=True):
    """A filter of pending approvals; an empty field selects all."""

    kind: Kind | None = None
    track: str = ""
    ticket: str = ""  # its id, or track/ticket
    pattern: str = ""  # of the content: a part of it, or with * or ? the whole


def selected(approvals: Sequence[Approval], chosen: Selection) -> tuple[Approval, ...]:
    return tuple(approval for approval in approvals if _fits(approval, chosen))


def _fits(approval: Approval, chosen: Selection) -> bool:
    return (
        chosen.kind in (None, approval.kind)
        and chosen.track in ("", approval.track)
        and chosen.ticket in ("", approval.ticket, f"{approval.track}/{approval.ticket}")
        and _has_pattern(approval, chosen.pattern)
    )


def _has_pattern(approval: Approval, pattern: str) -> bool:
    texts = (content(approval), approval_title(approval))
    if "*" in pattern or "?" in pattern:
        return any(fnmatchcase(text.strip(), pattern) for text in texts)
    return any(pattern in text for text in texts)


def content(approval: Approval) -> str:
    """The text that a pattern is compared with."""
    match approval.payload:
        case ScriptPayload(script):
            return script
        case ToolPayload(tool=tool, arguments=arguments):
            return f"{tool} {arguments}"
        case SpawnPayload(prompt=prompt):
            return prompt
        case StepPayload(description=description):
            return description
        case TracksPayload(text=text):
            return text
        case _:
            return approval_title(approval)


def seen(approvals: Sequence[Approval]) -> tuple[Seen, ...]:
    """The pairs that an answer to these binds."""
    return tuple(Seen(approval.id, approval.digest) for approval in approvals)


def set_line(state: State, approval: Approval) -> str:
    """The set that the answer belongs to; empty if it was answered alone."""
    answer = approval.state
    if not isinstance(answer, Answered) or not answer.together:
        return ""
    others = [
        other.id
        for other in state.approvals.values()
        if isinstance(other.state, Answered) and other.state.together == answer.together and other.id != approval.id
    ]
    others.sort(key=approval_number)
    named = f" with {', '.join(others[:8])}{' …' if len(others) > 8 else ''}" if others else ""
    return f"answered together{named}: {counted(len(others) + 1, 'approval')}, set {answer.together}"


def set_sentence(event: ApprovalsAnswered) -> str:
    """`answered 7 of 9; A-4 changed since, A-6 already answered by human:ada`"""
    done, left = len(event.approvals), event.left_out
    reasons = ", ".join(f"{one.approval} {one.why}" for one in left)
    return f"answered {done:,} of {done + len(left):,}" + (f"; {reasons}" if reasons else "")


class SetCheck:
    """Recomputes the root of every recorded set from the requests before it."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._decisions: dict[str, str] = {}

    def take(self, event: Event) -> str:
        """The next event; returns what is wrong with it, or nothing."""
        match event:
            case ApprovalRequested():
                self._digests[event.approval] = event.digest
            case ApprovalAnswered():
                self._decisions[event.approval] = event.decision
            case ApprovalsAnswered():
                return self._problem(event)
            case _:
                pass
        return ""

    def _problem(self, event: ApprovalsAnswered) -> str:
        for name in event.approvals:
            if self._decisions.get(name) != event.decision:
                return f"the set of answers {event.root[:16]} names {name}, which was not answered so"
        pairs = [Seen(name, self._digests.get(name, "")) for name in event.approvals]
        pairs += [Seen(one.approval, one.digest) for one in event.left_out]
        if merkle_root(pairs) != event.root:
            return f"the set of answers {event.root[:16]} is not the set of its approvals"
        return ""
