"""Definitions, signatures, docstrings, imports, variables and classes, compared with Python's own parser."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest

from interlock.codeviews.python.definitions import Source
from interlock.codeviews.python.structure import PythonStructure
from interlock.ports.tools import ClassFound
from tests.codeviews.views.test_against_ast import FILES, LIBRARY, SLICE, read

STRUCTURE = PythonStructure()
_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BESIDE = re.compile(r"(?:\s|;|\\|#[^\n]*)*")
Named = tuple[str, ast.stmt]


@pytest.mark.parametrize("path", SLICE, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_a_slice_of_the_standard_library(path: Path) -> None:
    compare(path)


@pytest.mark.soak
def test_the_whole_standard_library() -> None:
    for path in FILES:
        compare(path)


def compare(path: Path) -> None:
    content = path.read_bytes()
    module = read(content)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    text = text.removeprefix("\ufeff")
    if module is None or "\r" in text:
        return
    source = Source(text)
    if source.root.has_error:  # valid for Python, invalid for the grammar: out of scope
        return
    named = [(name, node) for name, node in statements(module) if isinstance(node, _DEFINITION)]
    assert [definition.name for definition in source.definitions()] == [name for name, _ in named]
    lines = text.split("\n")
    for name, node in named:
        same_definition(text, lines, name, node)
    assert STRUCTURE.docstring(text, "") == (ast.get_docstring(module) or "")
    assert list(STRUCTURE.imports(text)) == list(imports(module))
    # Python normalises names (NFKC); the structure keeps them as written.
    assert Counter(normalize("NFKC", definition.name) for definition in source.variables()) == Counter(
        variables(module)
    )
    assert STRUCTURE.classes(text) == tuple(
        ClassFound(name, node.lineno, tuple(" ".join(segment(lines, base).split()) for base in node.bases))
        for name, node in named
        if isinstance(node, ast.ClassDef)
    )


def same_definition(text: str, lines: list[str], name: str, node: ast.stmt) -> None:
    assert isinstance(node, _DEFINITION)
    first = min(node.lineno, *(mark.lineno for mark in node.decorator_list), node.lineno)
    last = node.end_lineno or 0
    definition = STRUCTURE.definition(text, name, node.lineno)
    expected = "\n".join(lines[first - 1 : last])
    assert definition.startswith(expected), name
    # Not part of Python's node: comments below the last statement with its indentation.
    assert _BESIDE.fullmatch(definition.removeprefix(expected)), name
    header = STRUCTURE.signature(text, name, node.lineno)
    assert header.endswith(":")
    alone = ast.parse(f"{header} ...").body[0]
    assert isinstance(alone, type(node))
    assert dumped(alone) == dumped(node), name
    assert STRUCTURE.docstring(text, name, node.lineno) == (ast.get_docstring(node) or "")


def dumped(node: ast.stmt) -> list[str]:
    """The node's fields, without body and decorators."""
    fields = [(key, value) for key, value in ast.iter_fields(node) if key not in ("body", "decorator_list")]
    shown = [ast.dump(value) if isinstance(value, ast.AST) else repr(value) for _, value in fields]
    lists = [[ast.dump(one) for one in value] for _, value in fields if isinstance(value, list)]
    return [text if "object at" not in text else "" for text in shown] + [repr(lists)]


def statements(node: ast.AST, scope: str = "") -> Iterator[Named]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            name = f"{scope}{child.name}" if isinstance(child, _DEFINITION) else scope
            yield name, child
        inner = f"{scope}{child.name}." if isinstance(child, _DEFINITION) else scope
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from statements(child, inner)


def imports(module: ast.Module) -> Iterator[str]:
    for scope, node in statements(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield f"{node.lineno}: {ast.unparse(node)}" + (f"  [in {scope[:-1]}]" if scope else "")


def variables(module: ast.Module) -> Iterator[str]:
    for scope, node in statements(module):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Name):
                yield scope + target.id
            elif isinstance(target, ast.Tuple | ast.List):
                targets += target.elts
            elif isinstance(target, ast.Starred):
                targets.append(target.value)


def segment(lines: list[str], node: ast.expr) -> str:
    rows = lines[node.lineno - 1 : node.end_lineno]
    rows[-1] = rows[-1].encode()[: node.end_col_offset].decode()
    rows[0] = rows[0].encode()[node.col_offset :].decode()
    return "\n".join(rows)
