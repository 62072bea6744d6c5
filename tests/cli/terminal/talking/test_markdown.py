"""Markdown of a model in the terminal: laid out, nothing hidden, and nothing that steers the terminal."""

import io
import re
import sys

import pytest

from interlock.cli.terminal.talking.markdown import finished, markdown_lines, plain_lines


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the test itself: pytest replaces stdout after its fixtures."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())


def shown(text: str, columns: int = 40) -> list[str]:
    lines = markdown_lines(text, columns)
    assert all(width <= columns for _, width in lines)
    return [line.rstrip() for line, _ in lines]


def test_lists_code_and_tables_are_laid_out() -> None:
    text = "Some **bold** `code`.\n\n- one\n- two\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    lines = [line for line in shown(text) if line]
    assert lines[:3] == ["Some bold code.", " • one", " • two"]
    assert " x = 1" in lines
    assert " 1  2" in lines


def test_html_and_addresses_of_links_are_not_hidden() -> None:
    text = "A [link](http://x.example/evil) and <b>html</b>\n\n<!-- hidden -->\n\n![picture](http://y.example)"
    assert {"A link (http://x.example/evil) and", "<!-- hidden -->"} <= set(shown(text))
    assert "<b>html</b>" in "\n".join(shown(text))


def test_only_our_own_styles_reach_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    text = "\x1b[2Jcleared \x1b]8;;http://x\x07link\x1b]8;;\x07 \u202e `\x9b31m` [a](http://x)\n\n```\n\x1b[H\n```"
    printed = "\n".join(line for line, _ in markdown_lines(text, 60))
    assert not set("\x1b\x9b\u202e") & set(re.sub(r"\x1b\[[0-9;]*m", "", printed))
    assert "<U+202E>" in printed
    assert "<U+009B>31m" in printed
    codes = {code for codes in re.findall(r"\x1b\[([0-9;]*)m", printed) for code in codes.split(";")}
    assert codes
    assert all(len(code) <= 2 for code in codes), codes


def test_a_very_long_text_is_shown_as_it_is() -> None:
    text = "word " * 5_000
    assert "".join(shown(text)).replace(" ", "") == text.replace(" ", "")
    assert [line for line, _ in plain_lines("日本語" * 5, 10)] == ["日本語日本", "語日本語日", "本語日本語"]


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("one line", ""),
        ("one\n\ntwo", "one\n\n"),
        ("one\n\n", ""),  # what follows may belong to it
        ("- a\n\n  more of a", ""),
        ("- a\n\nnext", "- a\n\n"),
        ("```\ncode\n\nmore", ""),
        ("```\ncode\n\n```\n\nafter", "```\ncode\n\n```\n\n"),
        ("~~~\n```\n\n~~~\n\nafter", "~~~\n```\n\n~~~\n\n"),
        ("one\n\ntwo\n\nthree", "one\n\ntwo\n\n"),
    ],
)
def test_a_growing_text_is_final_up_to_its_last_paragraph(text: str, done: str) -> None:
    assert text[: finished(text)] == done
