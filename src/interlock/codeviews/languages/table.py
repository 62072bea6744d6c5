"""The facts about a language that code views need: one table per language, in the files beside this one."""

from typing import Literal

from msgspec import Struct

Style = Literal["python", "braces", "ruby", "bash"]


class LanguageTable(Struct, frozen=True, kw_only=True):
    """A language.

    `functions` are the kinds of nodes with a body, `bodies` the kinds of body nodes (empty: any kind). A node whose
    text contains none of `signs` has no body inside. `outline` is a query that captures each definition by its word
    (@class, @func …) and its name as @name. Python has its own search (syntax/python_bodies.py).
    """

    module: str  # the grammar's Python package
    entry: str = "language"
    style: Style = "braces"
    functions: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    expressions: frozenset[str] = frozenset()  # functions whose body may be any expression, regardless of `bodies`
    signs: tuple[bytes, ...] = (b"{",)
    skipped: frozenset[str] = frozenset()  # kinds of nodes without a body, regardless of signs
    entered: frozenset[str] = frozenset()  # kinds of nodes whose children may have a body without a sign
    outline: str = ""
    declarators: bool = False  # a definition counts only if it declares a function: macro calls look the same
    preprocessor: bool = False  # #if and #endif may cross the limits of bodies
