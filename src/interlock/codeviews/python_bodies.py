"""Python: where functions are, and what of a function is its body.

The body is what follows the header's line, or the docstring's. Tree-sitter's block is a part of it: comments before the
first statement belong to the function there.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.codeviews.cuts import Cut, line_break, without_return

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
"""Only in these can a definition stand."""
_PREFIX = re.compile(rb"[A-Za-z]*")
_OLD_MAC = re.compile(rb"\r(?!\n)")


def functions(root: "Node") -> "Iterator[Node]":
    """Outermost ones, in order. The walk never enters an expression or a function."""
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
    """To Python a lone carriage return ends a line, to the grammar it does not: better leave such a file alone."""
    return b"\r" not in source or _OLD_MAC.search(source) is None


def cut(source: bytes, function: "Node") -> Cut | None:
    """None when there is nothing to replace."""
    block = function.child_by_field_name("body")
    statements = _statements(block) if block is not None else None
    first = next(statements, None) if statements else None
    if block is None or statements is None or first is None:
        return None
    if is_docstring(source, first):
        header, first = first.end_byte, next(statements, None)
        if first is None:
            return None
    else:
        ending = function.child_by_field_name("return_type") or function.child_by_field_name("parameters")
        if ending is None:
            return None
        header = ending.end_byte
    start = _line_end(source, header, first.start_byte)
    if start is None:  # the body begins on the header's own line, and a comment at its end is the header's
        last = [first, *statements][-1]
        if source[first.start_byte : last.end_byte] == PLACEHOLDER:
            return None
        return Cut(first.start_byte, last.end_byte, PLACEHOLDER)
    if source[first.start_byte : first.end_byte] == PLACEHOLDER and next(statements, None) is None:
        return None
    indent = source[source.rfind(b"\n", 0, first.start_byte) + 1 : first.start_byte]
    return Cut(start, without_return(source, block.end_byte), line_break(source, start) + indent + PLACEHOLDER)


def _statements(block: "Node") -> "Iterator[Node]":
    return (child for child in block.named_children if child.type not in ("comment", "line_continuation"))


def _line_end(source: bytes, header: int, first: int) -> int | None:
    """Where the header's line ends, if the first statement stands on a line of its own below it."""
    end = source.find(b"\n", header, first)
    if end < 0:
        return None
    if source[end - 1] == 13:
        end -= 1
    line = source.rfind(b"\n", 0, first) + 1
    continued = source[end - 1] == 92 or source[:line].endswith((b"\\\n", b"\\\r\n"))
    return None if continued or source[line:first].strip(b" \t\f") else end


def is_docstring(source: bytes, statement: "Node") -> bool:
    """As Python sees it: plain strings, also joined or in parentheses, but no bytes and no f-string."""
    if statement.type != "expression_statement" or statement.named_child_count != 1:
        return False
    value = statement.named_children[0]
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


def ends_where_it_seems(source: bytes, function: "Node") -> bool:
    """A second opinion for files that do not parse: what follows the body is not indented deeper than `def`."""
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
