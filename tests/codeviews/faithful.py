"""What must hold for the skeleton of any file in any language, checked from outside."""

from itertools import pairwise

from interlock.codeviews.syntax.cuts import Cut
from interlock.codeviews.syntax.trees import errors, parse
from interlock.codeviews.views.outline import items
from interlock.codeviews.views.skeleton import find_cuts, skeleton


def faults(source: bytes, language: str) -> list[str]:
    """What is wrong with the skeleton of this source, in words."""
    tree = parse(source, language)
    made = skeleton(source, language)
    if tree is None or made == source:
        return []
    again = parse(made, language)
    if again is None:
        return ["the skeleton takes too long to parse"]
    found: list[str] = []
    before, after = errors(tree.root_node), errors(again.root_node)
    if after > before:
        found.append(f"{after} errors instead of {before}")
    cuts = find_cuts(source, tree.root_node, language)
    if any(one.end > other.start for one, other in pairwise(cuts)):
        found.append("cuts overlap")
    if not _same_outside(source, made, cuts):
        found.append("something outside the bodies has changed")
    if skeleton(made, language) != made:
        found.append("the skeleton of the skeleton is another one")
    if not before and (names := _names(source, cuts, language)) != _names(made, [], language):
        found.append(f"other definitions are left than {names[:5]} …")
    return found


def _same_outside(source: bytes, made: bytes, cuts: list[Cut]) -> bool:
    """Piece by piece, without the function that applies cuts."""
    at = there = 0
    for start, end, placeholder in cuts:
        if made[there : there + start - at] != source[at:start]:
            return False
        there += start - at
        if made[there : there + len(placeholder)] != placeholder:
            return False
        at, there = end, there + len(placeholder)
    return made[there:] == source[at:]


def _names(source: bytes, cuts: list[Cut], language: str) -> list[str]:
    """Definitions by name, those inside a cut left out: another way of finding functions than that of the skeleton."""
    found = (item for item in items(source, language) if not any(c.start <= item.start < c.end for c in cuts))
    # `T operator=(T&&) noexcept { … };` with an empty body is a variable with an initial value to the C++ grammar.
    return [item.name for item in found if language != "cpp" or source[item.end : item.end + 1] != b";"]
