"""Python: functions and their bodies.

The body follows the line of the header, or of the docstring. Tree-sitter's block node is smaller: comments before the
first statement belong to the function node.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.codeviews.syntax.cuts import Cut, line_break, without_return

if TYPE_CHECKING:
    from tree_sitter import Node

PLACEHOLDER = b"..."
HOLDERS = frozenset(
    [
        "block",
        "class_definition",
        "decorated_definition",
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "with_statement",
        "match_statement",
        "case_clause",
    ]
)
"""The kinds of nodes that can contain a definition."""
_BETWEEN = frozenset(["comment", "line_continuation"])
"""The kinds of nodes allowed between statements."""
_PREFIX = re.compile(rb"[A-Za-z]*")
_OLD_MAC = re.compile(rb"\r(?!\n)")


def functions(root: "Node") -> "Iterator[Node]":
    """The outermost functions, in order. The walk enters neither expressions nor functions."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            yield node
        else:
            stack += [
                child
                for child in reversed(node.named_children)
                if child.type == "function_definition" or child.type in HOLDERS
            ]


def readable(source: bytes) -> bool:
    """Python ends a line at a lone carriage return, the grammar does not. Such a file is left unchanged."""
    return b"\r" not in source or _OLD_MAC.search(source) is None


def cut(source: bytes, function: "Node") -> Cut | None:
    """The cut of a body; None if there is nothing to replace.

    Only the first statements are examined: listing all of them would take longer than everything else.
    """
    block = function.child_by_field_name("body")
    if block is None:
        return None
    at, first = _statement(block, 0)
    if first is None:
        return None
    if first.type == "expression_statement" and is_docstring(source, first):
        header = first.end_byte
        at, first = _statement(block, at + 1)
        if first is None:
            return None
    else:
        ending = function.child_by_field_name("return_type") or function.child_by_field_name("parameters")
        if ending is None:
            return None
        header = ending.end_byte
    begin = first.start_byte
    start = _line_end(source, header, begin)
    if start is None:  # the body begins on the line of the header; a comment at its end belongs to the header
        end = next(child.end_byte for child in reversed(block.named_children) if child.type not in _BETWEEN)
        return None if source[begin:end] == PLACEHOLDER else Cut(begin, end, PLACEHOLDER)
    if source.startswith(PLACEHOLDER, begin) and first.end_byte == begin + 3 and _statement(block, at + 1)[1] is None:
        return None
    indent = source[source.rfind(b"\n", 0, begin) + 1 : begin]
    return Cut(start, without_return(source, block.end_byte), line_break(source, start) + indent + PLACEHOLDER)


def _statement(block: "Node", at: int) -> "tuple[int, Node | None]":
    """The first statement from this child on, and its index."""
    for number in range(at, block.named_child_count):
        child = block.named_child(number)
        if child is not None and child.type not in _BETWEEN:
            return number, child
    return at, None


def _line_end(source: bytes, header: int, first: int) -> int | None:
    """The end of the header line, if the first statement is on a later line."""
    end = source.find(b"\n", header, first)
    if end < 0:
        return None
    if source[end - 1] == 13:
        end -= 1
    line = source.rfind(b"\n", 0, first) + 1
    continued = source[end - 1] == 92 or source.endswith((b"\\\n", b"\\\r\n"), 0, line)
    return None if continued or source[line:first].strip(b" \t\f") else end


def is_docstring(source: bytes, statement: "Node") -> bool:
    """A docstring by Python's rule: plain strings, also concatenated or in parentheses; no bytes, no f-string."""
    if statement.type != "expression_statement" or statement.named_child_count != 1:
        return False
    if statement.child_count > 1 and any(child.type == "," for child in statement.children):  # a tuple
        return False
    value = statement.named_child(0)
    if value is None:
        return False
    while value.type == "parenthesized_expression":
        inside = [child for child in value.named_children if child.type != "comment"]
        if len(inside) != 1:
            return False
        value = inside[0]
    if value.type == "string":
        return _is_plain(source, value)
    if value.type == "concatenated_string":
        return all(_is_plain(source, part) for part in value.named_children if part.type == "string")
    return False


def _is_plain(source: bytes, string: "Node") -> bool:
    prefix = _PREFIX.match(source, string.start_byte)
    return prefix is None or not set(prefix[0].lower()) & set(b"bft")


def has_plausible_end(source: bytes, function: "Node") -> bool:
    """A second check for files with syntax errors: the code after the body is not indented deeper than `def`."""
    start = source.rfind(b"\n", 0, function.start_byte) + 1
    depth = _depth(source[start : function.start_byte])
    after = source.find(b"\n", function.end_byte)
    while after >= 0:
        begin, after = after + 1, source.find(b"\n", after + 1)
        line = source[begin : after if after >= 0 else len(source)]
        text = line.lstrip(b" \t\f")
        if text.strip() and not text.startswith(b"#"):
            return _depth(line[: len(line) - len(text)]) <= depth
    return True


def _depth(white: bytes) -> int:
    return len(white.rpartition(b"\f")[2].expandtabs(8))
