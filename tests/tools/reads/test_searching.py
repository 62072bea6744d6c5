"""grep: matches, their format, and a limit on the run time."""

import asyncio
import re
import time
from collections.abc import Callable

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.ports.processes import Sandbox
from interlock.ports.tools import ToolPlace
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from interlock.tools.reads.grep_program import literal
from interlock.tools.reads.searching import Grep, Searching
from tests.sandbox.scenes import ENV
from tests.tools.desk import Desk

SANDBOXES: dict[str, Callable[[], Sandbox]] = {"bubblewrap": BubblewrapSandbox, "off": UnconfinedSandbox}
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


@pytest.mark.parametrize("level", SANDBOXES)
def test_lines_are_found_on_every_sandbox_level(desk: Desk, level: str) -> None:
    desk = Desk(desk.folder, SANDBOXES[level]())
    desk.put("b/file.py", "import os\nimport sys\n")
    desk.put("a.py", "x = 1\nimport os")
    desk.put("c.txt", "import os\n")
    assert (
        desk.does("grep", pattern=r"^import\s+os$") == "a.py:2: import os\nb/file.py:1: import os\nc.txt:1: import os"
    )
    assert (
        desk.does("grep", pattern="import", glob="*.py", path="b") == "b/file.py:1: import os\nb/file.py:2: import sys"
    )
    assert desk.does("grep", pattern="IMPORT OS", ignore_case=True, path="c.txt") == "c.txt:1: import os"
    assert desk.does("grep", pattern="IMPORT OS") == "No line matches."


def test_lines_around_are_shown_once_and_gaps_are_marked(desk: Desk) -> None:
    desk.put("f", TEXT)
    assert desk.does("grep", pattern="one|two|six", context=1).splitlines() == [
        "f:1: one",
        "f:2: two",
        "f-3- three",
        "--",
        "f-5- five",
        "f:6: six",
        "f-7- seven",
    ]
    assert "--" not in desk.does("grep", pattern="one|five", context=2).splitlines()


@pytest.mark.parametrize("pattern", ["(", "*", "[z-a]", "(?P<1>x)", "a{2,1}", "(" * 500 + ")" * 500, "x{99999999999}"])
def test_an_invalid_expression_is_reported(desk: Desk, pattern: str) -> None:
    desk.put("f", TEXT)
    assert desk.refuses("grep", pattern=pattern).startswith("The pattern is not a regular expression: ")


@pytest.mark.parametrize("pattern", ["", "x" * 1_001])
def test_a_pattern_has_a_length(desk: Desk, pattern: str) -> None:
    assert desk.refuses("grep", pattern=pattern) == "A pattern has 1 to 1,000 characters."


def test_an_expression_that_never_ends_is_stopped_and_what_was_found_is_kept(desk: Desk) -> None:
    desk.put("a", "aaab\n")
    desk.put("b", "a" * 60 + "\n")
    searching = Searching(UnconfinedSandbox(), ENV, ClosedNames(), seconds=0.2)
    begun = time.monotonic()
    text = asyncio.run(searching.grep(ToolPlace(str(desk.folder)), Grep("(a+a+)+b")))
    assert text.splitlines()[0] == "a:1: aaab"
    assert "the pattern takes too long" in text
    assert time.monotonic() - begun < 4


def test_a_search_that_takes_too_long_ends_with_what_it_found(desk: Desk) -> None:
    desk.put("a", "x\n")
    desk.put("b", "y\n" * 1_000_000)
    searching = Searching(UnconfinedSandbox(), ENV, ClosedNames(), seconds=0.01)
    text = asyncio.run(searching.grep(ToolPlace(str(desk.folder)), Grep("[xz]")))
    assert text.splitlines() == ["a:1: x", "[… stopped: there was no time to search everything; give a path or a glob]"]


def test_a_search_that_cannot_run_is_a_failure(desk: Desk) -> None:
    desk.put("a", "x")
    searching = Searching(UnconfinedSandbox(), {"a=b": "c"}, ClosedNames())
    with pytest.raises(ToolFailure, match="could not be run: an environment name"):
        asyncio.run(searching.grep(ToolPlace(str(desk.folder)), Grep("x")))


def test_too_many_matches_are_cut(desk: Desk) -> None:
    desk.put("f", "match\n" * 1_000)
    rows = desk.does("grep", pattern="match").splitlines()
    assert len(rows) == 501
    assert rows[-1] == "[… only the first 500 matches are shown; narrow the pattern, path or glob]"


def test_long_lines_do_not_make_the_text_too_long(desk: Desk) -> None:
    desk.put("f", ("x" * 5_000 + "match" + "y" * 5_000 + "\n") * 1_000)
    text = desk.does("grep", pattern="match", context=20)
    assert len(text) <= 40_000
    assert f"f:1: …{'x' * 100}match{'y' * 195}…" in text


def test_other_encodings_are_searched_and_binary_files_are_not(desk: Desk) -> None:
    desk.put("latin", "grün\n".encode("latin-1"))
    desk.put("marked", b"\xef\xbb\xbfgr\xc3\xbcn\n")
    desk.put("wide", "grün\r\n".encode("utf-16"))
    desk.put("binary", b"gr\xc3\xbcn\0\n")
    assert desk.does("grep", pattern="^grün$").splitlines() == ["latin:1: grün", "marked:1: grün", "wide:1: grün"]


def test_odd_names_stay_on_one_line(desk: Desk) -> None:
    desk.put("a\nb", "x")
    (desk.folder / "c\udcff").write_bytes(b"x")
    assert desk.does("grep", pattern="x").splitlines() == ['"a\\nb":1: x', "c\ufffd:1: x"]


def test_a_search_without_files_is_reported(desk: Desk) -> None:
    desk.put("a", "x")
    assert desk.does("grep", pattern="x", glob="*.py") == "There is no file to search."
    assert desk.refuses("grep", pattern="x", path="missing") == "There is no 'missing'."


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("import os", "import os"),
        ("^def foo$", "def foo"),
        ("foo.*barn", "barn"),
        ("colou?rs", "colo"),
        ("ab*cd", "cd"),
        ("ab+cd", "cd"),
        ("x.*?long", "long"),
        ("long+?x", "lon"),
        ("a|b", ""),
        ("(abc)?", ""),
        ("[abc]def", "def"),
        ("abc{0}d", "ab"),
        (r"\bclass\s+\w+\(Struct", "(Struct"),
        ("x(abc)+d", "abc"),
        ("x(?:abc)d", "xabcd"),
        ("x(?=abcd)", "x"),
        ("x(?i:abcd)", "x"),
        ("(?i)abcd", ""),
        ("(?x) a b c", "abc"),
        ("(a|b)cd", "cd"),
        (r"(ab)\1c", "ab"),
        (".*", ""),
    ],
)
def test_the_text_that_every_match_holds_is_seen_where_that_is_easy(pattern: str, text: str) -> None:
    assert literal(re.compile(pattern)) == text
