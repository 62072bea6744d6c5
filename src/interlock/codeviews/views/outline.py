"""The outline of a source: definitions with their lines, nested by scope, each with the first line of its docstring."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from interlock.codeviews.syntax import python_bodies
from interlock.codeviews.syntax.detect import CODE
from interlock.codeviews.syntax.trees import matches, parse, table

if TYPE_CHECKING:
    from tree_sitter import Node

INDENT = "  "
_SCOPES = frozenset(["class", "struct", "interface", "enum", "union", "trait", "impl", "record"])
"""A function directly inside one of these is a method."""
_ASYNC = re.compile(rb"\basync\b")
_MARKERS = re.compile(r"^(?:/\*\*?!?|//[/!]?|\*+/?|#+!?)\s?|\s*\*+/$")
_COMMENT = frozenset(["comment", "line_comment", "block_comment"])
_WRAPPERS = frozenset(
    ["export_statement", "lexical_declaration", "variable_declaration", "template_declaration", "type_declaration"]
)
_BESIDE = frozenset(["attribute_item", "decorator"])


class Item(NamedTuple):
    start: int
    end: int
    word: str  # class, func, …
    name: str
    first_line: int
    last_line: int
    is_async: bool = False
    doc: str = ""


def outline(source: bytes, language: str) -> str:
    """The outline; empty for a language without definitions and at the parser's time limit."""
    lines: list[str] = []
    around: list[Item] = []
    for item in items(source, language):
        while around and around[-1].end < item.end:
            around.pop()
        lines.append(INDENT * len(around) + _line(item, around[-1] if around else None))
        if item.doc:
            lines.append(INDENT * (len(around) + 1) + f'"""{item.doc}"""')
        around.append(item)
    return "".join(f"{line}\n" for line in lines)


def items(source: bytes, language: str) -> Iterator[Item]:
    """Definitions in source order; an outer one comes before the inner ones."""
    tree = parse(source, language) if language in CODE else None
    if tree is not None:
        yield from (_python if language == "python" else _other)(source, tree.root_node, language)


def _line(item: Item, around: Item | None) -> str:
    word = item.word
    if word == "func" and around is not None and around.word in _SCOPES:
        word = "method"
    label = f"Async {word.capitalize()}" if item.is_async else word.capitalize()
    return f"[{label}] {item.name} (Lines {item.first_line}-{item.last_line})"


# ── Python ───────────────────────────────────────────────────────────────────────────────


def _python(source: bytes, root: "Node", _: str) -> Iterator[Item]:
    stack = [root]
    while stack:
        node = stack.pop()
        inside = [child for child in node.named_children if child.type in _ENTERED]
        stack += reversed(inside)
        if node.type not in _DEFINITIONS or (name := node.child_by_field_name("name")) is None:
            continue
        word = "class" if node.type == "class_definition" else "func"
        is_async = source.startswith(b"async", node.start_byte)
        first, last = node.start_point.row + 1, _last_statement(node).end_point.row + 1
        span = (node.start_byte, node.end_byte)
        yield Item(*span, word, _text(source, name), first, last, is_async, docstring_line(source, node))


_DEFINITIONS = frozenset(["class_definition", "function_definition"])
_ENTERED = python_bodies.HOLDERS | _DEFINITIONS


def _last_statement(node: "Node") -> "Node":
    """The last line without trailing comments, as in Python's own `ast`."""
    while node.type in _ENTERED:
        inside = [child for child in node.named_children if child.type != "comment"]
        if not inside:
            break
        node = inside[-1]
    return node


def docstring_line(source: bytes, definition: "Node") -> str:
    body = definition.child_by_field_name("body")
    statements = [child for child in body.named_children if child.type != "comment"] if body is not None else []
    if not statements or not python_bodies.is_docstring(source, statements[0]):
        return ""
    strings = [statements[0]]
    while strings and strings[0].type != "string":
        strings = strings[0].named_children
    content = [part for part in strings[0].named_children if part.type == "string_content"] if strings else []
    text = _text(source, content[0]).strip() if content else ""
    return text.split("\n", 1)[0].rstrip()


# ── other languages ──────────────────────────────────────────────────────────────────────


def _other(source: bytes, root: "Node", language: str) -> Iterator[Item]:
    items: dict[tuple[int, int], Item] = {}
    for _, captured in matches(language, table(language).outline, root):
        name = captured.pop("name", [None])[0]
        receiver = captured.pop("receiver", [None])[0]
        if name is None or not captured:
            continue
        word, nodes = next(iter(captured.items()))
        node = nodes[0]
        text = _name(source, name)
        if receiver is not None:
            text = f"{_receiver(source, receiver)}.{text}"
        if (trait := node.child_by_field_name("trait")) is not None:
            text = f"{_name(source, trait)} for {text}"
        value = node.child_by_field_name("value")
        header = source[node.start_byte : (value.start_byte + 5 if value is not None else name.start_byte)]
        is_async = word in ("func", "method") and _ASYNC.search(header) is not None
        lines = (node.start_point.row + 1, node.end_point.row + (node.end_point.column > 0))
        span = (node.start_byte, node.end_byte)
        items[span] = Item(*span, word, text, *lines, is_async, _comment_line(source, node))
    yield from sorted(items.values(), key=lambda item: (item.start, -item.end))


def _name(source: bytes, name: "Node") -> str:
    """The name inside a C declarator; for other nodes their text."""
    node = name
    if node.type == "operator_cast" and (to := node.child_by_field_name("type")) is not None:
        return f"operator {_text(source, to)}"
    while (inner := node.child_by_field_name("declarator")) is not None or node.type.endswith("_declarator"):
        node = inner or node.named_children[-1]
    return " ".join(_text(source, node).split())


def _receiver(source: bytes, receiver: "Node") -> str:
    """The type of a Go receiver: Square for (s *Square[T])."""
    words = re.findall(r"\w+", _text(source, receiver).partition("[")[0])
    return words[-1] if words else ""


def _comment_line(source: bytes, node: "Node") -> str:
    """The first line of the comment directly above the definition."""
    while node.parent is not None and node.parent.type in _WRAPPERS and node.parent.named_children[-1] == node:
        node = node.parent
    row, before, first = node.start_point.row, node.prev_named_sibling, None
    while before is not None and before.end_point.row >= row - 1 - (before.end_point.column == 0):
        if before.type in _COMMENT and not _shares_line(before):
            first = before
        elif before.type not in _BESIDE:
            break
        row, before = before.start_point.row, before.prev_named_sibling
    if first is None:
        return ""
    for line in _text(source, first).split("\n"):
        if text := _MARKERS.sub("", _MARKERS.sub("", line.strip())).strip():
            return text
    return ""


def _shares_line(comment: "Node") -> bool:
    before = comment.prev_sibling
    return before is not None and before.end_point.row == comment.start_point.row and before.end_point.column > 0


def _text(source: bytes, node: "Node") -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")
