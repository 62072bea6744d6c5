"""Text from elsewhere cannot steer the terminal or hide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.views.display import one_line, pieces, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äöü 日本 🙂", "plain äöü 日本 🙂"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdcs\x1b\\x", "x"),
        ("\x1b", ""),
        ("a\x1b(Bb", "a(Bb"),
        ("bell\x07 back\x08 nul\x00", "bell<U+0007> back<U+0008> nul<U+0000>"),
        ("abc\u202edef", "abc<U+202E>def"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("c1 \x9b31m", "c1 <U+009B>31m"),
        ("lines\r\nand\ttabs\n", "lines\nand\ttabs\n"),
        ("over\rwrite", "over<U+000D>write"),
        ("\udcff", "<U+DCFF>"),
    ],
)
def test_escapes_go_and_what_cannot_be_seen_is_named(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_one_line_is_the_first_shortened() -> None:
    assert one_line("\nfirst\nsecond") == "first"
    assert one_line("x" * 10, 5) == "xxxx…"


@given(st.text(), st.integers(1, 30))
def test_the_pieces_of_a_line_are_the_line(line: str, columns: int) -> None:
    found = pieces(line, columns)
    assert "".join(found) == line
    assert all(len(each) <= columns for each in found)
    assert len(found) >= 1
