"""The skeleton of a source: bodies of functions replaced, every other byte as it is.

Never wrong silently: a body near something that does not parse is kept, and if the outcome had more errors than the
source, the source is shown whole.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from interlock.codeviews import other_bodies, python_bodies
from interlock.codeviews.cuts import Cut, apply
from interlock.codeviews.marks import is_marked
from interlock.codeviews.trees import captures, errors, parse, table

if TYPE_CHECKING:
    from tree_sitter import Node


def skeleton(source: bytes, language: str, *, curated: bool = False) -> bytes:
    """`curated` keeps marked bodies. A source that cannot be read in time is shown whole."""
    if language == "python" and not python_bodies.readable(source):
        return source
    tree = parse(source, language)
    if tree is None:
        return source
    root = tree.root_node
    cuts = find_cuts(source, root, language, curated=curated)
    made = apply(source, cuts)
    if root.has_error and cuts:
        again = parse(made, language)
        if again is None or errors(language, again.root_node) > errors(language, root):
            return source
    return made


def find_cuts(source: bytes, root: "Node", language: str, *, curated: bool = False) -> list[Cut]:
    """In order, none inside another."""
    broken = root.has_error

    def keeps(function: "Node") -> bool:
        if broken and not _sound(function):
            return True
        return curated and is_marked(source, function)

    if language != "python":
        return list(_other(source, root, language, keeps))
    kept = (function for function in python_bodies.functions(root) if not keeps(function))
    if broken:
        kept = (function for function in kept if python_bodies.ends_where_it_seems(source, function))
    return [made for function in kept if (made := python_bodies.cut(source, function))]


def _other(source: bytes, root: "Node", language: str, keeps: "Callable[[Node], bool]") -> Iterator[Cut]:
    """Functions inside a body go with it or stay with it; those inside a short expression are looked at."""
    known = table(language)
    bodies = captures(language, known.bodies, root).get("body", [])
    done = 0
    for body in sorted(bodies, key=lambda body: (body.start_byte, -body.end_byte)):
        if body.start_byte < done:
            continue
        function = body.parent or body
        while function.type in ("try_statement", "catch_clause") and function.parent is not None:
            function = function.parent
        if keeps(function):
            done = body.end_byte
        elif made := other_bodies.cut(source, body, known):
            done = made.end
            yield made


def _sound(function: "Node") -> bool:
    """Nothing in it, around it or directly beside it failed to parse."""
    if function.has_error:
        return False
    node: Node | None = function
    while node is not None:
        beside = (node, node.prev_sibling, node.next_sibling)
        if any(near is not None and (near.is_error or near.is_missing) for near in beside):
            return False
        node = node.parent
    return True
