"""Reads tracks from their files, for a folder without a journal.

The files are not trusted: only regular files of bounded size are read, and a malformed file counts as missing.
"""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from interlock.domain.values.ids import is_id
from interlock.trackfiles.folders import folder_in, parts_of, read_start, root_folder
from interlock.views.board import TrackProgress, TrackRow
from interlock.views.track_files import METADATA, PLAN, STATE

_MOST_BYTES = 8 * 2**20  # tomllib parses a few MB per second; counts of larger tracks come from plan.md
_MOST_PLAN = 128 * 2**20
_MOST_TRACKS = 10_000
_BOX = re.compile(rb"^[ \t]*[-*] \[([ xX])\]", re.MULTILINE)
# tomllib needs quadratic time for a dotted key: 40,000 dots take half a minute.
_TEXT_OR_COMMENT = re.compile(
    r'#[^\n]*|"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?', re.DOTALL
)
_LONG_KEY = re.compile(r"(?:\.[^.\n=\[\]{},]*+){50}")


class FiledTicket(Struct, frozen=True):
    id: str
    description: str
    status: str
    depends_on: tuple[str, ...]


class FiledTrack(Struct, frozen=True):
    """A track as far as its files describe it."""

    row: TrackRow
    tickets: tuple[FiledTicket, ...]


def read_tracks(root: Path, tracks_dir: str) -> tuple[FiledTrack, ...]:
    """The tracks, the oldest first where the age is known; empty if there is no such folder."""
    tracks: list[FiledTrack] = []
    try:
        with root_folder(root) as top, folder_in(top, parts_of(tracks_dir)) as base:
            for name in sorted(filter(is_id, os.listdir(base)))[:_MOST_TRACKS]:
                if track := _read_track(base, name):
                    tracks.append(track)
    except OSError:
        return tuple(tracks)
    return tuple(sorted(tracks, key=lambda track: (track.row.created_at, track.row.id)))


def _read_track(base: int, name: str) -> FiledTrack | None:
    try:
        with folder_in(base, (name,)) as folder:
            tickets = _tickets(_read(folder, STATE))
            about = _metadata(_read(folder, METADATA))
            boxes = _boxes(_read(folder, PLAN, _MOST_PLAN)) if tickets is None else None
    except OSError:
        return None
    if tickets is None and about is None and boxes is None:
        return None
    about = about or {}
    statuses = [ticket.status for ticket in tickets or ()]
    completed, todo = boxes or (statuses.count("completed"), statuses.count("todo"))
    row = TrackRow(
        id=about["id"] if is_id(about.get("id")) else name,
        title=about.get("title") or name,
        status=about.get("status") or "unknown",
        progress=TrackProgress(completed, sum(boxes) if boxes else len(statuses)),
        todo=todo,
        in_progress=statuses.count("in_progress"),
        blocked=statuses.count("blocked"),
        cancelled=statuses.count("cancelled"),
        unlanded=False,
        created_at=about.get("created_at", ""),
        updated_at=about.get("updated_at", ""),
    )
    return FiledTrack(row, tickets or ())


def _read(folder: int, name: str, most: int = _MOST_BYTES) -> bytes | None:
    try:
        content = read_start(folder, name, most + 1)
    except OSError:
        return None
    return content if len(content) <= most else None


def _tickets(content: bytes | None) -> tuple[FiledTicket, ...] | None:
    try:
        text = (content or b"").decode()
        if content is None or _LONG_KEY.search(_TEXT_OR_COMMENT.sub("", text)):
            return None
        tasks = tomllib.loads(text)["tasks"]
        return tuple(_ticket(task) for task in tasks)
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _ticket(task: dict[str, Any]) -> FiledTicket:
    """Raises TypeError for a value that is no text."""
    depends_on: list[object] = task.get("depends_on", [])
    texts = (task["id"], task.get("description", ""), task.get("status", "todo"), *depends_on)
    name, description, status, *others = (_text(value) for value in texts)
    return FiledTicket(name, description, status, tuple(others))


def _metadata(content: bytes | None) -> dict[str, str] | None:
    try:
        data: object = json.loads(content or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    known = ("id", "title", "status", "created_at", "updated_at")
    pairs = cast("dict[str, object]", data).items()
    return {key: _text(value) for key, value in pairs if key in known and isinstance(value, str)} or None


def _boxes(content: bytes | None) -> tuple[int, int] | None:
    """How many checkboxes are checked and unchecked."""
    marks = _BOX.findall(content or b"")
    crossed = sum(mark != b" " for mark in marks)
    return (crossed, len(marks) - crossed) if marks else None


def _text(value: object) -> str:
    """Replaces lone surrogates, which JSON can hold but no output can encode."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value.encode(errors="replace").decode()
