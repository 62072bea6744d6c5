"""Read models of approvals: lists, titles, and the plain data with the allowed answers."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    ALLOWED,
    Answered,
    Approval,
    GateOnTree,
    GatePayload,
    LandedTicket,
    MergePayload,
    Pending,
    ReviewFile,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    approval_number,
)
from interlock.domain.values.gates import Blob
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.views.answers.actions import actions_of
from interlock.views.display import counted
from interlock.views.verification import gate_status_text

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
        case GatePayload(packages=str()):
            return f"{approval.ticket}: the work changes which packages are installed"
        case GatePayload(unchanged=True):
            return f"{approval.ticket}: the worker changed no file"
        case GatePayload(_, command, attempts, most):
            return f"{approval.ticket}: gate failed {attempts}/{most}: {command}"
        case MergePayload(branch):
            part = " in part" if approval.payload.left_out else ""
            return f"land {approval.track}{part} on {branch}{' (unverified)' if approval.payload.unverified else ''}"
        case ReviewPayload(files=files, round=number, unverified=unverified):
            again = f", round {number}" if number > 1 else ""
            not_verified = " (unverified)" if unverified else ""
            return f"review {approval.ticket}: {counted(len(files), 'file')} changed{again}{not_verified}"
        case ToolPayload():
            return f"{whose}: {approval.payload.title}"
        case SpawnPayload(role, model) as payload:
            if payload.terms:
                alone = ", which asks nothing," if payload.unsupervised else ""
                return f"start the agent {role}{alone} on {approval.ticket} ({model})"
            return f"start a {role} on {approval.ticket} ({model})"
        case TracksPayload(epic, _, tracks):
            return f"epic {epic} as {counted(len(tracks), 'track')}"
        case _:
            return approval.payload.what


Tone = Literal["good", "bad", "dim"]


def landing_lines(payload: MergePayload) -> tuple[tuple[str, Tone], ...]:
    """Everything beside the diff of a landing, with its tone."""
    return (
        *landing_evidence(payload),
        *(_landed_line(one) for one in payload.tickets or ()),
        *(_file_line(file) for file in payload.files or () if file.risks),
    )


def landing_evidence(payload: MergePayload) -> tuple[tuple[str, Tone], ...]:
    """What a person should know before landing, with its tone: what was verified, and which tickets are missing."""
    first: tuple[str, Tone] = (f"verified on exactly this tree ({(payload.tree or '')[:12]})", "good")
    if payload.unverified is UNSET:
        first = ("unverified: no result of a gate is recorded for this tree", "bad")
    elif payload.unverified:
        first = (f"UNVERIFIED: {payload.unverified}", "bad")
    return (
        first,
        *((f"{one.ticket}: {one.gate}: {gate_status_text(one)}", _tone(one)) for one in payload.gates or ()),
        *((f"left out: {one}", "bad") for one in payload.left_out or ()),
    )


def review_lines(payload: ReviewPayload) -> tuple[tuple[str, Tone], ...]:
    """Everything beside the diff of a review, with its tone: evidence, files by risk, what ran without a question."""
    ran: tuple[str, Tone] = (f"ran without a question: {len(payload.ran)}", "dim")
    return (
        *review_evidence(payload),
        *(_file_line(file) for file in payload.files),
        *([ran] if payload.ran else []),
        *((f"  {line}", "dim") for line in payload.ran),
    )


def review_evidence(payload: ReviewPayload) -> tuple[tuple[str, Tone], ...]:
    """What speaks for the work, with its tone: gates and cost."""
    verified: tuple[str, Tone] = (f"verified on exactly this tree ({payload.tree[:12]})", "good")
    if payload.unverified:
        verified = (f"UNVERIFIED: {payload.unverified}", "bad")
    return (
        verified,
        *((f"gate {one.gate}: {gate_status_text(one)}", _tone(one)) for one in payload.gates),
        (f"cost of the ticket so far: {payload.cost}", "dim"),
    )


def _landed_line(ticket: LandedTicket) -> tuple[str, Tone]:
    """One ticket of a landing: whether a person has seen its work."""
    seen = "reviewed" if ticket.reviewed else f"ran without a question: {ticket.ran}" if ticket.ran else "asked"
    facts = [seen, counted(len(ticket.files), "file"), "unverified" if ticket.unverified else "", ticket.cost]
    return f"{ticket.id}: {', '.join(fact for fact in facts if fact)}", "bad" if ticket.unverified else "dim"


def _file_line(file: ReviewFile) -> tuple[str, Tone]:
    risks = f"   {', '.join(file.risks)}" if file.risks else ""
    return f"{file.path}  +{file.added} -{file.removed}{risks}", "bad" if file.risks else "dim"


def _tone(gate: GateOnTree) -> Tone:
    return "dim" if gate.status in ("passed", "judged") else "bad"


def cut_texts(approval: Approval) -> tuple[Blob, ...]:
    """The stored texts of which the payload holds only the beginning."""
    match approval.payload:
        case ToolPayload() as payload:
            blobs = (payload.whole_arguments, payload.diff_blob)
        case SpawnPayload(context_blob=blob):
            blobs = (blob,)
        case MergePayload(diff_blob=blob, since_blob=since):
            blobs = (blob, since or None)
        case ReviewPayload(diff_blob=blob, since_blob=since):
            blobs = (blob, since)
        case GatePayload(diff_blob=blob):
            blobs = (blob or None,)
        case ScriptPayload(effect=ScriptEffect(diff_blob=blob)):
            blobs = (blob,)
        case _:
            blobs = ()
    return tuple(dict.fromkeys(filter(None, blobs)))


def with_whole_texts(approval: Approval, texts: Mapping[str, str]) -> Approval:
    """The approval with its cut texts replaced by these, by their hash; a text that is not there stays cut."""

    def whole(blob: Blob | None) -> str | None:
        return texts.get(blob.sha256) if blob else None

    match approval.payload:
        case ToolPayload() as payload:
            if (arguments := whole(payload.whole_arguments)) is not None:
                blob = payload.diff_blob if payload.arguments_blob else None
                payload = replace(payload, arguments=arguments, arguments_blob=UNSET, diff_blob=blob)
            if (diff := whole(payload.diff_blob)) is not None:
                payload = replace(payload, diff=diff, diff_blob=None)
        case SpawnPayload() as payload:
            if (context := whole(payload.context_blob)) is not None:
                payload = replace(payload, context=context, context_blob=None)
        case MergePayload() as payload:
            if (diff := whole(payload.diff_blob)) is not None:
                payload = replace(payload, diff=diff, diff_blob=None)
            if (since := whole(payload.since_blob or None)) is not None:
                payload = replace(payload, since_diff=since, since_blob=UNSET)
        case ReviewPayload() as payload:
            if (diff := whole(payload.diff_blob)) is not None:
                payload = replace(payload, diff=diff, diff_blob=None)
            if (since := whole(payload.since_blob)) is not None:
                payload = replace(payload, since_diff=since, since_blob=None)
        case GatePayload() as payload:
            if (diff := whole(payload.diff_blob or None)) is not None:
                payload = replace(payload, diff=diff, diff_blob=UNSET)
        case ScriptPayload(effect=ScriptEffect() as effect) as payload:
            if (diff := whole(effect.diff_blob)) is not None:
                payload = replace(payload, effect=replace(effect, diff=diff, diff_blob=None))
        case payload:
            pass
    return replace(approval, payload=payload)


def what_changed(approval: Approval) -> tuple[str, ...]:
    """For a question that is asked again: what changed since the earlier answer, one sentence each."""
    again = approval.again
    if not again:
        return ()
    lines = [f"asked again: what was approved as {again.of} has changed"]
    lines += [
        f"{change.field}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}" for change in again.changes
    ]
    if again.edited is not None or again.edited_context is not None:
        lines.append(f"your edit of {again.of} is kept: it is part of what is shown")
    return tuple(lines)


def covered_by_step(payload: StepPayload) -> str:
    """What a person who approves this step is not asked about again."""
    what = "this script, in the sandbox and without network" if payload.script else "the start of the worker"
    return f"approving it also allows {what}"


def approval_dict(approval: Approval) -> dict[str, Any]:
    """The approval as plain data for `--json`, with its most used fields at the top level."""
    plain: dict[str, Any] = msgspec.to_builtins(approval)
    state = plain.pop("state")
    state.pop("type", None)
    return {
        "id": approval.id,
        "state": approval_status(approval),
        "title": approval_title(approval),
        "again": None,
        **{key: value for key, value in plain.items() if key != "id"},
        "answers": list(ALLOWED[approval.kind]),
        "actions": [
            {"name": one.name, "label": one.label, "key": one.key, "decision": one.decision}
            for one in actions_of(approval)
        ],
        "answer": state or None,
    }
