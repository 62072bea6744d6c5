"""The scanner finds the line of every key, in any TOML context."""

import tomllib
from textwrap import dedent
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlock.assembly.settings.toml_lines import key_lines


def test_every_form_of_key_is_found() -> None:
    text = dedent('''\
        # a comment with [brackets] and = signs
        plain = 1
        dotted . inner."quoted key" = "text # not a comment"
        long = """
        [not.a.table]
        fake = 1 \\"""
        """ # comment
        raw = \'\'\'
        also = "fake"\'\'\'
        list = [
          1, # ] not the end
          { deep = [2, "]"] }, "x",
        ]
        inline = { one = 1, two.three = 'x' }

        [table]
        key = 2024-01-01T10:00:00Z
        'literal key'=1
        [ spaced . "header" ]
        key = true
        [[items]]
        name = "first"
        [[items]]
        name = "second"
        other = 5''')
    tomllib.loads(text)
    assert key_lines(text) == {
        ("plain",): 2,
        ("dotted",): 3,
        ("dotted", "inner"): 3,
        ("dotted", "inner", "quoted key"): 3,
        ("long",): 4,
        ("raw",): 8,
        ("list",): 10,
        ("list", "deep"): 12,
        ("inline",): 14,
        ("inline", "one"): 14,
        ("inline", "two"): 14,
        ("inline", "two", "three"): 14,
        ("table",): 16,
        ("table", "key"): 17,
        ("table", "literal key"): 18,
        ("spaced",): 19,
        ("spaced", "header"): 19,
        ("spaced", "header", "key"): 20,
        ("items",): 21,
        ("items", "name"): 22,
        ("items", "other"): 25,
    }


def test_escaped_quotes_and_keys_are_read_as_toml_reads_them() -> None:
    assert key_lines('"a\\u0062c" = "\\\\"\nnext = """a""" \nlast = """b\\\n"""""\nend = 1') == {
        ("abc",): 1,
        ("next",): 2,
        ("last",): 3,
        ("end",): 5,
    }


def test_an_empty_text_has_no_keys() -> None:
    assert key_lines("") == {}
    assert key_lines("\n# nothing\n") == {}


_VALUES = st.sampled_from(
    [
        "1",
        "-0.5",
        "true",
        '"x"',
        "'#'",
        '"""\n[a]\nb = 1"""',
        "'''\n'x'\n'''",
        "[]",
        "[\n1,\n[2], # ]\n]",
        "{}",
        "{ q = 1 }",
    ]
)
_NAMES = st.lists(st.sampled_from(["alpha", "beta", "'g.h'", '"d\\"e"']), min_size=1, max_size=3)


@given(st.lists(st.tuples(st.booleans(), _NAMES, _VALUES), max_size=8))
def test_whatever_tomllib_reads_has_a_line_for_every_key(parts: list[tuple[bool, list[str], str]]) -> None:
    text = "\n".join(
        f"[{'.'.join(names)}]" if table else f"{'.'.join(names)} = {value}" for table, names, value in parts
    )
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert _paths(values, ()) == set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def _paths(table: dict[str, Any], path: tuple[str, ...]) -> set[tuple[str, ...]]:
    paths = {(*path, name) for name in table}
    for name, value in table.items():
        if isinstance(value, dict):
            paths |= _paths(value, (*path, name))
    return paths
