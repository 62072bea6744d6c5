"""Symbols of Font Awesome 6, and the look of each state: a colour and a symbol, never a colour alone."""

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

BRANCH = "\uf126"
LOCK = "\uf023"
UNLOCK = "\uf09c"
CHECK = "\uf00c"
CROSS = "\uf00d"
PLAY = "\uf04b"
PAUSE = "\uf04c"
CLOCK = "\uf017"
HAND = "\uf256"
BAN = "\uf05e"
WARNING = "\uf071"
TERMINAL = "\uf120"
PEN = "\uf304"
ROBOT = "\uf544"
STEP = "\uf051"
QUESTION = "\uf128"
PLUG = "\uf1e6"
MAP = "\uf279"
MERGE = "\uf387"
GAUGE = "\uf625"
FLASK = "\uf0c3"
EYE = "\uf06e"
SHIELD = "\uf3ed"

KINDS = {
    "script": TERMINAL,
    "tool": PEN,
    "step": STEP,
    "spawn": ROBOT,
    "ask": PLUG,
    "tracks": MAP,
    "gate": FLASK,
    "merge": MERGE,
    "unknown": QUESTION,
    "review": EYE,
}


def of_ticket(ticket: Ticket) -> tuple[str, str]:
    """The ticket's colour role and symbol."""
    match ticket.stage:
        case Completed():
            return ("waiting", CHECK) if ticket.unverified else ("good", CHECK)
        case Blocked():
            return "bad", CROSS
        case Cancelled():
            return "faint", BAN
        case Asking() | Escalated() | Reviewing():
            return "waiting", HAND
        case Todo(asked=str()):
            return "waiting", HAND
        case Todo():
            return "faint", CLOCK
        case Verifying():
            return "running", FLASK
        case Working() | Queued() | Merging():
            return "running", PLAY


OF_TRACK = {
    "proposed": "planner",
    "ready": "dim",
    "running": "running",
    "paused": "waiting",
    "done": "good",
    "blocked": "bad",
    "aborted": "faint",
}
