"""The note about changed files: the whole file, a diff, or an outline, depending on its size."""

import re
from collections.abc import Callable, Sequence
from difflib import unified_diff

from interlock.domain.values.markdown import fenced
from interlock.views.display import counted, quoted_path

HEADING = "[SYSTEM: FILES UPDATED]\n\n"
WHOLE_LINES = 200  # a file with no more is shown whole
MOST = 40_000  # characters of one note
EACH = 20_000  # characters of one file
_COMPARED = 4_000  # lines between the first and the last that differ
_AROUND = 3
_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")

Outline = Callable[[str, str], str]
"""From a path and its text: an outline, or empty if there is none."""


def block(changes: Sequence[tuple[str, str | None, str | None]], outline: Outline) -> str:
    """`changes` are path, old text (None if unknown or new) and new text (None if deleted) of each file."""
    parts: list[str] = []
    left = MOST
    for name, before, now in changes:
        path = quoted_path(name)
        part = _note(path, before, now, outline)
        if len(part) > left:
            part = f"{path} has changed too; read it again."
        left -= len(part)
        parts.append(part)
    return HEADING + "\n\n".join(parts) if parts else ""


def _note(path: str, before: str | None, now: str | None, outline: Outline) -> str:
    if now is None:
        return f"{path} was deleted."
    rows = _lines(now)
    count = counted(len(rows), "line")
    if len(rows) <= WHOLE_LINES and len(now) <= EACH:
        return f"{path} ({count}):\n{fenced(now.removesuffix(chr(10)))}"
    if before is not None and (diff := _difference(path, _lines(before), rows)):
        return f"{path} ({count}), what changed:\n{fenced(diff)}"
    overview = _within(outline(path, now).rstrip())
    shown = f":\n{fenced(overview)}" if overview else "."
    return f"{path} ({count}) is new or has changed a lot; read the lines you need with get_file_slice{shown}"


def _within(outline: str) -> str:
    if len(outline) <= EACH:
        return outline
    kept = outline[: outline.rfind("\n", 0, EACH) + 1] or outline[:EACH] + "\n"
    return f"{kept}[… {counted(outline.count(chr(10), len(kept)) + 1, 'more line')} of the outline not shown]"


def _lines(text: str) -> list[str]:
    """Lines as editors and diffs count them. A last line without a newline differs from one with it."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _difference(path: str, before: list[str], now: list[str]) -> str:
    """A unified diff; equal lines at the start and the end are skipped, which makes it fast."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(now)) - same and before[-1 - tail] == now[-1 - tail]:
        tail += 1
    if max(len(before), len(now)) - same - tail > _COMPARED:
        return ""
    start, end = max(same - _AROUND, 0), max(tail - _AROUND, 0)
    old, new = before[start : len(before) - end], now[start : len(now) - end]
    lines = list(unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="", n=_AROUND))
    text = "\n".join(_moved(line, start) for line in lines)
    return text if len(text) <= EACH else ""


def _moved(line: str, by: int) -> str:
    match = _HUNK.match(line)
    if match is None:
        return line
    old, new = int(match[1]) + by, int(match[3]) + by
    return f"@@ -{old}{match[2] or ''} +{new}{match[4] or ''} @@"
