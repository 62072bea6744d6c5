"""The board as rows: the tracks, the tickets at work and waiting, what waits for the person, and the totals."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from interlock.cli.terminal.board.rows import Piece, Row, width, with_end
from interlock.cli.terminal.output import SYMBOL
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.budgets import Scope, dollars
from interlock.domain.values.model_calls import OpenCall
from interlock.domain.values.tickets import Asking, Escalated, Reviewing, Ticket, Todo
from interlock.views.board import activity_of
from interlock.views.display import counted, one_line
from interlock.views.inbox import approval_title
from interlock.views.stream_keys import stream_key
from interlock.views.usage.spend import bars

_TRACKS, _WAITING = 3, 3  # rows of each
_LEAST_ROWS = 4
_BAR = 20  # columns
_TONES = {"running": "running", "paused": "waiting", "blocked": "bad", "aborted": "bad", "done": "good"}

KEYS = (
    ("?", "show or hide these keys"),
    ("v", "view every line so far, in a pager"),
    ("p", "pause: nothing new starts; p again continues"),
    ("o", "open the full-screen workbench on this project"),
    ("q", "quit, as Ctrl-C; 'interlock resume' continues"),
)


class Shown(Struct, frozen=True, kw_only=True):
    """What the board is drawn from."""

    state: State
    tracks: tuple[str, ...]
    epics: tuple[str, ...] = ()
    now: datetime
    seconds: float  # since the run began
    heard: tuple[str, str] = ("", "")  # the key and the last line of what a model streams
    forecast: str = ""
    note: str = ""  # what a key has led to
    keys: bool = False  # show what each key does
    ascii: bool = False  # the terminal has no other characters


def picture(shown: Shown, columns: int, most: int) -> list[Row]:
    """At most `most` rows of at most `columns` columns."""
    tracks = [shown.state.tracks[name] for name in shown.tracks if name in shown.state.tracks]
    current = [track for track in tracks if track.status in ("running", "paused")] or tracks[-1:]
    tail = [*_heard(shown, columns), _totals(shown, tracks, columns)]
    if most < _LEAST_ROWS:
        return tail[-max(most, 1) :]
    head = [_track_row(shown, track, columns) for track in current[:_TRACKS]] or [_no_track(shown, columns)]
    room = most - len(head) - len(tail)
    if shown.keys:
        middle: list[Row] = [((f"  {key}  ", "bold"), (text, "")) for key, text in KEYS]
    else:
        middle = _tickets(shown, current, columns, room)
    return [*head, *middle[: max(room, 0)], *tail]


def clock(seconds: float) -> str:
    """Such as `0:42` and `1:02:03`."""
    whole = max(int(seconds), 0)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def _since(at: str | None, now: datetime) -> str:
    return clock((now - datetime.fromisoformat(at)).total_seconds()) if at else ""


def _no_track(shown: Shown, columns: int) -> Row:
    what = "planning" if shown.epics else "starting"
    return with_end(((what, "bold"),), (clock(shown.seconds), "dim"), columns)


def _track_row(shown: Shown, track: Track, columns: int) -> Row:
    counts = track.counts
    left: list[Piece] = [(one_line(track.id, max(columns // 3, 8)), "bold")]
    if track.status not in ("running", "ready"):
        left.append((f" {track.status}", _TONES.get(track.status, "")))
    if columns >= 60 and track.total:
        size = _BAR * counts.completed // track.total
        filled = bars((track.total, counts.completed), _BAR, plain=shown.ascii)[1]
        left += [
            ("  ", ""),
            (filled, "good"),
            (("." if shown.ascii else "░") * (_BAR - max(size, width(filled))), "dim"),
        ]
    left.append((f"  {counts.completed:,}/{track.total:,}", ""))
    if counts.blocked:
        left.append((f"  {counts.blocked:,} blocked", "bad"))
    if counts.cancelled:
        left.append((f"  {counts.cancelled:,} cancelled", "dim"))
    return with_end(left, (clock(shown.seconds), "dim"), columns)


def _tickets(shown: Shown, tracks: Sequence[Track], columns: int, room: int) -> list[Row]:
    """Planning first, then the tickets at work, then the next ones that wait."""
    rows = list(_planning(shown, columns))
    rows += [_ticket_row(shown, track, one, columns) for track in tracks for one in _with_status(track, "in_progress")]
    asked = [(track, one) for track in tracks for one in _with_status(track, "todo", _WAITING + 1)]
    for_person = [pair for pair in asked if _asked(pair[1])]
    waiting = [pair for pair in asked if not _asked(pair[1])][:_WAITING]
    rows += [_ticket_row(shown, track, one, columns) for track, one in for_person]
    left = sum(track.counts.todo for track in tracks) - len(for_person)
    if len(rows) > room:
        return [*rows[: room - 1], ((f"  … {counted(len(rows) - room + 1, 'more row')}", "dim"),)]
    waiting = waiting[: max(room - len(rows) - 1, 0)]
    rows += [_ticket_row(shown, track, one, columns) for track, one in waiting]
    if left > len(waiting) and len(rows) < room:
        rows.append(((f"  {'+' if shown.ascii else '…'} {left - len(waiting):,} more wait", "dim"),))
    return rows


def _with_status(track: Track, status: str, most: int | None = None) -> Iterator[Ticket]:
    """The first tickets with this status; stops when all of them were found."""
    left = track.counts.in_progress if status == "in_progress" else track.counts.todo
    left = left if most is None else min(left, most)
    for name in track.order if left else ():
        ticket = track.tickets[name]
        if ticket.status == status:
            yield ticket
            left -= 1
            if not left:
                return


def _asked(ticket: Ticket) -> str:
    """The approval that the ticket waits for."""
    match ticket.stage:
        case Todo(asked=str(approval)) | Asking(approval) | Escalated(approval) | Reviewing(approval=approval):
            return approval
        case _:
            return ""


def _ticket_row(shown: Shown, track: Track, ticket: Ticket, columns: int) -> Row:
    name = one_line(ticket.id, max(columns // 4, 8))
    if asked := _asked(ticket):
        title = approval_title(shown.state.approvals[asked]) if asked in shown.state.approvals else asked
        pieces: list[Piece] = [("? ", "waiting"), (name, "waiting"), (f"  waits for you: {asked}  {title}", "waiting")]
        return with_end(pieces, (_since(ticket.started_at, shown.now), "dim"), columns)
    runs = ticket.status == "in_progress"
    symbol = (">" if runs else ".") if shown.ascii else SYMBOL[ticket.status]
    tone = "running" if runs else "dim"
    again = f" (attempt {ticket.attempts})" if ticket.attempts > 1 else ""
    activity = one_line(activity_of(ticket, track), 200)
    described = one_line(ticket.spec.description, 60)
    pieces = [(f"{symbol} ", tone), (name, "" if runs else "dim"), (f"  {activity}{again}", tone)]
    if described and columns >= 60:
        pieces.append((f"  {described}", "dim"))
    return with_end(pieces, (_since(ticket.started_at if runs else None, shown.now), "dim"), columns)


def _planning(shown: Shown, columns: int) -> Iterator[Row]:
    symbol = ">" if shown.ascii else SYMBOL["in_progress"]
    for call in _planners(shown):
        key = stream_key(shown.state, call.party, call.tier)
        pieces = ((f"{symbol} ", "running"), (key, ""), ("  planning", "running"))
        yield with_end(pieces, (_since(call.at, shown.now), "dim"), columns)


def _planners(shown: Shown) -> Iterator[OpenCall]:
    """The model calls of the run that belong to no ticket."""
    for call in shown.state.calls.values():
        party = call.party
        if not party.ticket and not party.discussion and (party.track in shown.tracks or party.epic in shown.epics):
            yield call


def _heard(shown: Shown, columns: int) -> list[Row]:
    """The end of the line that streams in, because its end is new."""
    key, text = one_line(shown.heard[0], columns // 2), shown.heard[1].strip()
    if not text:
        return []
    room = columns - width(key) - 2
    if width(text) > room:
        text = f"…{text[-(room - 1) :]}"
    while width(text) > room:  # wide characters
        text = f"…{text[2:]}"
    return [((f"{key}: ", "dim"), (text, ""))]


def _totals(shown: Shown, tracks: Sequence[Track], columns: int) -> Row:
    """The least important parts are left out first, from the end."""
    state = shown.state
    waiting = sum(1 for one in state.pending_approvals() if not one.track or one.track in shown.tracks)
    runs = state.busy + sum(1 for _ in _planners(shown))
    parts: list[Piece] = [(f"{runs} running", "running" if runs else "dim")]
    if waiting:
        parts.append((f"{waiting} {'waits' if waiting == 1 else 'wait'} for you", "waiting"))
    if shown.note:
        parts.append((one_line(shown.note, 200), "waiting"))
    if money := _money(shown, tracks):
        parts.append((money, ""))
    if shown.forecast:
        parts.append((shown.forecast, "dim"))
    parts.append(("? keys", "dim"))
    while len(parts) > 1 and sum(width(text) + 3 for text, _ in parts) - 3 > columns:
        parts.pop(-1)
    between: Piece = (" - " if shown.ascii else " · ", "dim")
    return tuple(piece for part in parts for piece in (between, part))[1:]


def _money(shown: Shown, tracks: Sequence[Track]) -> str:
    """What the run's epics and tracks have spent, of the limit of its only epic or track."""
    ledger, caps = shown.state.ledger, shown.state.conductor.caps
    scopes = [Scope("epic", name) for name in shown.epics]
    scopes += [Scope("track", track.id) for track in tracks if track.epic not in shown.epics]
    used = [ledger.spent(scope) for scope in scopes]
    spent = sum(one.cost for one in used)
    if not spent:
        return "cost unknown" if any(one.without_price for one in used) else ""
    most = caps.of(scopes[0]) if len(scopes) == 1 else None
    text = f"${spent / 1_000_000:,.4f}" + (f" of {dollars(most)}" if most is not None else "")
    return text + (" + unknown" if any(one.without_price for one in used) else "")
