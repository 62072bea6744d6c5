"""Marks that keep a body in the curated view: the decorator @core_logic, or a comment with [HOT] in the function."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

HOT = b"[HOT]"
_NAME = rb"[\w\x80-\xff]"
_CORE = re.compile(
    rb"(?:[@#\[!\s\\]|method\s*:)*(?:%b+\s*(?:\.|::|\\)\s*)*core_logic(?!%b|\s*(?:\.|::|\\))" % (_NAME, _NAME)
)
_DECORATION = frozenset(
    ["decorator", "attribute_item", "attribute_list", "annotation", "marker_annotation", "modifiers"]
)
_GROUPS = frozenset(["modifiers", "attribute_list", "attribute_group"])
"""Nodes that hold several decorations."""
_HOLDERS = frozenset(["field_definition", "public_field_definition", "accessor_list", "property_declaration"])
"""A mark before one of these nodes applies to the function in it: a field's arrow function, a property's getter."""
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
    """The mark is inside, around (Python) or directly before the function, or its field or property."""
    around = function.parent
    if around is not None and around.type == "decorated_definition":
        yield from (child for child in around.named_children if child.type in _DECORATION)
        return
    node: Node | None = function
    while node is not None:
        yield from _single(child for child in node.named_children if child.type in _DECORATION)
        before = node.prev_named_sibling
        while before is not None and (before.type in _DECORATION or before.type in _COMMENT):
            if before.type in _DECORATION:
                yield from _single([before])
            before = before.prev_named_sibling
        node = node.parent if node.parent is not None and node.parent.type in _HOLDERS else None


def _single(decorations: "Iterable[Node]") -> "Iterator[Node]":
    for node in decorations:
        yield node  # the whole list, with its target: [method: core_logic]
        if node.type in _GROUPS:
            yield from _single(child for child in node.named_children if child.type not in _COMMENT)
