"""Checks the properties that every skeleton must have, in any language."""

from itertools import pairwise

from interlock.codeviews.syntax.cuts import Cut
from interlock.codeviews.syntax.trees import errors, parse
from interlock.codeviews.views.outline import items
from interlock.codeviews.views.skeleton import find_cuts, skeleton


def faults(source: bytes, language: str) -> list[str]:
    """The problems of this source's skeleton; empty if it is correct."""
    tree = parse(source, language)
    result = skeleton(source, language)
    if tree is None or result == source:
        return []
    again = parse(result, language)
    if again is None:
        return ["the skeleton takes too long to parse"]
    problems: list[str] = []
    before, after = errors(tree.root_node), errors(again.root_node)
    if after > before:
        problems.append(f"{after} errors instead of {before}")
    cuts = find_cuts(source, tree.root_node, language)
    if any(one.end > other.start for one, other in pairwise(cuts)):
        problems.append("cuts overlap")
    if not _same_outside(source, result, cuts):
        problems.append("something outside the bodies has changed")
    if skeleton(result, language) != result:
        problems.append("the skeleton of the skeleton is another one")
    if not before and (names := _names(source, cuts, language)) != _names(result, [], language):
        problems.append(f"other definitions are left than {names[:5]} …")
    return problems


def _same_outside(source: bytes, result: bytes, cuts: list[Cut]) -> bool:
    """True if the text outside the cuts is unchanged; does not use the function that applies cuts."""
    at = result_at = 0
    for start, end, placeholder in cuts:
        if result[result_at : result_at + start - at] != source[at:start]:
            return False
        result_at += start - at
        if result[result_at : result_at + len(placeholder)] != placeholder:
            return False
        at, result_at = end, result_at + len(placeholder)
    return result[result_at:] == source[at:]


def _names(source: bytes, cuts: list[Cut], language: str) -> list[str]:
    """The names of the definitions outside the cuts, found independently of the skeleton."""
    kept = (item for item in items(source, language) if not any(c.start <= item.start < c.end for c in cuts))
    # `T operator=(T&&) noexcept { … };` with an empty body is a variable with an initial value to the C++ grammar.
    return [item.name for item in kept if language != "cpp" or source[item.end : item.end + 1] != b";"]
