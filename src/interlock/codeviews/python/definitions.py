"""Python: definitions and variables by their dotted names."""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from interlock.codeviews.syntax.cuts import indentation, line_end, without_return
from interlock.codeviews.syntax.python_bodies import HOLDERS, is_docstring, readable
from interlock.codeviews.syntax.trees import captures, parse
from interlock.errors import ToolFailure

if TYPE_CHECKING:
    from tree_sitter import Node

DEFINITIONS = frozenset(["class_definition", "function_definition"])
ENTERED = HOLDERS | DEFINITIONS
_NAMED = 12

_Thing = TypeVar("_Thing", "Definition", "Variable")


class Span(NamedTuple):
    start: int
    end: int


class Definition(NamedTuple):
    name: str  # dotted
    node: "Node"
    outer: "Node"  # with its decorators


class Variable(NamedTuple):
    name: str
    node: "Node"  # the whole statement


class Source:
    """A source and its tree. Raises ToolFailure if the source cannot be parsed at all."""

    def __init__(self, text: str) -> None:
        self.bytes = encoded(text)
        if not readable(self.bytes):
            raise ToolFailure("A lone carriage return ends a line here, for Python but not for this tool's parser.")
        tree = parse(self.bytes, "python")
        if tree is None:
            raise ToolFailure("This file takes too long to parse.")
        self.root = tree.root_node

    def text_of(self, node: "Node | Span") -> str:
        start, end = node if isinstance(node, Span) else (node.start_byte, node.end_byte)
        return decoded(self.bytes[start:end])

    def scoped(self) -> "Iterator[tuple[str, Node]]":
        """All statements in order, each with the dotted name of its scope and a dot; empty for the module."""
        stack = [(self.root, "")]
        while stack:
            node, scope = stack.pop()
            if node is not self.root:
                yield scope, node
            if node.type in DEFINITIONS:
                scope = f"{scope}{self.name_of(node)}."
            if node is self.root or node.type in ENTERED:
                stack += [(child, scope) for child in reversed(node.named_children)]

    def name_of(self, definition: "Node") -> str:
        name = definition.child_by_field_name("name")
        return self.text_of(name) if name is not None else "?"

    def definitions(self) -> Iterator[Definition]:
        for scope, node in self.scoped():
            if node.type in DEFINITIONS:
                around = node.parent
                outer = around if around is not None and around.type == "decorated_definition" else node
                yield Definition(scope + self.name_of(node), node, outer)

    def variables(self) -> Iterator[Variable]:
        for scope, node in self.scoped():
            for name in self._declared(node):
                yield Variable(scope + name, node)

    def _declared(self, statement: "Node") -> Iterator[str]:
        """Names assigned by NAME = …, NAME: type, A = B = …, (A, *B) = …, type NAME = …"""
        if statement.type == "type_alias_statement":
            left = statement.child_by_field_name("left")
            named = left.named_children[:1] if left is not None else []
            if named and named[0].type == "generic_type":
                named = named[0].named_children[:1]
            yield from (self.text_of(name) for name in named if name.type == "identifier")
            return
        if statement.type != "expression_statement" or not statement.named_child_count:
            return
        value: Node | None = statement.named_children[0]
        while value is not None and value.type == "assignment":
            targets = [value.child_by_field_name("left")]
            while targets:
                target = targets.pop()
                if target is None:
                    continue
                if target.type == "identifier":
                    yield self.text_of(target)
                elif target.type in ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"):
                    targets += reversed(target.named_children)
            value = value.child_by_field_name("right")

    # ── one of them ──────────────────────────────────────────────────────────────────────

    def definition(self, name: str, line: int) -> Definition:
        return self._only_match(
            list(self.definitions()), name, line, "definition", lambda each: self.lines_of(each.outer)
        )

    def variable(self, name: str, line: int) -> Variable:
        return self._only_match(list(self.variables()), name, line, "assignment", lambda each: self.lines_of(each.node))

    def _only_match(
        self,
        every: "Sequence[_Thing]",
        name: str,
        line: int,
        what: str,
        lines: "Callable[[_Thing], tuple[int, int]]",
    ) -> "_Thing":
        wanted = name.strip()
        named = [each for each in every if each.name == wanted]
        if not named:
            raise ToolFailure(f"There is no {what} of {wanted!r}.{_nearest(wanted, every, lines)}")
        if line:
            chosen = [each for each in named if lines(each)[0] <= line <= lines(each)[1]]
            if len(chosen) == 1:
                return chosen[0]
        if len(named) == 1 and not line:
            return named[0]
        where = ", ".join(f"{first}-{last}" for first, last in map(lines, named[:_NAMED]))
        if len(named) > _NAMED:
            where += f" and {len(named) - _NAMED} more"
        if line:
            raise ToolFailure(f"No {what} of {wanted!r} is at line {line}; there is one at lines {where}.")
        raise ToolFailure(f"{wanted!r} has {len(named)} {what}s, at lines {where}. Choose one with the argument line.")

    # ── places ───────────────────────────────────────────────────────────────────────────

    def lines_of(self, node: "Node") -> tuple[int, int]:
        return node.start_point.row + 1, node.end_point.row + 1

    def whole_lines(self, node: "Node") -> Span:
        """From the start of its first line, if only white space precedes it, to the end of its last line."""
        start = self.bytes.rfind(b"\n", 0, node.start_byte) + 1
        if self.bytes[start : node.start_byte].strip(b" \t\f"):
            start = node.start_byte
        return Span(start, line_end(self.bytes, without_return(self.bytes, node.end_byte)))

    def header(self, definition: "Node") -> Span:
        """From `def`, `async` or `class` to the colon."""
        colon = next((child for child in definition.children if child.type == ":"), None)
        if colon is None:
            raise ToolFailure("The line of this definition does not parse: it has no colon.")
        return Span(definition.start_byte, colon.end_byte)

    def dedented(self, node: "Node", span: Span) -> str:
        """The text without its indentation. It can be inserted again at the same or another depth."""
        indent = indentation(self.bytes, span.start)
        strings = captures("python", "(string) @string", node).get("string", [])
        inside = {row for text in strings for row in range(text.start_point.row + 1, text.end_point.row + 1)}
        first = self.bytes.count(b"\n", 0, span.start)
        lines = self.bytes[span.start : span.end].split(b"\n")
        return decoded(
            b"\n".join(
                line if row in inside else line.removeprefix(indent) for row, line in enumerate(lines, start=first)
            )
        )

    def docstring(self, definition: "Node") -> "Node | None":
        """The docstring expression of a definition or of the module."""
        body = definition if definition is self.root else definition.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if child.type != "comment":
                return child if is_docstring(self.bytes, child) else None
        return None


def encoded(text: str) -> bytes:
    """Encodes lone surrogates too: the writer of the file reports them."""
    return text.encode("utf-8", "surrogatepass")


def decoded(source: bytes) -> str:
    return source.decode("utf-8", "surrogatepass")


def _nearest(name: str, every: "Sequence[_Thing]", lines: "Callable[[_Thing], tuple[int, int]]") -> str:
    """Suggestions: names with the same last part, else similar names."""
    places = {each.name: lines(each)[0] for each in reversed(every)}
    last = name.rpartition(".")[2]
    near = [known for known in sorted(places, key=places.__getitem__) if known.rpartition(".")[2] == last]
    near = near or get_close_matches(name, places, n=3, cutoff=0.5)
    if not near:
        return ""
    return f" The nearest: {', '.join(f'{known} (line {places[known]})' for known in near[:_NAMED])}."
