"""Adds one entry to a list in a JSON text without changing any other byte, and takes it out again.

The settings of agents may contain comments, so they are not parsed and written anew.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from interlock.errors import Misconfigured

_TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"/]+', re.DOTALL)
_OPEN, _CLOSE = "{[", "}]"


class Added(Struct, frozen=True):
    """The new text, and the piece that was added to it."""

    text: str
    piece: str


class _Token(Struct, frozen=True):
    text: str
    end: int


def add_entry(text: str, path: Sequence[str], entry: dict[str, Any]) -> Added:
    """Adds the entry first to the list at `path`; makes what is missing of the path. Raises Misconfigured."""
    if not text.strip():
        whole: Any = [entry]
        for key in reversed(path):
            whole = {key: whole}
        made = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
        return Added(made, made)
    end, missing, empty = _place(_tokens(text), path)
    piece = json.dumps(entry, ensure_ascii=False)
    for number, key in enumerate(reversed(missing)):
        piece = f"{json.dumps(key)}: [{piece}]" if number == 0 else f"{json.dumps(key)}: {{{piece}}}"
    indent = "  " * (len(path) - len(missing) + 1)
    piece = f"\n{indent}{piece}" + (f"\n{indent[2:]}" if empty else ",")
    return Added(text[:end] + piece + text[end:], piece)


def take_piece(text: str, piece: str) -> str | None:
    """The text without the piece; None if the piece is not in it exactly once."""
    return text.replace(piece, "") if piece and text.count(piece) == 1 else None


def plain_json(text: str) -> dict[str, Any]:
    """The content, read without comments. Raises Misconfigured."""
    try:
        value = json.loads("".join(token.text for token in _tokens(text)) or "{}")
    except ValueError as error:
        raise Misconfigured(f"it is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Misconfigured("it is no JSON object")
    return cast("dict[str, Any]", value)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Misconfigured(f"it is no JSON: {text[position : position + 20]!r}")
        position = match.end()
        if not match[0].isspace() and not match[0].startswith(("//", "/*")):
            tokens.append(_Token(match[0], position))
    return tokens


def _place(tokens: Sequence[_Token], path: Sequence[str]) -> tuple[int, Sequence[str], bool]:
    """Where to insert: after which bracket, the keys that are missing there, and whether nothing else is in it."""
    at = 0
    for depth, key in enumerate(path):
        _expect(tokens, at, "{", path[:depth])
        found = _value_of(tokens, at, key)
        if found is None:
            return tokens[at].end, path[depth:], tokens[at + 1].text == "}"
        at = found
    _expect(tokens, at, "[", path)
    return tokens[at].end, (), tokens[at + 1].text == "]"


def _expect(tokens: Sequence[_Token], at: int, bracket: str, path: Sequence[str]) -> None:
    if at >= len(tokens) - 1 or tokens[at].text != bracket:
        kind = "an object" if bracket == "{" else "a list"
        raise Misconfigured(f"{'.'.join(path) or 'its content'} is not {kind}")


def _value_of(tokens: Sequence[_Token], at: int, key: str) -> int | None:
    """The index of the value of this key in the object that begins at `at`."""
    depth = 0
    for index in range(at, len(tokens) - 2):
        text = tokens[index].text
        depth += (text in _OPEN) - (text in _CLOSE)
        if depth == 0:
            return None
        if depth == 1 and text.startswith('"') and tokens[index + 1].text == ":" and json.loads(text) == key:
            return index + 2
    return None
