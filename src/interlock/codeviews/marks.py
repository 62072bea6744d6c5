"""What keeps a body in the curated view: the decorator @core_logic, or a comment with [HOT] in the function."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

HOT = b"[HOT]"
_CORE = re.compile(rb"[@#\[!\s]*(?:[\w]+\s*(?:\.|::|\\)\s*)*core_logic\b(?!\s*(?:\.|::|\\))")
_DECORATION = frozenset(
    ["decorator", "attribute_item", "attribute_list", "annotation", "marker_annotation", "modifiers"]
)
_COMMENT = frozenset(["comment", "line_comment", "block_comment"])


def is_marked(source: bytes, function: "Node") -> bool:
    return _has_hot_comment(source, function) or any(
        _CORE.match(source, node.start_byte, node.end_byte) for node in _decorations(function)
    )


def _has_hot_comment(source: bytes, function: "Node") -> bool:
    at = source.find(HOT, function.start_byte, function.end_byte)
    while at >= 0:
        node = function.descendant_for_byte_range(at, at + len(HOT))
        while node is not None and node.id != function.id:
            if node.type in _COMMENT:
                return True
            node = node.parent
        at = source.find(HOT, at + 1, function.end_byte)
    return False


def _decorations(function: "Node") -> "Iterator[Node]":
    """Inside it, around it (Python), or directly before it."""
    around = function.parent
    if around is not None and around.type == "decorated_definition":
        yield from (child for child in around.named_children if child.type in _DECORATION)
        return
    for child in function.named_children:
        if child.type == "modifiers":
            yield from child.named_children
        elif child.type in _DECORATION:
            yield child
    before = function.prev_named_sibling
    while before is not None and (before.type in _DECORATION or before.type in _COMMENT):
        if before.type in _DECORATION:
            yield before
        before = before.prev_named_sibling
