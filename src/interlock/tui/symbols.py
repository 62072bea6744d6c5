"""The look of each state: a colour and a symbol, never a colour alone. All symbols are one cell wide."""

from interlock.domain.values.approvals import Kind
from interlock.domain.values.tickets import (
    Asking,
    Blocked,
    Cancelled,
    Completed,
    Escalated,
    Merging,
    Queued,
    Reviewing,
    Ticket,
    Todo,
    Verifying,
    Working,
)

KINDS: dict[Kind, str] = {
    "script": "$",
    "tool": "✎",
    "step": "▸",
    "spawn": "◉",
    "ask": "⇄",
    "tracks": "≡",
    "gate": "⚑",
    "merge": "⇥",
    "unknown": "?",
    "review": "◎",
}
OF_TRACK = {
    "proposed": ("planner", "≡"),
    "ready": ("dim", "·"),
    "running": ("running", "▶"),
    "paused": ("waiting", "‖"),
    "done": ("good", "✓"),
    "blocked": ("bad", "✗"),
    "aborted": ("faint", "–"),
}


def of_ticket(ticket: Ticket) -> tuple[str, str]:
    """The ticket's colour role and symbol."""
    match ticket.stage:
        case Completed():
            return ("waiting", "~") if ticket.unverified else ("good", "✓")
        case Blocked():
            return "bad", "✗"
        case Cancelled():
            return "faint", "–"
        case Asking() | Escalated() | Reviewing() | Todo(asked=str()):
            return "waiting", "!"
        case Todo():
            return "faint", "·"
        case Verifying():
            return "running", "⚑"
        case Working() | Queued() | Merging():
            return "running", "▶"
