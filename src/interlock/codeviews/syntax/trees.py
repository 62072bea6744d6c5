"""Parsing with tree-sitter: grammars are loaded at first use, and every parse has a time limit."""

import importlib
import re
import threading
from functools import cache
from time import thread_time
from typing import TYPE_CHECKING

from interlock.codeviews.languages.table import LanguageTable

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Point, Query, Tree

CHUNK = 8192
"""The parser reads pieces of this many bytes; the time limit is checked between two pieces.

The limit counts CPU time, not wall time: a view must not depend on the load of the machine."""
PATIENCE_S = 5.0
BYTES_PER_S = 2_000_000
"""Below this rate (after the grace time) an input is taken for hostile; grammars parse 5 to 10 MB a second."""
_LARGE_CHARACTER = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")


@cache
def table(language: str) -> LanguageTable:
    language_table: LanguageTable = importlib.import_module(f"interlock.codeviews.languages.{language}").TABLE
    return language_table


def parse(source: bytes, language: str) -> "Tree | None":
    """The tree; None at the time limit. Some inputs, such as many quotes, take quadratic time."""
    if language == "bash":  # its scanner passes characters to isalnum(), which crashes above U+FFFF
        source = _LARGE_CHARACTER.sub(b"____", source)  # of the same length: offsets stay
    if len(source) <= CHUNK:  # too short to take long
        return _parser(language).parse(source)
    end = thread_time() + PATIENCE_S + len(source) / BYTES_PER_S
    late = False

    def read(offset: int, _: "Point") -> bytes | None:
        nonlocal late
        if late or thread_time() > end:
            late = True
            return None
        return source[offset : offset + CHUNK]

    tree = _parser(language).parse(read)
    return None if late else tree


@cache
def query(language: str, text: str) -> "Query":
    from tree_sitter import Query

    return Query(_grammar(language), text)


def captures(language: str, text: str, root: "Node") -> "dict[str, list[Node]]":
    from tree_sitter import QueryCursor

    return QueryCursor(query(language, text)).captures(root)


def matches(language: str, text: str, root: "Node") -> "list[tuple[int, dict[str, list[Node]]]]":
    from tree_sitter import QueryCursor

    return QueryCursor(query(language, text)).matches(root)


def errors(root: "Node") -> int:
    """The number of syntax errors. Only nodes with an error inside are visited; a query would visit every node."""
    count = 0
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        count += node.is_error or node.is_missing
        stack += [child for child in node.children if child.has_error or child.is_error]
    return count


@cache
def _grammar(language: str) -> "Language":
    from tree_sitter import Language

    known = table(language)
    capsule: object = getattr(importlib.import_module(known.module), known.entry)()
    return Language(capsule)


class _Parsers(threading.local):
    """Parsers of one thread: while a parser reads its next piece, another thread may run and must not use it."""

    def __init__(self) -> None:
        self.known: dict[str, Parser] = {}


_parsers = _Parsers()


def _parser(language: str) -> "Parser":
    parser = _parsers.known.get(language)
    if parser is None:
        from tree_sitter import Parser

        parser = _parsers.known[language] = Parser(_grammar(language))
    return parser
