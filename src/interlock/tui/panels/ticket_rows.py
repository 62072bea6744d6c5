"""A ticket as one row, and with everything that is known about it."""

from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket, Todo
from interlock.tui.lines.rows import EMPTY, Row, Span, cut, pieces, row, wrapped
from interlock.tui.picture import Picture
from interlock.tui.symbols import of_ticket
from interlock.views.autonomy import level_words
from interlock.views.board import activity_of
from interlock.views.display import exact, one_line
from interlock.views.verification import reused_lines

_PRIORITY = {"high": "↑", "medium": "", "low": "↓"}


def ticket_row(picture: Picture, track: Track, ticket: Ticket, width: int, lead: str = "  ") -> Row:
    role, symbol = of_ticket(ticket)
    doing = activity_of(ticket, track)
    idle = isinstance(ticket.stage, Todo) and ticket.stage.asked is None
    shown = one_line(doing, 60) if ticket.status != "completed" or ticket.unverified else ""
    since = picture.elapsed(ticket.started_at) if ticket.status == "in_progress" else ""
    right: list[Span] = []
    if width >= 44 and shown:
        right.append(Span(cut(shown, max(10, width // 2 - 10)), "faint" if idle else role))
    if since:
        right.append(Span(f" {since}", "dim"))
    mark = _PRIORITY[ticket.spec.priority]
    return row(
        Span(lead, "faint"),
        Span(f"{symbol} ", role),
        Span(f"{ticket.id}{mark} ", "text", bold=not idle),
        Span(one_line(ticket.spec.description, 120), "dim"),
        right=right,
    )


def ticket_lines(picture: Picture, track: Track, ticket: Ticket, width: int) -> list[Row]:
    """All about a ticket."""
    spec = ticket.spec
    role, symbol = of_ticket(ticket)
    rows = [
        row(
            Span(f"{symbol} ", role),
            Span(f"{ticket.track}/{spec.id}", "text", bold=True),
            right=[Span(ticket.status.replace("_", " "), role)],
        ),
        *wrapped(activity_of(ticket, track), width, role),
        EMPTY,
        *wrapped(spec.description, width),
        EMPTY,
    ]
    facts = {
        "role": spec.assigned_to,
        "file": spec.target_file or "",
        "after": ", ".join(spec.depends_on),
        "verified by": "\n".join(gate.shown for gate in spec.verify),
        "reused": "\n".join(reused_lines(ticket)),
        "attempts": str(ticket.attempts) if ticket.attempts else "",
        "elapsed": picture.elapsed(ticket.started_at) if ticket.status == "in_progress" else "",
        "priority": spec.priority,
        "model": spec.model_override or "",
        "autonomy": level_words(picture.state, ticket),
        "notes": "\n".join(ticket.notes),
        "last error": ticket.why or "",
        "result": ticket.result or "",
    }
    for name, value in facts.items():
        for number, line in enumerate(value.split("\n") if value else ()):
            for at, part in enumerate(pieces((Span(exact(line), "dim"),), width - 13)):
                head = name if not number and not at else ""
                rows.append(row(Span(f"{head:<13}", "faint"), *part))
    if spec.script:
        rows += [EMPTY, row(Span("script", "faint"))]
        for number, line in enumerate(spec.script.split("\n"), 1):
            for at, part in enumerate(pieces((Span(exact(line)),), width - 6)):
                rows.append(row(Span(f"{'' if at else number:>4}  ", "faint"), *part, on="code"))
    return rows
