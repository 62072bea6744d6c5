"""External text cannot control the terminal or hide characters."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.views.display import exact, one_line, pieces, quoted_path, safe


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
        ("a\U0001bca0b\ufff0c\U0001d159d", "a<U+1BCA0>b<U+FFF0>c<U+1D159>d"),
        ("\ue000 \u0378 \U000f0000 \U0010ffff", "<U+E000> <U+0378> <U+F0000> <U+10FFFF>"),
        ("nbsp\u00a0 cafe\u0301", "nbsp\u00a0 cafe\u0301"),
    ],
)
def test_escapes_go_and_what_cannot_be_seen_is_named(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äöü 日本 🙂\n\ttab", "plain äöü 日本 🙂\n\ttab"),
        ("echo hi\n\x1b]0;\nrm -rf ~\n\x07", "echo hi\n<U+001B>]0;\nrm -rf ~\n<U+0007>"),
        ("a\x1b[31mb\x1bPc\x1b\\d", "a<U+001B>[31mb<U+001B>Pc<U+001B>\\d"),
        ("one\r\ntwo", "one<U+000D>\ntwo"),
        ("rm\u00a0x\u2028y\u3000z\u2800", "rm<U+00A0>x<U+2028>y<U+3000>z<U+2800>"),
        ("a\ufe0fb\U000e0101c\u3164d\u200b", "a<U+FE0F>b<U+E0101>c<U+3164>d<U+200B>"),
        ("e\u0301 \u00e9", "e<U+0301> \u00e9"),
    ],
)
def test_no_character_of_a_script_is_left_out(text: str, shown: str) -> None:
    """A terminal hides the text of an escape sequence; a shell runs it."""
    assert exact(text) == shown


@pytest.mark.parametrize("show", [safe, exact])
def test_no_character_that_has_no_glyph_is_shown_as_nothing(show: Callable[[str], str]) -> None:
    invisible = [chr(code) for code in range(0x110000) if _is_invisible(code)]
    assert len(invisible) > 800_000
    assert [char for char in invisible if show(char) == char and char not in "\n\t"] == []


def _is_invisible(code: int) -> bool:
    """Other and line separators by category, and the characters that Unicode lets a renderer ignore."""
    ignorable = (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0)
    ranges = (
        (0x180B, 0x180F),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0xFFF0, 0xFFF8),
        (0xE0000, 0xE0FFF),
    )
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") or code in ignorable:
        return True
    return any(first <= code <= last for first, last in ranges)


@given(st.text())
def test_a_script_is_shown_character_by_character(text: str) -> None:
    assert exact(text) == "".join(exact(letter) for letter in text)
    assert all(exact(letter) in (letter, f"<U+{ord(letter):04X}>") for letter in text)
    assert "\x1b" not in exact(text)


def test_one_line_is_the_first_shortened() -> None:
    assert one_line("\nfirst\nsecond") == "first"
    assert one_line("x" * 10, 5) == "xxxx…"


@given(st.text(), st.integers(1, 30))
def test_the_pieces_of_a_line_are_the_line(line: str, columns: int) -> None:
    parts = pieces(line, columns)
    assert "".join(parts) == line
    assert all(len(each) <= columns for each in parts)
    assert len(parts) >= 1


def test_a_name_is_shown_as_it_is_unless_it_could_be_taken_for_another() -> None:
    for plain in ("a.py", "ü/名前.py", "a b <==", "😀.md"):
        assert quoted_path(plain) == plain
    assert quoted_path('a\n\t\r"\\') == r'"a\n\t\r\"\\"'
    assert quoted_path("\x1b[0m\u202e\U000e0001\udcff\ud800") == r'"\u001b[0m\u202e\U000e0001\xff\ud800"'


@given(st.text(), st.text())
def test_two_names_are_never_shown_alike(one: str, other: str) -> None:
    assert (quoted_path(one) == quoted_path(other)) == (one == other)
    assert len(quoted_path(one).splitlines()) <= 1
