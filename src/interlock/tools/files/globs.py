"""Path patterns: `*` and `?` within a name, `**` across folders, `{a,b}` for alternatives.

Matching takes at most the product of the lengths of pattern and path.
"""

import re
from collections.abc import Callable
from fnmatch import translate

from interlock.errors import ToolFailure

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_FORMS = 100
_LONGEST = 500


def matcher(pattern: str) -> Callable[[tuple[str, ...]], bool]:
    """A test of paths. A pattern without a slash matches the name alone, in any folder."""
    if not pattern or len(pattern) > _LONGEST:
        raise ToolFailure(f"A pattern has 1 to {_LONGEST} characters.")
    forms = [_form(form) for form in _expanded(pattern)]
    return lambda parts: any(_fits(form, parts) for form in forms)


# A part of a pattern: None for `**`, else a test of one name. fnmatch's translation does not backtrack.
_Form = list[Callable[[str], object] | None]


def _form(pattern: str) -> _Form:
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if "/" not in pattern.rstrip("/"):
        names.insert(0, "**")
    if pattern.endswith("/"):
        names.append("**")
    return [None if name == "**" else re.compile(translate(name)).match for name in names]


def _fits(form: _Form, parts: tuple[str, ...]) -> bool:
    """Dynamic programming: which prefixes of the path match which prefixes of the pattern."""
    row = [True, *(False for _ in parts)]
    for test in form:
        if test is None:
            reached = False
            for at, fits in enumerate(row):
                reached = reached or fits
                row[at] = reached
        else:
            row = [False, *(row[at] and test(name) is not None for at, name in enumerate(parts))]
    return row[-1]


def _expanded(pattern: str) -> list[str]:
    todo, done = [pattern], list[str]()
    while todo:
        form = todo.pop()
        if match := _BRACES.search(form):
            todo += [form[: match.start()] + choice + form[match.end() :] for choice in match[1].split(",")]
        else:
            done.append(form)
        if len(todo) + len(done) > _MOST_FORMS:
            raise ToolFailure(f"The pattern stands for more than {_MOST_FORMS} others; make it simpler.")
    return done
