"""Languages other than Python: what of a body is replaced, and by what."""

import re
from typing import TYPE_CHECKING

from interlock.codeviews.cuts import Cut, indentation, line_break, without_return
from interlock.codeviews.languages.table import Table

if TYPE_CHECKING:
    from tree_sitter import Node

BRACES = b"{ /* ... */ }"
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)


def cut(source: bytes, body: "Node", known: Table) -> Cut | None:
    """None when there is nothing to replace, or no safe way to."""
    start, end = body.start_byte, body.end_byte
    if known.preprocessor and not _balanced(source[start:end]):
        return None
    match known.style:
        case "ruby":
            return _ruby(source, start, end)
        case "bash":
            return _bash(source, start, end)
        case _:
            return _braces(source, start, end, body.type)


def _braces(source: bytes, start: int, end: int, kind: str) -> Cut | None:
    if source[start] == ord("{"):
        empty = source[end - 1] != ord("}") or not source[start + 1 : end - 1].strip()
        return None if empty else Cut(start, end, BRACES)
    if kind == "arrow_function" or b"\n" not in source[start:end]:
        return None  # a => b => …, x => x + 1: as short as any placeholder, and it says more
    if source.startswith(b"=>", start):  # C#: the semicolon belongs to it
        after = source.find(b";", end)
        return Cut(start, after + 1, BRACES) if after >= 0 and not source[end:after].strip() else None
    return Cut(start, end, BRACES)


def _ruby(source: bytes, start: int, end: int) -> Cut | None:
    """What follows the body on its last line must not become a part of the comment."""
    if _heredoc_beyond(source, start, end):
        return None
    end = without_return(source, end)
    rest = source[end:].split(b"\n", 1)[0].rstrip(b"\r")
    if not rest.strip() or rest.lstrip().startswith(b"#"):
        return Cut(start, end + len(rest), b"# ...")
    after = end + len(rest) - len(rest.lstrip())
    return Cut(start, after, b"# ..." + line_break(source, start) + indentation(source, start))


def _bash(source: bytes, start: int, end: int) -> Cut | None:
    if _heredoc_beyond(source, start, end) or not source[start + 1 : end - 1].strip():
        return None
    if source[start : start + 1] + source[end - 1 : end] not in (b"{}", b"()"):
        return None
    new = line_break(source, start)
    outer = indentation(source, start)
    first = start + 1 + len(source[start + 1 : end]) - len(source[start + 1 : end].lstrip())
    own_line = b"\n" in source[start:first]
    indent = indentation(source, first) if own_line else outer + b"  "
    return Cut(start + 1, end - 1, new + indent + b": # ..." + new + outer)


def _heredoc_beyond(source: bytes, start: int, end: int) -> bool:
    """The text of a heredoc that begins on the body's last line stands after the body."""
    return b"<<" in source[max(start, source.rfind(b"\n", start, end)) : end]


def _balanced(text: bytes) -> bool:
    """Every #if of the body ends in it."""
    if b"#" not in text:
        return True
    depth = 0
    for found in _DIRECTIVE.finditer(text):
        depth += 1 if found[1] == b"if" else -1
        if depth < 0:
            return False
    return depth == 0
