"""The imports and top-level definitions of a Python file, including those below `if` and `try`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.codeviews.syntax.python_bodies import HOLDERS
from interlock.codeviews.syntax.trees import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_OUTER = HOLDERS - {"class_definition"}
_ASSIGNED = frozenset(["identifier", "pattern_list", "tuple_pattern"])


def python_summary(source: bytes) -> list[str] | None:
    """The summary; None at the parser's time limit."""
    tree = parse(source, "python")
    if tree is None:
        return None
    imports: dict[str, None] = {}
    constants: dict[str, None] = {}
    functions: dict[str, None] = {}
    classes: list[str] = []
    for node in _statements(tree.root_node, _OUTER):
        match node.type:
            case "import_statement" | "import_from_statement" | "future_import_statement":
                imports |= dict.fromkeys(_imported(source, node))
            case "expression_statement":
                constants |= dict.fromkeys(_constants(source, node))
            case "class_definition":
                methods = dict.fromkeys(_methods(source, node))
                classes.append(f"class {_name(source, node)}" + (f": {', '.join(methods)}" if methods else ""))
            case "function_definition":
                functions[_name(source, node)] = None
            case _:
                pass
    lines = {"imports": imports, "constants": constants}
    listed = [f"{word}: {', '.join(names)}" for word, names in lines.items() if names]
    return listed + classes + ([f"functions: {', '.join(functions)}"] if functions else [])


def _statements(node: "Node", entered: frozenset[str]) -> "Iterator[Node]":
    stack = list(reversed(node.named_children))
    while stack:
        child = stack.pop()
        if child.type in entered:
            stack += reversed(child.named_children)
        else:
            yield child


def _methods(source: bytes, definition: "Node") -> Iterator[str]:
    body = definition.child_by_field_name("body")
    for node in _statements(body, _OUTER) if body is not None else ():
        if node.type == "function_definition":
            yield _name(source, node)


def _imported(source: bytes, node: "Node") -> Iterator[str]:
    """The first part of each module name; relative names keep their dots."""
    if node.type == "future_import_statement":
        yield "__future__"
        return
    if node.type == "import_from_statement":
        module = node.child_by_field_name("module_name")
        modules = [module] if module is not None else []
    else:
        modules = node.children_by_field_name("name")
    for module in modules:
        text = _text(source, module.child_by_field_name("name") or module)
        name = text.lstrip(".")
        yield text[: len(text) - len(name)] + name.split(".")[0].strip()


def _constants(source: bytes, node: "Node") -> Iterator[str]:
    """Names assigned by NAME = …, NAME: type = …, A = B = …, A, B = …"""
    value = node.named_children[0] if node.named_child_count else None
    while value is not None and value.type == "assignment":
        left = value.child_by_field_name("left")
        if left is not None and left.type in _ASSIGNED:
            names = [left] if left.type == "identifier" else left.named_children
            yield from (text for name in names if name.type == "identifier" and (text := _text(source, name)).isupper())
        value = value.child_by_field_name("right")


def _name(source: bytes, definition: "Node") -> str:
    name = definition.child_by_field_name("name")
    return _text(source, name) if name is not None else "?"


def _text(source: bytes, node: "Node") -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")
