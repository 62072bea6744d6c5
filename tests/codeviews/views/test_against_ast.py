"""Skeletons of the standard library, compared with Python's own parser."""

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.codeviews.syntax.trees import parse
from interlock.codeviews.views.outline import outline
from interlock.codeviews.views.skeleton import find_cuts, skeleton

LIBRARY = Path(ast.__file__).parent
FILES = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
SLICE = [path for path in FILES if path.stat().st_size < 60_000][:: max(1, len(FILES) // 150)]
NOT_FOR_THIS_PARSER = {"test_compile.py", "badsyntax_future8.py"}
"""Files with `from x import *` in a function or lone surrogates: grammar errors, so these bodies stay."""


def test_the_slice_is_large_enough() -> None:
    assert len(SLICE) >= 100


@pytest.mark.parametrize("path", SLICE, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_a_slice_of_the_standard_library(path: Path) -> None:
    compare(path.read_bytes())


@pytest.mark.soak
def test_the_whole_standard_library() -> None:
    sys.setrecursionlimit(10_000)
    kept = {path.name for path in FILES if not compare(path.read_bytes())}
    assert kept <= NOT_FOR_THIS_PARSER


def compare(source: bytes) -> bool:
    """Checks all properties of the skeleton; returns True if all bodies are removed."""
    result = skeleton(source, "python")
    tree = read(source)
    if tree is None:  # not Python 3, or invalid on purpose
        return True
    shown = read(result)
    assert shown is not None, "the skeleton is not valid Python"
    expected = ast.dump(Bodiless().visit(tree))
    all_gone = ast.dump(shown) == expected
    assert ast.dump(Bodiless().visit(shown)) == expected, "a signature, a docstring or something outside has changed"
    cuts_are_bodies(source)
    assert skeleton(result, "python") == result
    same_outline(source)
    return all_gone


class Bodiless(ast.NodeTransformer):
    """Replaces bodies as a skeleton does."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        docstring = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        dots: list[ast.stmt] = [ast.Expr(ast.Constant(...))] if len(node.body) > len(docstring) else []
        node.body = [*docstring, *dots]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # the same fields


def read(source: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            return None


def cuts_are_bodies(source: bytes) -> None:
    """Each cut holds the statements of one body, and otherwise only white space and comments."""
    tree, module = parse(source, "python"), read(source)
    assert tree is not None
    assert module is not None
    starts = line_starts(source)
    bodies = dict(bodies_of(module, starts))
    for start, end, _ in find_cuts(source, tree.root_node, "python"):
        inside = [place for place in bodies if start <= place < end]
        assert inside, source[start:end]
        first = min(inside)
        last = bodies[first]
        assert last <= end
        for beside in (source[start:first], source[last:end]):
            assert re.fullmatch(rb"(?:\s|\\\r?\n|;|#[^\n]*)*", beside), beside


def bodies_of(module: ast.Module, starts: list[int]) -> Iterator[tuple[int, int]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            if body:
                first, last = body[0], body[-1]
                decorators = getattr(first, "decorator_list", [])
                line, column = (
                    (decorators[0].lineno, decorators[0].col_offset - 1)
                    if decorators
                    else (first.lineno, first.col_offset)
                )
                yield starts[line - 1] + column, starts[(last.end_lineno or 0) - 1] + (last.end_col_offset or 0)


def line_starts(source: bytes) -> list[int]:
    return [0, *(match.end() for match in re.finditer(rb"\r?\n", source))]


def same_outline(source: bytes) -> None:
    module = read(source)
    assert module is not None
    lines = [line.strip() for line in outline(source, "python").splitlines() if line.lstrip().startswith("[")]
    assert [line for line in lines if not re.match(r"\[.*\] .* \(Lines \d+-\d+\)$", line)] == []
    if parse(source, "python").root_node.has_error:  # type: ignore[union-attr]
        return
    assert lines == list(outlined(module, None))


def outlined(node: ast.AST, around: ast.AST | None) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            word = "Class"
            if not isinstance(child, ast.ClassDef):
                word = "Method" if isinstance(around, ast.ClassDef) else "Func"
                word = f"Async {word}" if isinstance(child, ast.AsyncFunctionDef) else word
            yield f"[{word}] {child.name} (Lines {child.lineno}-{child.end_lineno})"
            yield from outlined(child, child)
        else:
            yield from outlined(child, around)
