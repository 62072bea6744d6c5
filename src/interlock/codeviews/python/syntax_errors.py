"""What of a Python source does not parse: by Python's own parser, and by the grammar, which reads on after an error."""

import ast
import sys
import warnings

from interlock.codeviews.python.definitions import decoded
from interlock.codeviews.syntax.trees import captures, errors, parse

_FILE = "<a source that is only read>"
_LARGEST = 1_000_000
"""Python's own tree of a larger source takes too much memory."""
_MOST_NAMED = 20
VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}"


def problem(source: bytes) -> str | None:
    """What Python says first, in words; None when it reads all of it, or when it is too large to be asked."""
    if len(source) > _LARGEST:
        return None
    try:
        read(decoded(source))
    except SyntaxError as error:
        at = f"line {error.lineno}: " if error.lineno else ""
        return f"{at}{error.msg}"
    except ValueError as error:
        return str(error)
    except (RecursionError, MemoryError):
        return "it is nested too deeply"
    return None


def problems(source: bytes) -> tuple[str, ...]:
    """Nothing where Python reads all of it, whatever the grammar thinks."""
    said = problem(source)
    if said is None and len(source) <= _LARGEST:
        return ()
    found = [f"{said} ({VERSION})"] if said else []
    tree = parse(source, "python")
    if tree is None:
        return (*found, "the rest takes too long to parse")
    if tree.root_node.has_error:
        nodes = captures("python", "(ERROR) @error (MISSING) @missing", tree.root_node)
        lines = sorted({node.start_point.row + 1 for every in nodes.values() for node in every})
        more = f" and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
        found.append(f"the grammar stumbles at line {', '.join(map(str, lines[:_MOST_NAMED]))}{more}")
    elif said:
        found.append(f"the grammar finds no fault; it also knows what is newer than {VERSION}")
    return tuple(found)


def harm(before: bytes, after: bytes) -> str | None:
    """Why `after` is worse to read than `before`; None when it is not."""
    if (said := problem(after)) and problem(before) is None:
        return f"{said} ({VERSION})"
    old, new = parse(before, "python"), parse(after, "python")
    if old is None or new is None:
        return "it would take too long to parse" if old is not None else None
    if errors(new.root_node) > errors(old.root_node) and (said or len(after) > _LARGEST):
        nodes = captures("python", "(ERROR) @error (MISSING) @missing", new.root_node)
        return f"line {min(node.start_point.row for every in nodes.values() for node in every) + 1} does not parse"
    return None


def read(text: str, mode: str = "exec") -> ast.AST:
    """Python's own tree. Its warnings about a source that is only read are nobody's business here."""
    warnings.filterwarnings("ignore", module=r"<a source that is only read>")
    return compile(text, _FILE, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
