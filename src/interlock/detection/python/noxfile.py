"""What the test session of a noxfile installs and runs. The file is read, never run."""

import ast
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping

from msgspec import Struct

_TEST_NAMES = re.compile(r"(?:unit[-_]?)?tests?(?:[-_]unit)?|pytest|py|testing", re.ASCII)
_UNKNOWN = "\0"  # an argument that is computed when the session runs


class Session(Struct, frozen=True, kw_only=True):
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def nox_session(source: str) -> Session | None:
    """The session for tests; None if no function has such a name."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    paths = _paths(module)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and _TEST_NAMES.fullmatch(node.name):
            return _read(node, paths)
    return None


def _read(function: ast.FunctionDef, paths: Mapping[str, str]) -> Session:
    requirements: list[str] = []
    files: list[str] = []
    extras: list[str] = []
    groups: list[str] = []
    commands: list[str] = []
    for words, name in _calls(function, paths):
        if name == "run" and words and _UNKNOWN not in words:
            commands.append(shlex.join(words))
        before = ""
        for word in words if name == "install" else ():
            if before in ("-r", "--requirement"):
                files.append(word)
            elif match := re.fullmatch(r"--group=(.+)", word):
                groups.append(match[1])
            elif before == "--group":
                groups.append(word)
            elif match := re.fullmatch(r"\.\[([\w,\s-]+)\]", word):
                extras += [extra.strip() for extra in match[1].split(",")]
            elif re.match(r"[A-Za-z]", word):
                requirements.append(word)
            before = word
    return Session(
        requirements=tuple(requirements),
        files=tuple(files),
        extras=tuple(extras),
        groups=tuple(groups),
        commands=tuple(commands),
    )


def _calls(function: ast.FunctionDef, paths: Mapping[str, str]) -> Iterator[tuple[list[str], str]]:
    """The words and the name of each `session.install` and `session.run`. Arguments of the user's are left out."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            words = [_word(arg, paths) for arg in node.args if not isinstance(arg, ast.Starred)]
            yield words, node.func.attr


def _word(node: ast.expr, paths: Mapping[str, str]) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return _word(inner, paths)
        case _:
            return _path(node, paths) or _UNKNOWN


def _paths(module: ast.Module) -> dict[str, str]:
    """Paths that the file gives names to, such as `TESTS = ROOT / "tests"`, from the project's folder."""
    found: dict[str, str] = {}
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if path := _path(value, found):
                found[name] = path
            case _:
                pass
    return found


def _path(node: ast.expr, known: Mapping[str, str]) -> str:
    """The path of an expression; empty if it is none that is known."""
    match node:
        case ast.Name(id=name):
            return known.get(name, "")
        case ast.Attribute(value=value, attr="parent"):
            return "." if "__file__" in ast.unparse(value) else ""
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=str(name))):
            above = _path(left, known)
            return posixpath.normpath(posixpath.join(above, name)) if above else ""
        case _:
            return ""
