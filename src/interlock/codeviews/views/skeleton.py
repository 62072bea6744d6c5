"""The skeleton of a source: function bodies are replaced, all other bytes stay.

A body near a syntax error is kept. If the result has more syntax errors than the source, the source is shown whole.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from interlock.codeviews.syntax import other_bodies, python_bodies
from interlock.codeviews.syntax.cuts import Cut, apply
from interlock.codeviews.syntax.marks import is_marked
from interlock.codeviews.syntax.trees import errors, parse, table

if TYPE_CHECKING:
    from tree_sitter import Node


def skeleton(source: bytes, language: str, *, curated: bool = False) -> bytes:
    """`curated` keeps marked bodies. A source at the parser's time limit is shown whole."""
    if language == "python" and not python_bodies.readable(source):
        return source
    # Every function contains one of these bytes. (The parser may insert a missing keyword, but such a function
    # contains an error and is kept.)
    if not any(sign in source for sign in table(language).signs):
        return source
    tree = parse(source, language)
    if tree is None:
        return source
    root = tree.root_node
    cuts = find_cuts(source, root, language, curated=curated)
    shortened = apply(source, cuts)
    if root.has_error and cuts:
        again = parse(shortened, language)
        if again is None or errors(again.root_node) > errors(root):
            return source
    return shortened


def find_cuts(source: bytes, root: "Node", language: str, *, curated: bool = False) -> list[Cut]:
    """The cuts in order; none is inside another."""
    broken = root.has_error
    seen: dict[int, bool] = {}

    def keeps(function: "Node") -> bool:
        if broken and not is_error_free(function, seen):
            return True
        return curated and is_marked(source, function)

    if language != "python":
        return sorted(_other(source, root, language, keeps))
    kept = (function for function in python_bodies.functions(root) if not keeps(function))
    if broken:
        kept = (function for function in kept if python_bodies.has_plausible_end(source, function))
    return [made for function in kept if (made := python_bodies.cut(source, function))]


def _other(source: bytes, root: "Node", language: str, keeps: "Callable[[Node], bool]") -> Iterator[Cut]:
    known = table(language)
    for function, body in other_bodies.functions(source, root, known):
        if keeps(function) or (root.has_error and not other_bodies.is_plausible_body(source, function, body)):
            continue
        if cut := other_bodies.cut(source, body, known):
            yield cut


def is_error_free(function: "Node", seen: dict[int, bool]) -> bool:
    """No syntax error is inside, around or directly beside the function, and no node around it lacks its end.

    `seen` caches the results for the enclosing nodes of other functions, by node id.
    """
    if function.has_error:
        return False
    node: Node | None = function
    passed: list[int] = []
    clean = True
    while node is not None and clean:
        if node.id in seen:
            clean = seen[node.id]
            break
        passed.append(node.id)
        beside = (node, node.prev_sibling, node.next_sibling, node.child(node.child_count - 1))
        clean = not any(near is not None and (near.is_error or near.is_missing) for near in beside)
        node = node.parent
    seen.update(dict.fromkeys(passed, clean))
    return clean
