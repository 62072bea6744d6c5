"""What a code view must know of a language: one table each, in the files beside this one."""

from typing import Literal

from msgspec import Struct

Style = Literal["python", "braces", "ruby", "bash"]


class LanguageTable(Struct, frozen=True, kw_only=True):
    """A language.

    `functions` are the kinds of nodes that have a body, `bodies` the kinds of nodes that are one (empty: any); a part
    of a file with none of `signs` in it holds no body. `outline` is a query that captures each definition under the
    word for it (@class, @func …) and its name as @name. Python's functions are found in a way of their own.
    """

    module: str  # of the grammar's wheel
    entry: str = "language"
    style: Style = "braces"
    functions: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    expressions: frozenset[str] = frozenset()  # functions whose body may be any expression, whatever `bodies` says
    signs: tuple[bytes, ...] = (b"{",)
    skipped: frozenset[str] = frozenset()  # kinds of nodes that hold no body, whatever signs are in them
    entered: frozenset[str] = frozenset()  # kinds of nodes whose children may hold a body without any sign of it
    outline: str = ""
    declarators: bool = False  # a function definition is one only if it declares a function: macros look like it
    preprocessor: bool = False  # #if and #endif may cross the borders of bodies
