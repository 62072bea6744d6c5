"""What a code view must know of a language: one table each, in the files beside this one."""

from typing import Literal

from msgspec import Struct

Style = Literal["python", "braces", "ruby", "bash"]


class Table(Struct, frozen=True, kw_only=True):
    """A language.

    `bodies` is a query that captures each function body as @body; Python's are found by a walk instead. `outline`
    captures each definition under the word for it (@class, @func …) and its name as @name.
    """

    module: str  # of the grammar's wheel
    entry: str = "language"
    style: Style = "braces"
    bodies: str = ""
    outline: str = ""
    preprocessor: bool = False  # #if and #endif may cross the borders of bodies
