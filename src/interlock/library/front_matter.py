"""The front matter of a file: `key: value` lines between two lines of `---`. A small, strict format, not YAML.

A value is the rest of its line, or a quoted text as in commands. Empty lines and lines that begin with `#` are ignored.
Every other line is refused with its number, so that no text is misread.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from msgspec import Struct

from interlock.domain.reading.command_tokens import Reader
from interlock.errors import Misconfigured, Rejected

FENCE = "---"

_LINE = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_MARKS_OF_LONG_TEXTS = re.compile(r"[|>][-+0-9]*")

Read = Callable[[str], object]
"""Converts a value, or raises ValueError with the expected form."""


class Parts(Struct, frozen=True):
    """The values of a file's front matter, their lines, and the text below."""

    values: dict[str, object]
    lines: dict[str, int]
    body: str


def read_parts(text: str, label: str, fields: Mapping[str, Read]) -> Parts:
    """Raises Misconfigured with a message `FILE:LINE: problem`."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != FENCE:
        return Parts({}, {}, "\n".join(lines).strip())
    values: dict[str, object] = {}
    where: dict[str, int] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == FENCE:
            return Parts(values, where, "\n".join(lines[number:]).strip())
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            raise Misconfigured(f"{label}:{number}: expected 'key: value', not {line.strip()[:60]!r}")
        key = match["key"]
        if key not in fields:
            close = get_close_matches(key, fields, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(fields)}"
            raise Misconfigured(f"{label}:{number}: unknown key {key!r}; {hint}")
        if key in values:
            raise Misconfigured(f"{label}:{number}: {key!r} is given twice, first in line {where[key]}")
        try:
            values[key], where[key] = fields[key](_value(match["value"] or "")), number
        except (ValueError, Rejected) as wrong:
            raise Misconfigured(f"{label}:{number}: {key!r} {wrong}") from None
    raise Misconfigured(f"{label}:1: the head that begins here is not ended by a line {FENCE}")


def _value(text: str) -> str:
    if not text:
        raise ValueError("has no value")
    if _MARKS_OF_LONG_TEXTS.fullmatch(text):
        raise ValueError("must be on one line; a longer text goes below the head")
    if text[0] not in "\"'":
        return text
    reader = Reader(text)
    try:
        token = reader.token()
    except Rejected:
        raise ValueError(f"begins with {text[0]}, which is never closed") from None
    if not reader.at_end:
        raise ValueError(f"begins with {text[0]} and goes on after the closing one; put the whole in quotes")
    return token.text
