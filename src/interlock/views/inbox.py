"""Read models of approvals: lists, titles, and the plain data with the allowed answers."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    ALLOWED,
    Answered,
    Approval,
    GateOnTree,
    GatePayload,
    MergePayload,
    Pending,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    approval_number,
)

ApprovalFilter = Literal["pending", "answered", "withdrawn", "all"]


def list_approvals(
    state: State, which: ApprovalFilter = "pending", first: int = 0, count: int | None = None
) -> tuple[Approval, ...]:
    if which == "pending":
        numbers = sorted(state.pending)
        chosen = numbers[first : None if count is None else first + count]
        return tuple(state.approvals[state.pending[number]] for number in chosen)
    wanted = [a for a in state.approvals.values() if which == "all" or approval_status(a) == which]
    wanted.sort(key=lambda approval: approval_number(approval.id))
    return tuple(wanted[first : None if count is None else first + count])


def approval_status(approval: Approval) -> Literal["pending", "answered", "withdrawn"]:
    match approval.state:
        case Pending():
            return "pending"
        case Answered():
            return "answered"
        case _:
            return "withdrawn"


def approval_title(approval: Approval) -> str:
    """The request in one line."""
    whose = approval.ticket or approval.discussion or approval.asker
    match approval.payload:
        case ScriptPayload():
            return f"run the script of {whose}"
        case StepPayload():
            return f"start {approval.ticket}"
        case GatePayload(files=files) if files:
            return (
                f"{approval.ticket}: existing tests were changed: {', '.join(file.partition('@')[0] for file in files)}"
            )
        case GatePayload(unchanged=True):
            return f"{approval.ticket}: the worker changed no file"
        case GatePayload(_, command, attempts, most):
            return f"{approval.ticket}: gate failed {attempts}/{most}: {command}"
        case MergePayload(branch):
            part = " in part" if approval.payload.left_out else ""
            return f"land {approval.track}{part} on {branch}{' (unverified)' if approval.payload.unverified else ''}"
        case ToolPayload():
            return f"{whose}: {approval.payload.title}"
        case SpawnPayload(role, model):
            return f"start a {role} on {approval.ticket} ({model})"
        case TracksPayload(epic, _, tracks):
            return f"epic {epic} as {len(tracks)} track{'s' if len(tracks) != 1 else ''}"
        case _:
            return approval.payload.what


Tone = Literal["good", "bad", "dim"]


def landing_lines(payload: MergePayload) -> tuple[tuple[str, Tone], ...]:
    """What a person should know before landing, with its tone: what was verified, and which tickets are missing."""
    first: tuple[str, Tone] = (f"verified on exactly this tree ({(payload.tree or '')[:12]})", "good")
    if payload.unverified is UNSET:
        first = ("unverified: no result of a gate is recorded for this tree", "bad")
    elif payload.unverified:
        first = (f"UNVERIFIED: {payload.unverified}", "bad")
    return (
        first,
        *((f"{one.ticket}: {one.gate}: {one.status}", _tone(one)) for one in payload.gates or ()),
        *((f"left out: {one}", "bad") for one in payload.left_out or ()),
    )


def _tone(gate: GateOnTree) -> Tone:
    return "dim" if gate.status in ("passed", "judged") else "bad"


def approval_dict(approval: Approval) -> dict[str, Any]:
    """The approval as plain data for `--json`, with its most used fields at the top level."""
    plain: dict[str, Any] = msgspec.to_builtins(approval)
    state = plain.pop("state")
    state.pop("type", None)
    return {
        "id": approval.id,
        "state": approval_status(approval),
        "title": approval_title(approval),
        **{key: value for key, value in plain.items() if key != "id"},
        "answers": list(ALLOWED[approval.kind]),
        "answer": state or None,
    }
