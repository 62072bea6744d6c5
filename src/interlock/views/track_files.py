"""The contents of a track's files (spec.md, plan.md, metadata.json, state.toml), generated from the state."""

import json
import re

from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Blocked, Cancelled, Completed, Ticket, Todo
from interlock.views.display import HIDDEN, one_line, safe

SPEC, PLAN, METADATA, STATE = "spec.md", "plan.md", "metadata.json", "state.toml"

_MARK = "Written by Interlock"
_WHY = f"{_MARK} from its journal: a change made here is overwritten, one in spec.md is kept."
_LONGEST = 200  # of a text in the plan; state.toml has the whole text
_CHECKBOX = re.compile(r"\[([ xX])\]")
_QUOTED = re.compile(rf'["\\\t\n]|{HIDDEN.pattern}')
_SHORT = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def spec_md(track: Track) -> str:
    """The initial text; afterwards only the user edits the file."""
    description = safe(track.description).strip()
    return f"# {_title(track)}\n" + (f"\n{description}\n" if description else "")


def plan_md(track: Track) -> str:
    """One checkbox per ticket, in the track's order. Checkboxes in other texts are escaped."""
    counts = track.counts
    parts = [f"{counts.completed} of {track.total} done"]
    parts += [
        f"{number} {word}" for word, number in (("blocked", counts.blocked), ("cancelled", counts.cancelled)) if number
    ]
    head = f"<!-- {_WHY} -->\n# {_title(track)}\n\nStatus: {track.status}, {', '.join(parts)}\n\n"
    return head + "".join(_line(track.tickets[name]) for name in track.order)


def metadata_json(track: Track) -> str:
    fields = {
        "id": track.id,
        "title": track.title,
        "type": "track",
        "status": track.status,
        "created_at": track.created_at,
        "updated_at": track.updated_at,
    }
    text = json.dumps(fields, ensure_ascii=False, indent=2)
    return HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n"


def state_toml(track: Track) -> str:
    """All tickets with their exact texts, also with line breaks and invisible characters."""
    if not track.order:
        return f"# {_WHY}\n\ntasks = []\n"
    return f"# {_WHY}\n" + "".join(_task(track.tickets[name]) for name in track.order)


def is_generated(name: str, content: bytes, track: str) -> bool:
    """Whether the file was generated from the state, so that it can be overwritten."""
    beginnings = {PLAN: f"<!-- {_MARK}", STATE: f"# {_MARK}", METADATA: f'{{\n  "id": "{track}",\n  "title": '}
    return not content or content.startswith(beginnings[name].encode())


def _line(ticket: Ticket) -> str:
    box = "x" if isinstance(ticket.stage, Completed) else " "
    description, words = ticket.spec.description, _state_words(ticket)
    text = f": {_plain(description)}" if description.strip() else ""
    return f"- [{box}] {ticket.id}{text}{f' ({words})' if words else ''}\n"


def _state_words(ticket: Ticket) -> str:
    stage = ticket.stage
    match stage:
        case Todo():
            return ""
        case Completed():
            skipped, unverified = ticket.result == "skipped", ticket.unverified
            return ", ".join(word for word, true in (("skipped", skipped), ("unverified", unverified)) if true)
        case Blocked(reason) | Cancelled(reason):
            return f"{ticket.status}: {_plain(reason)}" if reason.strip() else ticket.status
        case _:
            return "in progress"


def _task(ticket: Ticket) -> str:
    depends_on = ", ".join(_quoted(name) for name in ticket.spec.depends_on)
    return (
        f"\n[[tasks]]\nid = {_quoted(ticket.id)}\ndescription = {_quoted(ticket.spec.description)}\n"
        f"status = {_quoted(ticket.status)}\ndepends_on = [{depends_on}]\n"
    )


def _title(track: Track) -> str:
    return _plain(track.title) or track.id


def _plain(text: str) -> str:
    """The text on one line, shortened, with checkboxes escaped."""
    return _CHECKBOX.sub(r"\\[\1\\]", one_line(" ".join(safe(text).split()), _LONGEST))


def _quoted(text: str) -> str:
    """A TOML basic string."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{_QUOTED.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if short := _SHORT.get(character):
        return short
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"  # a lone surrogate: TOML cannot express it
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
