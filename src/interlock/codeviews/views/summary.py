"""The summary of a file: its contents in a few lines, made without a model."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, cast

from interlock.codeviews.syntax.detect import title_of
from interlock.views.display import counted

PREVIEW = 8


def summary(source: bytes, language: str, title: str | None = None) -> str:
    text = source.decode("utf-8-sig", errors="replace")
    head = f"**{title or title_of(language)}** — {counted(count_lines(source), 'line')}"
    match language:
        case "python":
            from interlock.codeviews.views.python_summary import python_summary

            lines = python_summary(source)
        case "toml":
            lines = _toml(text)
        case "markdown":
            lines = list(_headings(text))
        case _:
            lines = None
    if lines is None:
        lines = [line.rstrip("\r") for line in text.split("\n", PREVIEW)[:PREVIEW]]
        while lines and not lines[-1]:
            lines.pop()
    return "\n".join([head, *lines]) + "\n"


def count_lines(source: bytes) -> int:
    return source.count(b"\n") + (not source.endswith(b"\n") and bool(source))


# ── TOML ─────────────────────────────────────────────────────────────────────────────────


def _toml(text: str) -> list[str] | None:
    try:
        return list(_tables(tomllib.loads(text), ""))
    except (ValueError, RecursionError):
        return None


def _tables(table: Mapping[str, Any], path: str) -> Iterator[str]:
    """Each table with its keys and the length of each array, followed by its subtables."""
    inner: list[str] = []
    keys: list[str] = []
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            inner += _tables(cast(dict[str, Any], value), name)
        elif _is_tables(value):
            seen = dict.fromkeys(key for entry in value for key in entry)
            inner.append(f"[[{name}]] × {len(value)}: {', '.join(seen)}")
        else:
            keys.append(f"{key}[{len(cast(list[Any], value))}]" if isinstance(value, list) else key)
    if keys or (path and not inner):
        yield f"[{path}]: {', '.join(keys)}".rstrip(" :") if path else f"keys: {', '.join(keys)}"
    yield from inner


def _is_tables(value: object) -> bool:
    entries = cast(list[object], value) if isinstance(value, list) else []
    return bool(entries) and all(isinstance(entry, dict) for entry in entries)


# ── Markdown ─────────────────────────────────────────────────────────────────────────────

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,3})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")


def _headings(text: str) -> Iterator[str]:
    """Headings of levels 1 to 3, without fenced code."""
    fence = ""
    before = ""
    for line in text.splitlines():
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif match[1][0] == fence[0] and len(match[1]) >= len(fence) and not line[match.end() :].strip():
                fence = ""
            before = ""
        elif fence:
            continue
        elif match := _HEADING.match(line):
            yield f"{match[1]} {match[2] or ''}".rstrip()
            before = ""
        elif (match := _UNDERLINE.match(line)) and before:
            yield f"{'#' if match[1][0] == '=' else '##'} {before}"
            before = ""
        else:
            before = "" if line.startswith(("    ", "\t", ">", "- ", "* ", "|")) else line.strip()
