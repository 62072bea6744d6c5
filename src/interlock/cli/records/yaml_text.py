"""Plain data as YAML that any parser reads back as it was: what could be taken for something else is quoted."""

import re
from collections.abc import Iterator
from typing import Any, cast

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./]+)*")
_NOT_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def as_yaml(value: Any) -> str:
    """Of dicts with text keys, lists, texts, numbers, true, false and null."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Any, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict) and value:
        for key, each in cast("dict[str, Any]", value).items():
            yield from _entry(f"{pad}{_text(key)}:", each, depth)
    elif isinstance(value, list | tuple) and value:
        for each in cast("list[Any]", value):
            yield from _entry(f"{pad}-", each, depth)
    else:
        yield pad + _scalar(value)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list | tuple) and value:
        below = list(_lines(value, depth + 1))
        if head.endswith("-"):  # the first line stands beside the dash
            yield f"{head} {below[0].lstrip(' ')}"
            yield from below[1:]
        else:
            yield head
            yield from below
    elif isinstance(value, str) and _is_block(value):
        yield f"{head} |-"
        pad = "  " * (depth + 1)
        yield from (pad + line if line else "" for line in value.split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))  # without a point some take it for a text
    return "{}" if isinstance(value, dict) else "[]"


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_WORDS:
        return text
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escaped(c)) for c in text) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_block(text: str) -> bool:
    """Several lines that can stand as they are: nothing at their ends that could be lost."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and all(line.isprintable() and line == line.rstrip() for line in lines)
        and bool(lines[0] and lines[-1])
        and not lines[0].startswith(" ")
    )
