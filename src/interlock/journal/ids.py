"""The ids in a journal, for completion in a shell: read-only, beside a running workbench, with few imports."""

import json
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

_NEWEST = 200_000
"""The newest rows that are looked at."""
_WAIT_S = 0.2

_TYPES = {
    "tracks": ("track_added",),
    "tickets": ("tickets_added",),
    "approvals": ("approval_requested", "approval_answered", "approval_withdrawn"),
    "discussions": ("discussion_started",),
}
KINDS = tuple(_TYPES)


def ids_of(folder: Path, kind: str) -> list[str]:
    """The ids of one kind, the newest first; of approvals only the pending ones. Raises OSError and sqlite3.Error."""
    place = f"file:{quote(str(folder / 'journal.db'))}?mode=ro"
    connection = sqlite3.connect(place, uri=True, isolation_level=None, timeout=_WAIT_S)
    try:
        likes = " OR ".join("event LIKE ?" for _ in _TYPES[kind])
        values = [f'{{"type":"{name}"%' for name in _TYPES[kind]]
        rows = connection.execute(
            f"SELECT event FROM events WHERE version > (SELECT max(version) FROM events) - ? AND ({likes})",  # noqa: S608  only names of the table above
            (_NEWEST, *values),
        )
        found: dict[str, None] = {}
        for (text,) in rows:
            _take(found, json.loads(text))
    finally:
        connection.close()
    return list(reversed(found))


def _take(found: dict[str, None], event: dict[str, Any]) -> None:
    match event["type"]:
        case "track_added":
            found[event["track"]] = None
        case "tickets_added":
            found.update(dict.fromkeys(f"{event['track']}/{ticket['id']}" for ticket in event["tickets"]))
        case "approval_requested":
            found[event["approval"]] = None
        case "discussion_started":
            found[event["discussion"]] = None
        case _:
            found.pop(event["approval"], None)
