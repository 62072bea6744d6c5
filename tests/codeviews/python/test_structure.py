"""Python sources by definition: lookups, messages about missing names, and changes."""

import pytest

from interlock.codeviews.python.structure import PythonStructure
from interlock.errors import ToolFailure
from interlock.ports.tools import Mention, Structure

STRUCTURE: Structure = PythonStructure()
SHAPES = '''\
"""Shapes."""

import math
from typing import overload

SIDES: dict[str, int] = {}
LOW, (HIGH, *REST) = 1, (2, 3)


class Shape:
    """What all have.

    And more.
    """

    name: str = "shape"

    @property
    def area(self) -> float:
        return 0.0  # none

    @area.setter
    def area(self, value: float) -> None:
        raise TypeError

    @classmethod
    async def load(
        cls,
        path: str,  # where it is
    ) -> "Shape":
        """Read it."""

        def inner():
            return cls
            # still inner

        return inner()()


class Square(Shape): pass


def side(of, /, *, unit="m"): return of
'''


def refusal(call: str, *args: object, text: str = SHAPES) -> str:
    with pytest.raises(ToolFailure) as caught:
        getattr(STRUCTURE, call)(text, *args)
    return str(caught.value)


# ── finding ──────────────────────────────────────────────────────────────────────────────


def test_a_definition_is_whole_lines_with_its_decorators_and_the_comments_in_it() -> None:
    assert STRUCTURE.definition(SHAPES, "Shape.load.inner") == (
        "        def inner():\n            return cls\n            # still inner"
    )
    assert STRUCTURE.definition(SHAPES, "Shape.load").startswith("    @classmethod\n    async def load(\n")
    assert STRUCTURE.definition(SHAPES, "Square") == "class Square(Shape): pass"


def test_several_definitions_of_one_name_are_distinguished_by_line() -> None:
    assert refusal("definition", "Shape.area") == (
        "'Shape.area' has 2 definitions, at lines 18-20, 22-24. Choose one with the argument line."
    )
    assert "@area.setter" in STRUCTURE.definition(SHAPES, "Shape.area", 23)
    assert refusal("definition", "Shape.area", 21) == (
        "No definition of 'Shape.area' is at line 21; there is one at lines 18-20, 22-24."
    )


def test_a_name_that_is_not_there_is_answered_with_the_nearest() -> None:
    assert refusal("definition", "load") == "There is no definition of 'load'. The nearest: Shape.load (line 26)."
    assert refusal("definition", "Sqare") == (
        "There is no definition of 'Sqare'. The nearest: Square (line 40), Shape (line 10), Shape.area (line 18)."
    )
    assert refusal("definition", "zzz") == "There is no definition of 'zzz'."
    assert (
        refusal("variable", "Shape.nam") == "There is no assignment of 'Shape.nam'. The nearest: Shape.name (line 16)."
    )


def test_a_signature_ends_with_its_colon() -> None:
    assert STRUCTURE.signature(SHAPES, "Square") == "class Square(Shape):"
    assert STRUCTURE.signature(SHAPES, "side") == 'def side(of, /, *, unit="m"):'
    assert STRUCTURE.signature(SHAPES, "Shape.load") == (
        'async def load(\n    cls,\n    path: str,  # where it is\n) -> "Shape":'
    )


def test_variables_are_found_in_every_scope_and_pattern() -> None:
    assert STRUCTURE.variable(SHAPES, "Shape.name") == 'name: str = "shape"'
    for name in ("LOW", "HIGH", "REST"):
        assert STRUCTURE.variable(SHAPES, name) == "LOW, (HIGH, *REST) = 1, (2, 3)"
    assert STRUCTURE.variable("a = 1; b = c = [\n 2]\n", "c") == "b = c = [\n 2]"
    assert STRUCTURE.variable("type Pair[T] = tuple[T, T]\n", "Pair") == "type Pair[T] = tuple[T, T]"


def test_the_summary_of_a_class() -> None:
    assert (
        STRUCTURE.class_summary(SHAPES, "Shape")
        == '''\
class Shape:  # lines 10-37
    """What all have.

    And more."""
    name: str = "shape"  # line 16
    @property
    def area(self) -> float: ...  # line 19
    @area.setter
    def area(self, value: float) -> None: ...  # line 23
    @classmethod
    async def load(cls, path: str) -> "Shape": ...  # line 27'''
    )
    assert refusal("class_summary", "side") == "'side' is a function, not a class; use py_get_definition."


def test_imports_of_every_kind() -> None:
    text = (
        "from __future__ import annotations\nimport a.b as c, d\ndef f():\n"
        "    from .. x import (\n        y as z,  # why\n        w)\nfrom q import *\n"
    )
    assert STRUCTURE.imports(text) == (
        "1: from __future__ import annotations",
        "2: import a.b as c, d",
        "4: from ..x import y as z, w  [in f]",
        "7: from q import *",
    )


def test_mentions_are_code_and_not_words_in_strings_or_comments() -> None:
    text = "from m import name\nname = 1\n# name\nprint('name', name, other.name)\ndef name(): pass\nnames = 2\n"
    assert STRUCTURE.mentions(text, "name") == (
        Mention(1, "import", "from m import name"),
        Mention(2, "definition", "name = 1"),
        Mention(4, "use", "print('name', name, other.name)"),
        Mention(5, "definition", "def name(): pass"),
    )


def test_mentions_of_a_dotted_name_belong_to_it() -> None:
    text = (
        "class A:\n    def run(self):\n        return self.run\nclass B:\n    def run(self): return self.run\n"
        "A.run\nB.run\nx.A.run()\nrun()\nimport A.run\n"
    )
    assert [one.line for one in STRUCTURE.mentions(text, "A.run")] == [2, 3, 6, 8, 10]
    assert refusal("mentions", "not a name") == "'not a name' is not a name; give one such as Class.method"


def test_a_syntax_error_is_reported_with_its_line() -> None:
    assert STRUCTURE.problems(SHAPES) == ()
    first, second = STRUCTURE.problems("x = 1\ndef f(:\n    pass\n")
    assert first.startswith("line 2: ")
    assert second == "the grammar reports errors at line 2"
    (first, _) = STRUCTURE.problems("def f():\nx = 1\n")  # the grammar alone accepts it
    assert first.startswith("line 2: expected an indented block")


@pytest.mark.parametrize(
    "word", ["a" + ".b" * 50_000, "-" * 100_000 + "1", "(" * 50_000, "a(" * 50_000, "\0", "\ud800"]
)
def test_hostile_sources_are_answered(word: str) -> None:
    assert STRUCTURE.problems(f"x = {word}\n")


def test_a_lone_carriage_return_is_refused() -> None:
    assert refusal("definition", "f", text="x = 1\rdef f(): pass\n").startswith("A lone carriage return")


# ── changing ─────────────────────────────────────────────────────────────────────────────


def test_a_new_definition_takes_the_place_of_the_old_at_its_depth() -> None:
    changed = STRUCTURE.with_definition(
        SHAPES, "Shape.load.inner", '@cache\ndef inner():\n    """Two\n    lines."""\n    return """\n  as is\n"""\n'
    )
    old = "        def inner():\n            return cls\n            # still inner\n"
    new = (
        '        @cache\n        def inner():\n            """Two\n            lines."""\n'
        '            return """\n  as is\n"""\n'
    )
    assert changed == SHAPES.replace(old, new)


def test_a_new_definition_may_have_any_indentation() -> None:
    changed = STRUCTURE.with_definition(SHAPES, "side", "      def side():\n        return 1")
    assert changed == SHAPES.replace('def side(of, /, *, unit="m"): return of', "def side():\n  return 1")


def test_tabs_and_line_endings_of_the_file_stay() -> None:
    text = "class A:\r\n\tdef f(self):\r\n\t\treturn 1\r\n\tx = 1\r\n"
    changed = STRUCTURE.with_definition(text, "A.f", "def f(self):\n    if self:\n        return 2")
    assert changed == "class A:\r\n\tdef f(self):\r\n\t\tif self:\r\n\t\t\treturn 2\r\n\tx = 1\r\n"
    assert STRUCTURE.with_variable(text, "A.x", "x = (\n    2)") == text.replace("x = 1", "x = (\r\n\t    2)")


def test_a_file_without_a_last_newline_stays_so() -> None:
    assert STRUCTURE.with_definition("def f(): pass", "f", "def f(): return 1\n") == "def f(): return 1"


def test_a_signature_is_replaced_and_its_body_stays() -> None:
    assert STRUCTURE.with_signature(SHAPES, "side", "def side(of: int) -> int") == SHAPES.replace(
        'def side(of, /, *, unit="m"): return of', "def side(of: int) -> int: return of"
    )
    changed = STRUCTURE.with_signature(SHAPES, "Shape.load", "    async def load(\n        cls,\n    ):")
    assert STRUCTURE.signature(changed, "Shape.load") == "async def load(\n    cls,\n):"
    assert STRUCTURE.definition(changed, "Shape.load.inner") == STRUCTURE.definition(SHAPES, "Shape.load.inner")


def test_signatures_and_variables_can_be_written_back_in_place() -> None:
    text = (
        'class A:\n    def f(self,\n          a):\n        pass\n    x = [\n        1,\n        """\n    s""",\n    ]\n'
    )
    signature, variable = STRUCTURE.signature(text, "A.f"), STRUCTURE.variable(text, "A.x")
    assert (signature, variable) == ("def f(self,\n      a):", 'x = [\n    1,\n    """\n    s""",\n]')
    assert STRUCTURE.with_signature(text, "A.f", signature.replace("a)", "b)")) == text.replace("a)", "b)")
    assert STRUCTURE.with_variable(text, "A.x", variable.replace("1", "2")) == text.replace("1,", "2,")


def test_comments_at_the_margin_of_a_definition_stay_there() -> None:
    text = "class A:\n    def f(self):\n        go(\n  1)\n##    old()\n        return 1\n"
    read = STRUCTURE.definition(text, "A.f")
    for given in (read, "\n".join(line.removeprefix("    ") for line in read.split("\n"))):
        changed = STRUCTURE.with_definition(text, "A.f", given.replace("return 1", "return 2"))
        assert changed == text.replace("return 1", "return 2")
    new = read.replace("##    old()", "# new")
    assert "\n    # new\n" in STRUCTURE.with_definition(text, "A.f", new), "that comment was not at the margin"


def test_a_variable_is_replaced_alone_on_its_line() -> None:
    assert STRUCTURE.with_variable("a = 1; b = 2  # two\n", "b", "b: int = 3") == "a = 1; b: int = 3  # two\n"


@pytest.mark.parametrize(
    ("call", "args", "message"),
    [
        ("with_definition", ("side", ""), "new_definition is empty; to delete something use edit_file."),
        ("with_definition", ("side", "def f(:"), "new_definition does not parse by itself."),
        ("with_definition", ("side", "x = 1"), "new_definition must be the whole definition"),
        ("with_definition", ("Square", "class Square(Shape): pass"), "The code is already exactly this"),
        ("with_definition", ("side", "def f():\n"), "Nothing was changed: the file would not parse any more: line 4"),
        (
            "with_signature",
            ("side", "class side"),
            "new_signature must be one header up to its colon, such as def side(",
        ),
        ("with_signature", ("side", "def side(a): return 1"), "new_signature does not parse by itself."),
        ("with_variable", ("LOW", "def f(): pass"), "new_declaration must be one assignment, such as LOW = 1"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(call: str, args: tuple[str, ...], message: str) -> None:
    assert refusal(call, *args).startswith(message)


def test_in_a_file_that_does_not_parse_only_sound_places_change() -> None:
    text = "def good():\n    return 1\n\n\nx = 1\n\n\ndef bad(:\n    return 2\n"
    assert "return 3" in STRUCTURE.with_definition(text, "good", "def good():\n    return 3\n")
    assert refusal("with_definition", "good", "def good(): (", text=text) == "new_definition does not parse by itself."
    torn = "def good():\n    return (1\n"
    assert refusal("with_definition", "good", "def good(): pass", text=torn).startswith("The file does not parse near")
