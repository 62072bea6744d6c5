"""An approval as lines for the terminal: its asker, reason and exact bytes, safe to print."""

from interlock.cli.terminal.asking.diff_lines import diff_lines
from interlock.cli.terminal.output import paint
from interlock.domain.values.approvals import (
    Answered,
    Approval,
    GatePayload,
    MergePayload,
    Payload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    Withdrawn,
)
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.views.display import counted, exact, safe
from interlock.views.inbox import approval_title, covered_by_step, landing_lines, review_lines, what_changed


def describe(approval: Approval) -> list[str]:
    """Everything about an approval, safe to print."""
    where = f"{approval.track}/{approval.ticket}" if approval.ticket else approval.track or approval.discussion
    where = f" for {where}" if where else ""
    lines = [
        "",
        f"{paint(approval.id, 'bold')}  {paint(title_line(approval), 'waiting')}",
        f"  asked by {_inline(approval.asker)}{where}" + (f": {_inline(approval.why)}" if approval.why else ""),
    ]
    lines += [paint(f"  {_inline(line)}", "waiting") for line in what_changed(approval)]
    lines += _payload_lines(approval.id, approval.payload)
    lines.append(paint(f"  digest {approval.digest[:16]}…", "dim"))
    match approval.state:
        case Answered(decision, by, at, message):
            lines.append(f"  answered: {decision} by {safe(by)} at {at}" + (f": {safe(message)}" if message else ""))
        case Withdrawn(why, at):
            lines.append(f"  withdrawn at {at}: {safe(why)}")
        case _:
            pass
    return lines


def _payload_lines(name: str, payload: Payload) -> list[str]:
    match payload:
        case ScriptPayload():
            return _script_lines(name, payload)
        case ToolPayload():
            return _tool_lines(name, payload)
        case SpawnPayload():
            return _spawn_lines(name, payload)
        case StepPayload():
            return _step_lines(payload)
        case GatePayload():
            lines = [f"  {safe(line)}" for line in payload.message.splitlines()]
            lines += ["", *diff_lines(payload.diff, numbered=False)] if payload.diff else []
            return lines + _more(name, cut=bool(payload.diff_blob))
        case MergePayload():
            lines = [f"  onto {exact(payload.branch)}: {payload.before[:12]} -> {payload.after[:12]}"]
            lines += [paint(f"  {_inline(line)}", tone) for line, tone in landing_lines(payload)]
            lines += _rounds(payload.since or "", payload.since_diff or "", payload.diff)
            return lines + _more(name, cut=bool(payload.diff_blob or payload.since_blob))
        case ReviewPayload():
            return _review_lines(name, payload)
        case TracksPayload():
            lines = [f"  {safe(line)}" for line in payload.text.splitlines()]
            for plan in payload.tracks:
                lines.append(f"  {paint(safe(plan.id), 'bold')}  {safe(plan.title)}")
                lines += [f"      {safe(line)}" for line in plan.description.splitlines()]
            return lines
        case UnknownPayload():
            return [f"  {safe(payload.question)}"]


def _more(name: str, *, cut: bool) -> list[str]:
    return [f"  … 'interlock approvals show {name}' shows all of it"] if cut else []


def _script_lines(name: str, payload: ScriptPayload) -> list[str]:
    lines = _numbered(payload.script)
    network = "on" if payload.network else "off"
    lines.append(f"  in {exact(payload.directory)}   sandbox {payload.sandbox}   network {network}")
    lines += [f"  service {exact(service)}" for service in payload.services or ()]
    lines.append(paint(f"  environment: {' '.join(payload.env_names)}", "dim"))
    return lines + (_effect_lines(name, payload.effect) if payload.effect else [])


def _tool_lines(name: str, payload: ToolPayload) -> list[str]:
    lines = diff_lines(payload.diff) or [f"  {_inline(payload.tool)} {exact(payload.arguments)}"]
    lines += _more(name, cut=bool(payload.diff_blob or (payload.arguments_blob and not payload.diff)))
    if payload.hosts:
        lines.append(f"  contacts {_inline(', '.join(payload.hosts))}")
    hunks = f"   {counted(payload.hunks, 'hunk')}" if payload.hunks else ""
    return [*lines, f"  in {_inline(payload.directory)}{hunks}"]


def _spawn_lines(name: str, payload: SpawnPayload) -> list[str]:
    tone = "waiting" if payload.unsupervised else "dim"
    lines = [paint(f"  {_inline(line)}", tone) for line in payload.terms or ()]
    lines += [*_exact_lines(payload.prompt), paint("  context:", "dim"), *_exact_lines(payload.context)]
    return lines + _more(name, cut=payload.context_blob is not None)


def _step_lines(payload: StepPayload) -> list[str]:
    lines = [f"  {safe(payload.description)}   ({payload.role})"]
    lines += _numbered(payload.script) if payload.script else []
    for gate in payload.gates or ():
        lines += ["  verified by:", *_exact_lines(gate)]
    return [*lines, paint(f"  {covered_by_step(payload)}", "dim")]


def _effect_lines(name: str, effect: ScriptEffect) -> list[str]:
    """What approving a script would do to the user's files."""
    lines = [paint(f"  {_inline(effect.summary)}", "waiting")]
    if effect.ended:
        lines.append(paint(f"  it ran in a copy of your files: {_inline(effect.ended)}", "dim"))
    lines += [f"    {_inline(line)}" for line in effect.lines]
    lines += diff_lines(effect.diff, numbered=False)
    return lines + _more(name, cut=bool(effect.diff_blob))


def _review_lines(name: str, payload: ReviewPayload) -> list[str]:
    lines = [paint(f"  {_inline(line)}", tone) for line, tone in review_lines(payload)]
    if payload.summary:
        lines += ["  the worker says:", *(f"    {safe(line)}" for line in payload.summary.splitlines())]
    lines += _rounds(payload.since, payload.since_diff, payload.diff)
    return lines + _more(name, cut=bool(payload.diff_blob or payload.since_blob))


def _rounds(since: str, since_diff: str, diff: str) -> list[str]:
    """The diff with the numbers of its parts; in a later round first what changed since."""
    whole = diff_lines(diff)
    if not since:
        return whole
    before = [paint("  changed since the last round:", "bold"), *diff_lines(since_diff, numbered=False)]
    return [*before, paint("  the whole change:", "bold"), *whole]


def title_line(approval: Approval) -> str:
    return safe(approval_title(approval)).split("\n", 1)[0]


def _inline(text: str) -> str:
    """Names from other programs: a line break in a name must not look like a line of this output."""
    return exact(text).replace("\n", "<U+000A>")


def _numbered(script: str) -> list[str]:
    return [f"  {paint(f'{number:3}', 'dim')} {exact(line)}" for number, line in enumerate(_lines(script), 1)]


def _exact_lines(text: str) -> list[str]:
    return [f"  {exact(line)}" for line in _lines(text)]


def _lines(text: str) -> list[str]:
    """Lines as a shell or git splits them: only at line feeds."""
    return text.removesuffix("\n").split("\n") if text else []
