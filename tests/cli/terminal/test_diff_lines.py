"""Diffs in the terminal: numbers of parts and lines, colours, and the words that differ."""

import io
import re
import sys

import pytest

from interlock.cli.terminal.asking.diff_lines import diff_lines
from interlock.cli.terminal.output import terminal_safe

GIT = """\
diff --git a/x.py b/x.py
index 1111111..2222222 100644
--- a/x.py
+++ b/x.py
@@ -8,4 +8,5 @@ def f():
 a
-total = count + 1
+total = length + 1
+more
 b
\\ No newline at end of file
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the test itself: pytest replaces stdout after its fixtures."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())


def test_parts_and_lines_are_numbered() -> None:
    assert diff_lines(GIT)[4:] == [
        "  [1] @@ -8,4 +8,5 @@ def f():",
        "   8  a",
        "   9 -total = count + 1",
        "   9 +total = length + 1",
        "  10 +more",
        "  11  b",
        "     \\ No newline at end of file",
    ]


def test_lines_are_coloured_and_the_words_that_differ_stand_out(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    lines = [terminal_safe(line) for line in diff_lines(GIT, numbered=False)]
    assert lines[2] == "  \x1b[1m--- a/x.py\x1b[0m"
    assert "\x1b[31m-total = \x1b[0m\x1b[1;4;31mcount\x1b[0m\x1b[31m + 1\x1b[0m" in lines[6]
    assert "\x1b[32m+total = \x1b[0m\x1b[1;4;32mlength\x1b[0m\x1b[32m + 1\x1b[0m" in lines[7]


def test_hostile_lines_are_shown_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    tool = "a\x1b[31m.txt [1] @@ -1,1 +1,1 @@\n-o\u202end\n+n\u202eed\x1b[2J\n"
    printed = "\n".join(terminal_safe(line) for line in diff_lines(tool))
    assert not set("\x1b\u202e") & set(re.sub(r"\x1b\[[0-9;]*m", "", printed))
    assert "<U+001B>[2J" in re.sub(r"\x1b\[[0-9;]*m", "", printed)


def test_a_diff_that_is_cut_off_or_empty_is_shown_as_far_as_it_goes() -> None:
    assert diff_lines("") == []
    assert diff_lines("@@ -1,9 +1,9 @@\n one\n-tw") == ["  @@ -1,9 +1,9 @@", "  1  one", "  2 -tw"]
    assert diff_lines("+ no diff") == ["  + no diff"]
