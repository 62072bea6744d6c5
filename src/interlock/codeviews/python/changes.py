"""Python: replace a definition, a signature or a variable, with the indentation and line endings of the file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.codeviews.python.definitions import DEFINITIONS, Source, Span, decoded, encoded
from interlock.codeviews.python.syntax_errors import new_syntax_error
from interlock.codeviews.syntax.cuts import indentation, line_break
from interlock.codeviews.syntax.trees import captures
from interlock.codeviews.views.skeleton import is_error_free
from interlock.errors import ToolFailure

if TYPE_CHECKING:
    from tree_sitter import Node


def with_definition(text: str, name: str, new: str, line: int) -> str:
    source = Source(text)
    definition = source.definition(name, line)
    _require_parsable(source, definition.outer, name)
    piece = _Piece(new, "new_definition")
    if not piece.statements or piece.statements[-1].type not in (*DEFINITIONS, "decorated_definition"):
        raise ToolFailure("new_definition must be the whole definition, from its decorators to its last line.")
    span = Span(definition.outer.start_byte, source.whole_lines(definition.outer).end)
    return _replaced(source, span, piece.fitted(source, span, _unit(source, definition.node)))


def with_signature(text: str, name: str, new: str, line: int) -> str:
    source = Source(text)
    definition = source.definition(name, line)
    _require_parsable(source, definition.outer, name)
    header = new.rstrip().removesuffix(":")
    piece = _Piece(f"{header}:\n    {_deeper(header)}...", "new_signature")
    if [node.type for node in piece.statements] != [definition.node.type]:
        old = " ".join(source.text_of(source.header(definition.node)).split())
        raise ToolFailure(f"new_signature must be one header up to its colon, such as {old}")
    span = source.header(definition.node)
    made = piece.fitted(source, span, None)
    return _replaced(source, span, made[: made.rindex(b":") + 1])


def with_variable(text: str, name: str, new: str, line: int) -> str:
    source = Source(text)
    variable = source.variable(name, line)
    _require_parsable(source, variable.node, name)
    piece = _Piece(new, "new_declaration")
    if len(piece.statements) != 1 or piece.statements[0].type not in ("expression_statement", "type_alias_statement"):
        raise ToolFailure(f"new_declaration must be one assignment, such as {name.rpartition('.')[2]} = 1")
    span = Span(variable.node.start_byte, variable.node.end_byte)
    return _replaced(source, span, piece.fitted(source, span, None))


def _require_parsable(source: Source, node: "Node", name: str) -> None:
    if source.root.has_error and not is_error_free(node, {}):
        raise ToolFailure(f"The file does not parse near {name!r}, so it is not clear where it ends. Use edit_file.")


def _replaced(source: Source, span: Span, new: bytes) -> str:
    newline = line_break(source.bytes, span.start)
    new_source = source.bytes[: span.start] + new.replace(b"\n", newline) + source.bytes[span.end :]
    if new_source == source.bytes:
        raise ToolFailure("The code is already exactly this; nothing would change.")
    if why := new_syntax_error(source.bytes, new_source):
        raise ToolFailure(f"Nothing was changed: the file would not parse any more: {why}.")
    return decoded(new_source)


def _unit(source: Source, definition: "Node") -> bytes | None:
    """The unit of indentation in this definition; None if it cannot be detected."""
    body = definition.child_by_field_name("body")
    if body is None or body.start_point.row == definition.start_point.row:
        return None
    outer = indentation(source.bytes, definition.start_byte)
    inner = indentation(source.bytes, body.start_byte)
    return inner[len(outer) :] or None if inner.startswith(outer) else None


class _Piece:
    """Statements from a model, at any depth of indentation, to be inserted in a file."""

    def __init__(self, text: str, argument: str) -> None:
        lines = text.replace("\r\n", "\n").split("\n")
        while lines and not lines[0].strip():
            lines.pop(0)
        self._lines = encoded("\n".join(lines).rstrip()).split(b"\n")
        if not self._lines[0]:
            raise ToolFailure(f"{argument} is empty; to delete something use edit_file.")
        self._given = _leading_space(self._lines[0])
        # Indented statements are parsed as a block.
        head = b"if 1:\n" if self._given else b""
        self._above = head.count(b"\n")
        whole = head + b"\n".join(self._lines) + b"\n"
        self._source = Source(decoded(whole))
        root = self._source.root
        if root.has_error:
            raise ToolFailure(f"{argument} does not parse by itself.")
        top: Node | None = root.named_children[0].child_by_field_name("consequence") if head else root
        self.statements = [node for node in top.named_children if node.type != "comment"] if top is not None else []

    def fitted(self, source: Source, span: Span, unit: bytes | None) -> bytes:
        """The text at the depth of the replaced code; the first line is not indented."""
        indent = indentation(source.bytes, span.start)
        left = _left_of(indent, source.bytes[span.start : span.end])
        definition = next(self._definitions(), None)
        own = _unit(self._source, definition) if definition is not None else None
        swap = (own, unit) if own and unit and set(own) != set(unit) else None
        kept = self._rows_of_strings()
        lines = [
            line
            if row in kept or not line.strip() or (row and line in left)
            else indent + _reindented(line.removeprefix(self._given), swap)
            for row, line in enumerate(self._lines)
        ]
        return b"\n".join(lines)[len(indent) :]

    def _definitions(self) -> "Iterator[Node]":
        for node in self.statements:
            inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
            if inner is not None and inner.type in DEFINITIONS:
                yield inner

    def _rows_of_strings(self) -> set[int]:
        """Lines that begin inside a string. A docstring moves with its definition; other strings stay."""
        rows: set[int] = set()
        for node in captures("python", "(string) @string", self._source.root).get("string", []):
            around = node.parent
            if around is None or around.type != "expression_statement":
                rows.update(range(node.start_point.row + 1 - self._above, node.end_point.row + 1 - self._above))
        return rows


def _deeper(header: str) -> str:
    """The indentation of the first line that is not blank."""
    first = header.lstrip("\r\n").split("\n", 1)[0]
    return first[: len(first) - len(first.lstrip())]


def _left_of(indent: bytes, old: bytes) -> set[bytes]:
    """Lines further left than their own block, such as comments at the margin. They stay in place."""
    lines = old.replace(b"\r\n", b"\n").split(b"\n")[1:]
    return {line for line in lines if line.strip() and not line.startswith(indent)}


def _leading_space(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(b" \t"))]


def _reindented(line: bytes, swap: tuple[bytes, bytes] | None) -> bytes:
    """Translate levels of one unit of indentation into another."""
    if swap is None:
        return line
    levels = 0
    while line.startswith(swap[0]):
        line = line.removeprefix(swap[0])
        levels += 1
    return swap[1] * levels + line
