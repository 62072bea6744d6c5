"""Parsing: grammars are loaded when the first file of their language comes, and no file is parsed for ever."""

import importlib
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from interlock.codeviews.languages.table import Table

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Point, Query, Tree

CHUNK = 8192
"""The parser is handed this many bytes at a time; between two pieces its time is looked at."""
PATIENCE_S = 5.0
BYTES_PER_S = 2_000_000
"""Slower than this (after the patience) is an input made to be slow; grammars read 5 to 10 MB in a second."""


@cache
def table(language: str) -> Table:
    made: Table = importlib.import_module(f"interlock.codeviews.languages.{language}").TABLE
    return made


def parse(source: bytes, language: str) -> "Tree | None":
    """None when it takes too long: some inputs, such as many quotes, take a time that grows with their square."""
    if len(source) <= CHUNK:  # too short to take long
        return _parser(language).parse(source)
    end = monotonic() + PATIENCE_S + len(source) / BYTES_PER_S
    late = False

    def read(offset: int, _: "Point") -> bytes | None:
        nonlocal late
        if late or monotonic() > end:
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
    """How many places do not parse. Only what has an error in it is looked into: a query would visit every node."""
    found = 0
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        found += node.is_error or node.is_missing
        stack += [child for child in node.children if child.has_error or child.is_error]
    return found


@cache
def _grammar(language: str) -> "Language":
    from tree_sitter import Language

    known = table(language)
    capsule: object = getattr(importlib.import_module(known.module), known.entry)()
    return Language(capsule)


@cache
def _parser(language: str) -> "Parser":
    from tree_sitter import Parser

    return Parser(_grammar(language))
