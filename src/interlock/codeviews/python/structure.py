"""Implements the port `Structure`: Python sources by their definitions, with the parser of the views."""

from interlock.codeviews.folders.one import title_of_file
from interlock.codeviews.python import changes, facts
from interlock.codeviews.python.definitions import Source, Span, decoded, encoded
from interlock.codeviews.python.syntax_errors import problems
from interlock.codeviews.syntax.detect import language_of
from interlock.codeviews.views.view import view
from interlock.ports.tools import ClassFound, Mention


class PythonStructure:
    def summary(self, path: str, text: str) -> str:
        source = encoded(text)
        language = language_of(path, source)
        return decoded(view("summary", source, language, title_of_file(path, language)))

    def skeleton(self, text: str) -> str:
        return decoded(view("skeleton", encoded(text), "python"))

    def outline(self, text: str) -> str:
        return decoded(view("outline", encoded(text), "python"))

    def definition(self, text: str, name: str, line: int = 0) -> str:
        source = Source(text)
        return source.text_of(source.whole_lines(source.definition(name, line).outer))

    def with_definition(self, text: str, name: str, new: str, line: int = 0) -> str:
        return changes.with_definition(text, name, new, line)

    def signature(self, text: str, name: str, line: int = 0) -> str:
        source = Source(text)
        node = source.definition(name, line).node
        return source.dedented(node, source.header(node))

    def with_signature(self, text: str, name: str, new: str, line: int = 0) -> str:
        return changes.with_signature(text, name, new, line)

    def variable(self, text: str, name: str, line: int = 0) -> str:
        source = Source(text)
        node = source.variable(name, line).node
        return source.dedented(node, Span(node.start_byte, node.end_byte))

    def with_variable(self, text: str, name: str, new: str, line: int = 0) -> str:
        return changes.with_variable(text, name, new, line)

    def class_summary(self, text: str, name: str, line: int = 0) -> str:
        source = Source(text)
        return facts.class_summary(source, source.definition(name, line))

    def docstring(self, text: str, name: str, line: int = 0) -> str:
        source = Source(text)
        return facts.docstring(source, source.definition(name, line).node if name else source.root)

    def imports(self, text: str) -> tuple[str, ...]:
        return tuple(facts.imports(Source(text)))

    def mentions(self, text: str, name: str) -> tuple[Mention, ...]:
        return tuple(facts.mentions(Source(text), name))

    def classes(self, text: str) -> tuple[ClassFound, ...]:
        return tuple(facts.classes(Source(text)))

    def problems(self, text: str) -> tuple[str, ...]:
        return problems(encoded(text))
