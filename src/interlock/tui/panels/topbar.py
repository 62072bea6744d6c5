"""The bar at the top: project, state, what waits, progress, who works, cost, autonomy and sandbox."""

from interlock.domain.values.budgets import dollars
from interlock.tui.lines.bar import Bar
from interlock.tui.lines.rows import Row, Span, cut, row, width_of
from interlock.tui.picture import Picture
from interlock.tui.symbols import OF_TRACK
from interlock.views.autonomy import project_level
from interlock.views.display import counted, one_line
from interlock.views.outlook.forecast import forecast_text


class TopBar(Bar):
    def draw(self, picture: Picture) -> None:
        self.show(top_row(picture, self.size.width))


def state_word(picture: Picture) -> tuple[str, str]:
    """The state of the whole workbench in one word, and its colour role."""
    if picture.lost:
        return ("OPENING" if picture.lost.startswith("opening") else "NOT CONNECTED"), "bad"
    if picture.busy:
        return "RUNNING", "running"
    if picture.pending:
        return "WAITING", "waiting"
    if picture.track is None:
        return "IDLE", "dim"
    return picture.track.status.upper(), OF_TRACK[picture.track.status][0]


def top_row(picture: Picture, width: int) -> Row:
    """What does not fit is left out, the least important first; the sandbox and what waits always stay."""
    roomy = width >= 120
    left = [Span(" Interlock ", "text", bold=True)] if width >= 60 else []
    left.append(Span(f" {one_line(picture.name, 24 if roomy else 14)} ", "dim"))
    if picture.branch and width >= 100:
        left.append(Span(f"on {one_line(picture.branch, 28 if roomy else 14)} ", "faint"))
    word, role = state_word(picture)
    left += [Span(" "), Span(f" {word} ", role, f"tint-{role}", bold=True), Span(" ")]
    waiting = len(picture.pending)
    if waiting:
        left += [Span(f" {waiting:,} waiting for you " if roomy else f" {waiting:,} wait ", "waiting", "tint-waiting")]
        left += [Span(" ")]
    elif roomy:
        left += [Span("nothing waits  ", "faint")]
    track = picture.track
    if track is not None:
        verified = (
            f"{picture.verified:,} of {track.total:,} verified " if roomy else f"{picture.verified}/{track.total}✓ "
        )
        left.append(Span(verified, "good" if picture.verified else "dim"))
        if track.counts.blocked:
            left.append(Span(f"✗ {track.counts.blocked:,} blocked " if roomy else f"✗{track.counts.blocked} ", "bad"))
    right = _right(picture, width - width_of(left))
    return row(*left, right=right)


def _right(picture: Picture, room: int) -> list[Span]:
    """From right to left: sandbox, approvals without a person, autonomy, cost, workers, forecast."""
    parts: list[tuple[str, str, str]] = [_sandbox(picture)]  # empty until the project is open
    if picture.state.conductor.approve_all:
        parts.append((" APPROVES ALL ", "bad", "tint-bad"))
    level = project_level(picture.state)
    parts.append((level if level == "ask" else f"autonomy {level}", "faint" if level == "ask" else "waiting", ""))
    spent = sum(used.cost for used in picture.state.usage.values())
    cap = picture.state.conductor.caps.epic
    if spent or cap:
        money = dollars(spent // 10_000 * 10_000)
        parts.append((f"{money} of {dollars(cap)}" if cap else money, "text", ""))
    if not picture.holder.here and not picture.lost:
        parts.append((f"attached to {picture.holder.pid or '?'}", "accent", ""))
    if picture.workers:
        names = [one.ticket for one in picture.workers]
        rest = f" +{len(names) - 3}" if len(names) > 3 else ""
        parts.append((cut(", ".join(names[:3]), 32) + rest, "dim", ""))
    if picture.outlook.forecast is not None:
        parts.append((forecast_text(picture.outlook.forecast), "dim", ""))
    spans: list[Span] = []
    left = room - 1
    for number, (text, role, on) in enumerate(parts):
        needs = len(text) + 2
        if needs > left and number > 1:
            break
        left -= needs
        spans[:0] = [Span("  "), Span(text, role, on, bold=bool(on))]
    return [*spans, Span(" ")]


def _sandbox(picture: Picture) -> tuple[str, str, str]:
    level = picture.holder.sandbox
    if level == "off":
        return " SANDBOX OFF ", "bad", "tint-bad"
    if picture.state.conductor.contained:
        return "sandboxed", "good", ""
    if not picture.state.conductor.on:
        return ("" if picture.lost else "no tickets run"), "faint", ""
    return (level or "not contained"), "waiting", ""


def summary(picture: Picture) -> str:
    """The same for a screen reader, and for the title of the terminal."""
    word = state_word(picture)[0].lower()
    return f"{one_line(picture.name, 30)}: {word}, {counted(len(picture.pending), 'approval')} waiting"
