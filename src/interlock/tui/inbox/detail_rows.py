"""Everything about one approval as rows: asker, reason, the exact payload, and what the user has prepared."""

from collections.abc import Iterator, Sequence

from interlock.domain.values.approvals import (
    Approval,
    GatePayload,
    MergePayload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    count_choices,
)
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.tui.inbox.diff_rows import Piece, diff_rows
from interlock.tui.inbox.draft import Draft
from interlock.tui.lines.prose import prose_rows
from interlock.tui.lines.rows import EMPTY, TAB, Row, Span, pieces, row, wrapped
from interlock.tui.lines.syntax import coloured
from interlock.tui.symbols import KINDS
from interlock.views.diffs.hunks import parse_hunks
from interlock.views.display import counted, exact, safe
from interlock.views.inbox import (
    approval_title,
    covered_by_step,
    landing_evidence,
    review_evidence,
    what_changed,
)
from interlock.views.outlook.urgency import Urgency


def detail_rows(approval: Approval, draft: Draft, urgency: Urgency | None, width: int) -> list[Piece]:
    return list(_all(approval, draft, urgency, width))


def _all(approval: Approval, draft: Draft, urgency: Urgency | None, width: int) -> Iterator[Piece]:
    title = approval_title(approval)
    whole = title[:1].upper() + title[1:]
    for number, part in enumerate(wrapped(whole.replace("\n", " "), width - 2, bold=True)):
        lead = Span(f"{KINDS[approval.kind]} " if not number else "  ", "waiting")
        yield Piece(row(lead, *part.spans))
    where = f" for {approval.track}/{approval.ticket}" if approval.ticket else ""
    why = f": {approval.why}" if approval.why else ""
    yield from _plain(wrapped(f"{approval.id}  {approval.asker} asks{where}{why}", width, "dim"))
    if urgency is not None and urgency.reason:
        yield from _plain(wrapped(urgency.reason, width, "waiting"))
    for line in what_changed(approval):
        yield from _plain(wrapped(line, width, "waiting"))
    if draft.rule:
        yield from _plain(
            wrapped("This new rule would allow it without a question; w approves and stores it:", width, "waiting")
        )
        yield from _code(draft.rule.strip(), width, "rule.toml")
    for comment in draft.comments:
        place = f"{comment.file}:{comment.line}" if comment.line else comment.file
        yield from _plain(wrapped(f"your comment on {place}: {comment.text}", width, "accent"))
    if draft.edited is not None:
        yield from _plain(wrapped("Your edit; approving sends exactly this. u discards it:", width, "accent"))
        yield from _code(draft.edited, width, "edit.sh" if approval.kind == "script" else "edit.json")
        yield Piece(row(Span("What was asked:", "faint")))
    yield from _payload(approval, draft, width)
    yield Piece(row(Span(f"digest {approval.digest[:16]}…", "faint")))


def _payload(approval: Approval, draft: Draft, width: int) -> Iterator[Piece]:
    payload = draft.whole.payload
    match payload:
        case ScriptPayload():
            yield from _script(payload, draft, width)
        case ToolPayload():
            yield from _tool(payload, draft, width)
        case SpawnPayload():
            yield from _spawn(payload, draft, width)
        case StepPayload():
            yield from _plain(prose_rows(payload.description, width))
            yield from _facts(width, ("role", payload.role, "dim"))
            if payload.script:
                yield from _code(payload.script, width, "script.sh")
            if payload.gates:
                yield Piece(row(Span("verified by", "faint")))
                yield from _code("\n".join(payload.gates), width, "gates.sh")
            yield from _plain(wrapped(covered_by_step(payload), width, "faint"))
        case GatePayload():
            yield from _gate(payload, draft, width)
        case MergePayload():
            facts = (("onto", payload.branch, "text"), ("from", payload.before[:10], "dim"))
            yield from _facts(width, *facts, ("to", payload.after[:10], "dim"))
            for line, tone in landing_evidence(payload):
                yield from _plain(wrapped(line, width, tone))
            for one in payload.tickets or ():
                seen = "reviewed" if one.reviewed else f"ran without a question: {one.ran}" if one.ran else "asked"
                said = f"{one.id}  {one.title}   {seen}, {counted(len(one.files), 'file')} {one.cost}"
                yield from _plain(wrapped(said, width, "bad" if one.unverified else "dim"))
            since = (payload.since or "", payload.since_diff or "")
            yield from _change(payload, since, draft, width)
        case ReviewPayload():
            for line, tone in review_evidence(payload):
                yield from _plain(wrapped(line, width, tone))
            if payload.summary:
                yield Piece(row(Span("the worker says", "faint")))
                yield from _plain(prose_rows(payload.summary, width, "dim"))
            if payload.ran:
                yield Piece(row(Span(f"{counted(len(payload.ran), 'action')} ran without a question", "dim")))
                for line in payload.ran:
                    yield from _plain(wrapped(f"  {line}", width, "faint"))
            yield from _change(payload, (payload.since, payload.since_diff), draft, width)
        case TracksPayload():
            yield from _plain(prose_rows(payload.text, width, "dim"))
            for plan in payload.tracks:
                yield Piece(EMPTY)
                yield from _plain(wrapped(f"≡ {plan.title}", width, bold=True))
                yield from _plain(wrapped(plan.description, width, "dim", indent="  "))
        case _:
            yield from _plain(wrapped(payload.what, width))
            yield from _plain(wrapped(payload.question, width, "dim"))


def _script(payload: ScriptPayload, draft: Draft, width: int) -> Iterator[Piece]:
    yield from _code(payload.script, width, "script.sh")
    off = payload.sandbox == "off"
    yield from _facts(
        width,
        ("may write", "ANYTHING: the sandbox is off" if off else "worktree only", "bad" if off else "good"),
        ("network", "on" if payload.network else "off", "bad" if payload.network else "good"),
        ("sandbox", payload.sandbox, "bad" if off else "dim"),
    )
    yield from _facts(width, ("in", exact(payload.directory), "dim"))
    if payload.env_names:
        yield from _facts(width, ("environment", " ".join(payload.env_names), "faint"))
    if payload.services:
        yield Piece(row(Span("services that start beside it", "faint")))
        yield from _code("\n".join(payload.services), width, "services.sh")
    if payload.effect:
        yield from _effect(payload.effect, draft, width)


def _effect(effect: ScriptEffect, draft: Draft, width: int) -> Iterator[Piece]:
    yield from _plain(wrapped(effect.summary, width, "bad" if effect.unknown else "waiting"))
    if effect.ended:
        yield from _plain(wrapped(f"it ran in a copy of your files: {effect.ended}", width, "dim"))
    if effect.lines:
        yield from _code("\n".join(effect.lines), width, "")
    if effect.diff:
        yield from diff_rows(effect.diff, (), None, draft.turned, width)


def _tool(payload: ToolPayload, draft: Draft, width: int) -> Iterator[Piece]:
    yield from _facts(width, ("tool", payload.tool, "text"))
    if payload.hosts:
        yield from _facts(width, ("contacts", ", ".join(payload.hosts), "bad"))
    yield from _facts(width, ("in", exact(payload.directory), "dim"))
    hunks = parse_hunks(payload.diff)
    if len(hunks) < payload.hunks:
        words = f"Only {len(hunks)} of {counted(payload.hunks, 'hunk')} are shown."
        yield from _plain(wrapped(words, width, "bad"))
    if hunks:
        if payload.hunks:
            yield Piece(row(Span(f"{len(draft.hunks)} of {counted(payload.hunks, 'hunk')} chosen", "dim")))
        yield from diff_rows(payload.diff, (), draft.hunks if payload.hunks else None, draft.turned, width)
    else:
        yield Piece(row(Span("arguments", "faint")))
        yield from _code(payload.arguments, width, "arguments.json")


def _spawn(payload: SpawnPayload, draft: Draft, width: int) -> Iterator[Piece]:
    yield from _facts(width, ("role", payload.role, "text"), ("model", payload.model, "text"))
    for line in payload.terms or ():
        yield from _plain(wrapped(line, width, "waiting" if payload.unsupervised else "dim"))
    yield Piece(row(Span("prompt", "faint")))
    yield from _code(payload.prompt, width, "")
    yield Piece(row(Span("context" if draft.context is None else "context, edited by you", "faint")))
    yield from _code(payload.context if draft.context is None else draft.context, width, "")


def _gate(payload: GatePayload, draft: Draft, width: int) -> Iterator[Piece]:
    if payload.unchanged:
        yield Piece(row(Span("no file was changed, and no gate has run", "bad")))
    elif payload.packages:
        yield Piece(row(Span("the gate has not run: its packages are not installed", "waiting")))
    elif not payload.files:
        yield Piece(row(Span(f"failed {payload.attempts} of {payload.max_attempts} times", "bad")))
    if payload.command:
        yield from _code(payload.command, width, "gate.sh")
    yield from _plain(prose_rows(payload.message, width, "dim"))
    if payload.diff:
        yield from diff_rows(payload.diff, (), None, draft.turned, width)


def _change(payload: MergePayload | ReviewPayload, since: tuple[str, str], draft: Draft, width: int) -> Iterator[Piece]:
    later = bool(since[0]) and not draft.whole_change
    if since[0]:
        shown = "what changed since the last round; d shows the whole change" if later else "the whole change; d: since"
        yield Piece(row(Span(shown, "waiting")))
    parts = count_choices(payload)
    if parts and not later:
        yield Piece(row(Span(f"{len(draft.hunks)} of {counted(parts, 'part')} chosen", "dim")))
    diff = since[1] if later else payload.diff
    chosen = draft.hunks if parts and not later else None
    yield from diff_rows(diff, payload.files or (), chosen, draft.turned, width)


# ── parts ────────────────────────────────────────────────────────────────────────────────


def _plain(rows: Sequence[Row]) -> Iterator[Piece]:
    for one in rows:
        yield Piece(one)


def _code(text: str, width: int, name: str) -> Iterator[Piece]:
    """The exact text with line numbers; nothing is left out: exactly this runs."""
    lines = [exact(line).expandtabs(TAB) for line in text.removesuffix("\n").split("\n")]
    digits = max(2, len(str(len(lines))))
    for number, parts in enumerate(coloured(name, lines), 1):
        spans = [Span(part, role) for part, role in parts]
        for at, piece in enumerate(pieces(spans, max(12, width - digits - 2))):
            lead = Span(f"{'' if at else number:>{digits}}  ", "faint")
            yield Piece(row(lead, *piece, on="code"))


def _facts(width: int, *facts: tuple[str, str, str]) -> Iterator[Piece]:
    """Names and values, as many on a row as fit."""
    spans: list[Span] = []
    used = 0
    for name, value, role in facts:
        value = safe(value).replace("\n", " ")
        needs = len(name) + len(value) + 4
        if spans and used + needs > width:
            yield Piece(row(*spans))
            spans, used = [], 0
        spans += [Span(f"{name} ", "faint"), Span(value, role), Span("   ")]
        used += needs
    for part in pieces(spans, width):
        yield Piece(row(*part))
