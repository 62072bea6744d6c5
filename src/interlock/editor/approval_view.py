"""An approval as an editor's question: everything that would happen, and the answers that can be given there."""

import acp
from acp.schema import PermissionOption, PermissionOptionKind, ToolCallUpdate, ToolKind

from interlock.domain.values.approvals import (
    Approval,
    Decision,
    GatePayload,
    Kind,
    MergePayload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
)
from interlock.editor.tool_calls import Content, call_id, diffs_in, fenced, kind_of, text_content
from interlock.views.display import exact, one_line, safe
from interlock.views.inbox import approval_title, covered_by_step, cut_texts, landing_lines, review_lines, what_changed

MOST_TEXT = 100_000  # characters of one text of an approval
ALWAYS = "always"

_Answer = tuple[Decision, str, PermissionOptionKind]
_YES: _Answer = ("approve", "Approve", "allow_once")
_NO: _Answer = ("reject", "Reject", "reject_once")
_RETRY: _Answer = ("retry", "Retry", "allow_once")
_ABORT: _Answer = ("abort", "Abort the ticket", "reject_once")

_ANSWERS: dict[Kind, tuple[_Answer, ...]] = {
    "gate": (_RETRY, ("skip", "Skip, unverified", "allow_once"), _ABORT),
    "unknown": (
        _RETRY,
        ("skip", "Skip: continue without repeating it", "allow_once"),
        ("abort", "Abort", "reject_once"),
    ),
    "tracks": (("approve", "Accept these tracks", "allow_once"), _NO),
    "merge": (("approve", "Land it", "allow_once"), _NO),
    "review": (("approve", "Accept the work", "allow_once"), ("reject", "Reject: block the ticket", "reject_once")),
}


def options_for(approval: Approval, rule: str) -> list[PermissionOption]:
    """`rule` is the rule that “always” would add; empty if there is none."""
    answers = _ANSWERS.get(approval.kind, (_YES, _NO))
    options = [PermissionOption(option_id=decision, name=name, kind=kind) for decision, name, kind in answers]
    if rule:
        always = PermissionOption(option_id=ALWAYS, name="Always allow this, in this project", kind="allow_always")
        options.insert(1, always)
    return options


def decision_of(option: str) -> Decision | None:
    """The answer that an option stands for; None for an option that was not offered."""
    known: dict[str, Decision] = {
        answer[0]: answer[0] for answers in (*_ANSWERS.values(), (_YES, _NO)) for answer in answers
    }
    return known.get(option) or ("approve" if option == ALWAYS else None)


def question_id(approval: Approval) -> str:
    """The tool call that the approval is about, or a call of its own."""
    payload = approval.payload
    call = payload.call if isinstance(payload, ToolPayload | ScriptPayload) else ""
    return call_id(approval.discussion, call) if approval.discussion and call else f"approval/{approval.id}"


def title_of(approval: Approval) -> str:
    return one_line(f"{approval.id}: {approval_title(approval)}", 160)


def question(approval: Approval, root: str, rule: str) -> ToolCallUpdate:
    """The approval, which must have its whole texts, and the rule that “always” would add."""
    content = _content(approval, root)
    head = [f"Asked by {safe(approval.asker)}" + (f": {safe(approval.why)}" if approval.why else ".")]
    head += [safe(line) for line in what_changed(approval)]
    if cut_texts(approval):
        head.append(f"Only the beginning is shown here: `interlock approvals show {approval.id}` shows all of it.")
    if approval.kind in ("review", "merge"):
        words = " ".join(("interlock approvals answer", approval.id, "changes -m TEXT"))
        head.append(f"To request changes: `{words}`.")
    if rule:
        content.append(text_content(f"“Always” would add this rule for this project:\n\n{fenced(safe(rule))}"))
    return ToolCallUpdate(
        tool_call_id=question_id(approval),
        title=title_of(approval),
        kind=_kind(approval),
        status="pending",
        content=[text_content("\n\n".join(head)), *content],
    )


def _kind(approval: Approval) -> ToolKind:
    match approval.payload:
        case ScriptPayload() | StepPayload() | GatePayload():
            return "execute"
        case ToolPayload(tool=tool):
            return kind_of(tool)
        case ReviewPayload() | MergePayload():
            return "edit"
        case _:
            return "other"


def _content(approval: Approval, root: str) -> list[Content]:
    match approval.payload:
        case ScriptPayload() as payload:
            network = "on" if payload.network else "off"
            facts = [f"In {exact(payload.directory)}, sandbox {payload.sandbox}, network {network}."]
            facts += [f"Service: {exact(service)}" for service in payload.services or ()]
            facts.append(f"Environment: {exact(' '.join(payload.env_names))}")
            effect = payload.effect or None
            facts += [effect.summary, *effect.lines] if effect else []
            return [
                _run(payload.script),
                text_content(_listed(facts)),
                *(diffs_in(effect.diff, root) if effect else []),
            ]
        case ToolPayload() as payload:
            shown = diffs_in(payload.diff, root) if payload.diff else [_run(f"{payload.tool} {payload.arguments}")]
            return [*shown, text_content(f"In {exact(payload.directory)}.")]
        case SpawnPayload() as payload:
            head = text_content(f"{safe(payload.role)} on {safe(payload.model)}. Its prompt, then its context:")
            return [head, _run(payload.prompt), _run(payload.context)]
        case StepPayload() as payload:
            gates = [f"Verified by: {exact(gate)}" for gate in payload.gates or ()]
            facts = _listed([safe(payload.description), *gates, covered_by_step(payload)])
            return [text_content(facts), *([_run(payload.script)] if payload.script else [])]
        case GatePayload() as payload:
            return [_said(payload.message), *(diffs_in(payload.diff, root) if payload.diff else [])]
        case MergePayload() as payload:
            facts = [f"Onto {exact(payload.branch)}: {payload.before[:12]} to {payload.after[:12]}."]
            facts += [line for line, _ in landing_lines(payload)]
            return [text_content(_listed(facts)), *diffs_in(payload.diff, root)]
        case ReviewPayload() as payload:
            said = [_said(payload.summary)] if payload.summary else []
            return [
                text_content(_listed([line for line, _ in review_lines(payload)])),
                *said,
                *diffs_in(payload.diff, root),
            ]
        case TracksPayload() as payload:
            tracks = [f"{plan.id}: {plan.title}. {plan.description}" for plan in payload.tracks]
            return [_said(payload.text), text_content(_listed(tracks))]
        case UnknownPayload() as payload:
            return [_said(f"{payload.what}\n{payload.question}")]


def _run(text: str) -> Content:
    """A text that will run, or that a model will get: every character is shown."""
    lines = "\n".join(exact(line) for line in text[:MOST_TEXT].split("\n"))
    return text_content(fenced(lines) + _rest(text))


def _said(text: str) -> Content:
    return text_content(fenced(safe(text[:MOST_TEXT])) + _rest(text))


def _rest(text: str) -> str:
    return f"\n\n… and {len(text) - MOST_TEXT:,} more characters" if len(text) > MOST_TEXT else ""


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {one_line(safe(line), 2_000)}" for line in lines)


def answered_update(approval: Approval, sentence: str, *, allowed: bool) -> acp.schema.ToolCallProgress:
    """The end of a question that had a call of its own."""
    return acp.update_tool_call(
        question_id(approval), status="completed" if allowed else "failed", content=[text_content(safe(sentence))]
    )
