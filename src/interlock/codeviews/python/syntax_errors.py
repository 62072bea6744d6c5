"""Syntax errors of a Python source, from Python's own parser and from the grammar, which continues after an error."""

import ast
import sys
import warnings

from interlock.codeviews.python.definitions import decoded
from interlock.codeviews.syntax.trees import captures, errors, parse

_FILE = "<a source that is only read>"
_LARGEST = 1_000_000
"""Python's own tree of a larger source needs too much memory."""
_MOST_NAMED = 20
VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}"


def problem(source: bytes) -> str | None:
    """Python's first error message; None if the source parses or is too large to check."""
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
    """Errors of the grammar; none if Python itself parses the source."""
    message = problem(source)
    if message is None and len(source) <= _LARGEST:
        return ()
    messages = [f"{message} ({VERSION})"] if message else []
    tree = parse(source, "python")
    if tree is None:
        return (*messages, "the rest takes too long to parse")
    if tree.root_node.has_error:
        nodes = captures("python", "(ERROR) @error (MISSING) @missing", tree.root_node)
        lines = sorted({node.start_point.row + 1 for every in nodes.values() for node in every})
        more = f" and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
        messages.append(f"the grammar reports errors at line {', '.join(map(str, lines[:_MOST_NAMED]))}{more}")
    elif message:
        messages.append(f"the grammar reports no error; it also accepts syntax newer than {VERSION}")
    return tuple(messages)


def new_syntax_error(before: bytes, after: bytes) -> str | None:
    """The reason if `after` has a syntax error that `before` did not have; else None."""
    if (message := problem(after)) and problem(before) is None:
        return f"{message} ({VERSION})"
    old, new = parse(before, "python"), parse(after, "python")
    if old is None or new is None:
        return "it would take too long to parse" if old is not None else None
    if errors(new.root_node) > errors(old.root_node) and (message or len(after) > _LARGEST):
        nodes = captures("python", "(ERROR) @error (MISSING) @missing", new.root_node)
        return f"line {min(node.start_point.row for every in nodes.values() for node in every) + 1} does not parse"
    return None


def read(text: str, mode: str = "exec") -> ast.AST:
    """Python's own tree. Warnings about the source are suppressed: it is only parsed."""
    warnings.filterwarnings("ignore", module=r"<a source that is only read>")
    return compile(text, _FILE, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
