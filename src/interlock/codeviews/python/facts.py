"""Python: facts about a source: imports, mentions of a name, classes and their bases, docstrings."""

import ast
import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from interlock.codeviews.python.definitions import DEFINITIONS, Definition, Source, Span, encoded
from interlock.codeviews.python.syntax_errors import read
from interlock.codeviews.syntax.cuts import line_end
from interlock.codeviews.syntax.trees import captures
from interlock.errors import ToolFailure
from interlock.ports.tools import ClassFound, Mention

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORTS = frozenset(["import_statement", "import_from_statement", "future_import_statement"])
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
_LONGEST_LINE = 200
_INDENT = "    "
_AFTER_OPENING = re.compile(r"([(\[]) ")
_BEFORE_CLOSING = re.compile(r",? ([)\]])")


def docstring(source: Source, definition: "Node") -> str:
    """The docstring as Python evaluates it: concatenated, unescaped, without indentation."""
    expression = source.docstring(definition)
    if expression is None:
        return ""
    try:
        value: object = ast.literal_eval(cast(ast.Expression, read(f"({source.text_of(expression)})", "eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        value = source.text_of(expression)
    return inspect.cleandoc(str(value))


# ── imports ──────────────────────────────────────────────────────────────────────────────


def imports(source: Source) -> Iterator[str]:
    """All import statements, one per line of output, with their line and enclosing function."""
    for scope, node in source.scoped():
        if node.type in _IMPORTS:
            inside = f"  [in {scope[:-1]}]" if scope else ""
            yield f"{node.start_point.row + 1}: {_import(source, node)}{inside}"


def _import(source: Source, node: "Node") -> str:
    names = [_with_alias(source, name) for name in node.children_by_field_name("name")]
    if any(child.type == "wildcard_import" for child in node.named_children):
        names = ["*"]
    if node.type == "import_statement":
        return f"import {', '.join(names)}"
    module = node.child_by_field_name("module_name")
    return f"from {_plain(source, module) if module is not None else '__future__'} import {', '.join(names)}"


def _with_alias(source: Source, node: "Node") -> str:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    if name is None or alias is None:
        return _plain(source, node)
    return f"{_plain(source, name)} as {_plain(source, alias)}"


def _plain(source: Source, node: "Node") -> str:
    """A dotted name may contain blanks and line breaks."""
    return "".join(source.text_of(node).replace("\\", "").split())


# ── mentions ─────────────────────────────────────────────────────────────────────────────


def mentions(source: Source, name: str) -> Iterator[Mention]:
    """A dotted name is mentioned by its last part after the part before it, or after `self` in that class."""
    if not _NAME.match(name):
        raise ToolFailure(f"{name!r} is not a name; give one such as Class.method")
    before, _, last = name.rpartition(".")
    seen = 0
    for match in re.finditer(rb"(?<![\w\x80-\xff])" + re.escape(encoded(last)) + rb"(?![\w\x80-\xff])", source.bytes):
        node = source.root.descendant_for_byte_range(match.start(), match.end())
        if node is None or node.type != "identifier" or node.start_byte != match.start():
            continue
        line = node.start_point.row + 1
        if line == seen or (before and not _is_member_of(source, node, before)):
            continue
        seen = line
        start = source.bytes.rfind(b"\n", 0, match.start()) + 1
        text = source.bytes[start : line_end(source.bytes, match.end())]
        yield Mention(line, _role(node), text.decode(errors="replace").strip()[:_LONGEST_LINE])


def _role(node: "Node") -> Any:
    around = node.parent
    while around is not None and around.type in ("dotted_name", "aliased_import"):
        around = around.parent
    if around is not None and around.type in _IMPORTS:
        return "import"
    if node.parent is not None and node.parent.type in DEFINITIONS:
        return "definition" if node.parent.child_by_field_name("name") == node else "use"
    if node.parent is not None and node.parent.type == "assignment":
        return "definition" if node.parent.child_by_field_name("left") == node else "use"
    return "use"


def _is_member_of(source: Source, node: "Node", before: str) -> bool:
    around = node.parent
    if around is not None and around.type == "attribute" and around.child_by_field_name("attribute") == node:
        owner = around.child_by_field_name("object")
        owner_name = _plain(source, owner) if owner is not None else ""
        if owner_name == before or owner_name.endswith(f".{before}") or before.endswith(f".{owner_name}"):
            return True
        return owner_name in ("self", "cls", "super()") and _ends_with(_scope(source, node), before)
    if around is not None and around.type == "dotted_name":
        return _ends_with(_plain(source, around).rpartition(".")[0], before)
    return _role(node) == "definition" and _scope(source, node, own=False) == before


def _ends_with(scope: str, name: str) -> bool:
    """True if one of the enclosing scopes is this one."""
    return f".{name}." in f".{scope}."


def _scope(source: Source, node: "Node", *, own: bool = True) -> str:
    names: list[str] = []
    around = node.parent
    if not own and around is not None and around.type in DEFINITIONS:
        around = around.parent
    while around is not None:
        if around.type in DEFINITIONS:
            names.append(source.name_of(around))
        around = around.parent
    return ".".join(reversed(names))


# ── classes ──────────────────────────────────────────────────────────────────────────────


def classes(source: Source) -> Iterator[ClassFound]:
    for definition in source.definitions():
        if definition.node.type == "class_definition":
            yield ClassFound(
                definition.name, definition.node.start_point.row + 1, tuple(_bases(source, definition.node))
            )


def _bases(source: Source, definition: "Node") -> Iterator[str]:
    listed = definition.child_by_field_name("superclasses")
    for base in listed.named_children if listed is not None else ():
        if base.type not in ("comment", "keyword_argument", "dictionary_splat"):
            yield " ".join(source.text_of(base).split())


def class_summary(source: Source, definition: Definition) -> str:
    """The header, docstring, variables and methods of a class, each with its line."""
    if definition.node.type != "class_definition":
        raise ToolFailure(f"{definition.name!r} is a function, not a class; use py_get_definition.")
    first, last = source.lines_of(definition.outer)
    rows = [*(source.text_of(node) for node in definition.outer.named_children if node.type == "decorator")]
    rows.append(f"{_header(source, definition.node)}  # lines {first}-{last}")
    rows += [f"{_INDENT}{line}".rstrip() for line in _quoted(docstring(source, definition.node))]
    scope = f"{definition.name}."
    inside = range(definition.node.start_byte, definition.node.end_byte)
    for holder, node in source.scoped():
        if holder != scope or node.start_byte not in inside:
            continue
        line = node.start_point.row + 1
        if node.type in DEFINITIONS:
            rows += [f"{_INDENT}{mark}" for mark in _decorators(source, node)]
            rows.append(f"{_INDENT}{_header(source, node)} ...  # line {line}")
        elif node.type == "expression_statement" and node.named_children[0].type == "assignment":
            rows.append(f"{_INDENT}{' '.join(source.text_of(node).split())[:_LONGEST_LINE]}  # line {line}")
    return "\n".join(rows)


def _header(source: Source, definition: "Node") -> str:
    """The text on one line, without comments."""
    start, end = source.header(definition)
    parts: list[str] = []
    for node in captures("python", "(comment) @comment", definition).get("comment", []):
        if node.end_byte < end:
            parts.append(source.text_of(Span(start, node.start_byte)))
            start = node.end_byte
    words = " ".join("".join((*parts, source.text_of(Span(start, end)))).split())
    return _AFTER_OPENING.sub(r"\1", _BEFORE_CLOSING.sub(r"\1", words))


def _decorators(source: Source, definition: "Node") -> Iterator[str]:
    around = definition.parent
    if around is not None and around.type == "decorated_definition":
        for node in around.named_children:
            if node.type == "decorator":
                yield " ".join(source.text_of(node).split())


def _quoted(text: str) -> list[str]:
    return f'"""{text}"""'.split("\n") if text else []
