"""Hunks: applying all, none or some of them; the real `patch` program accepts them."""

import random
import shutil
import subprocess
import time
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.ports.tools import Hunk
from interlock.tools.edits.hunks import FileChange, compare
from interlock.tools.edits.matching import replaced
from interlock.tools.files.texts import lines
from tests.tools.desk import Desk

OLD = "".join(f"{number}\n" for number in range(1, 41))
NEW = OLD.replace("5\n", "five\n", 1).replace("20\n", "").replace("38\n", "38\nnew\n")


def test_a_change_in_three_places_is_three_hunks() -> None:
    assert compare("file", OLD, NEW).hunks() == (
        Hunk(1, "file", "@@ -2,7 +2,7 @@", " 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"),
        Hunk(2, "file", "@@ -17,7 +17,6 @@", " 17\n 18\n 19\n-20\n 21\n 22\n 23\n"),
        Hunk(3, "file", "@@ -36,5 +35,6 @@", " 36\n 37\n 38\n+new\n 39\n 40\n"),
    )


@pytest.mark.parametrize(
    ("old", "new", "hunks"),
    [
        ("", "", ()),
        ("a\n", "a\n", ()),
        ("", "a\nb\n", (Hunk(1, "f", "@@ -0,0 +1,2 @@", "+a\n+b\n"),)),
        ("a\n", "", (Hunk(1, "f", "@@ -1,1 +0,0 @@", "-a\n"),)),
        ("a", "a\n", (Hunk(1, "f", "@@ -1,1 +1,1 @@", "-a\n\\ No newline at end of file\n+a\n"),)),
        ("a\nb", "c\nb", (Hunk(1, "f", "@@ -1,2 +1,2 @@", "-a\n+c\n b\n\\ No newline at end of file\n"),)),
        ("a\r\n", "b\r\n", (Hunk(1, "f", "@@ -1,1 +1,1 @@", "-a\r\n+b\r\n"),)),
    ],
)
def test_beginnings_and_ends(old: str, new: str, hunks: tuple[Hunk, ...]) -> None:
    assert compare("f", old, new).hunks() == hunks


@pytest.mark.parametrize(
    ("language", "around"),
    [
        ("class A:\n    def f(self):\n{}        x = 1\n", "def f(self)"),
        ("class A:\n    def f(self):\n        pass\n\n{}    y = 1\n", "class A"),
        ("export async function go() {{\n{}    x();\n}}\n", "export async function go()"),
        ("func (s *Server) Run() error {{\n{}\treturn nil\n}}\n", "func (s *Server) Run() error"),
        ("pub(crate) fn run() {{\n{}    x();\n}}\n", "pub(crate) fn run()"),
        ("def f():\n    pass\n\n{}X = 1\n", ""),
    ],
)
def test_the_header_names_the_definition_around(language: str, around: str) -> None:
    old = language.format("    pad()\n" * 9)
    last = old.rstrip("}\n").rsplit("\n", 1)[1]
    hunk = compare("f", old, old.replace(last, last + " # changed")).hunks()[0]
    assert hunk.header.partition(" @@")[2].strip() == around


def test_any_of_the_hunks_can_be_applied() -> None:
    change = compare("file", OLD, NEW)
    assert change.applied({1}) == OLD.replace("5\n", "five\n", 1)
    assert change.applied({2, 3}) == OLD.replace("20\n", "").replace("38\n", "38\nnew\n")


# ── any texts ───────────────────────────────────────────────────────────────────────────

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d\r", "x" * 5]), max_size=40).map("\n".join)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str]:
    """A text and an edit of it, or two unrelated texts."""
    old = draw(TEXTS)
    if draw(st.booleans()):
        return old, draw(TEXTS)
    new = lines(old)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(new)))
        new[at : at + draw(st.integers(0, 3))] = draw(st.lists(st.sampled_from(["new\n", "a\n", "\n"]), max_size=3))
    return old, "".join(new)


@given(changes())
@settings(max_examples=500)
def test_all_hunks_give_the_new_text_and_none_the_old(texts: tuple[str, str]) -> None:
    old, new = texts
    change = compare("f", old, new)
    assert change.applied({hunk.number for hunk in change.hunks()}) == new
    assert change.applied(()) == old
    assert (old == new) == (change.pieces == ())


@given(changes(), st.sets(st.integers(1, 10)))
@settings(max_examples=500)
def test_some_hunks_are_their_lines_and_no_others(texts: tuple[str, str], chosen: set[int]) -> None:
    change = compare("f", *texts)
    hunks = change.hunks()
    assert lines(change.applied(chosen)) == apply_by_text(list(change.old), [h for h in hunks if h.number in chosen])


@given(changes(), st.sets(st.integers(1, 10)))
def test_hunks_left_out_can_be_applied_later(texts: tuple[str, str], chosen: set[int]) -> None:
    old, new = texts
    some = compare("f", old, new).applied(chosen)
    rest = compare("f", some, new)
    assert rest.applied(range(1, len(rest.pieces) + 1)) == new


def apply_by_text(old: list[str], hunks: list[Hunk]) -> list[str]:
    """Applies hunks by their printed form only: the position in the header and the marked lines."""
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start, count = map(int, hunk.header.split()[1][1:].split(","))
        first = start - 1 if count else start
        result += old[at:first]
        marked = lines(hunk.text.replace("\n\\ No newline at end of file\n", "\0\n"))
        sides = [(line[0], line[1:].replace("\0\n", "")) for line in marked]
        result += [line for mark, line in sides if mark != "-"]
        removed = [line for mark, line in sides if mark != "+"]
        assert removed == old[first : first + count]
        at = first + count
    return result + old[at:]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@given(changes())
@settings(max_examples=25)
def test_git_reads_the_hunks(tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str]) -> None:
    old, new = texts
    if old == new or not old or not new:
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_bytes(old.encode())
    hunks = compare("f", old, new).hunks()
    patch = "--- a/f\n+++ b/f\n" + "".join(f"{hunk.header}\n{hunk.text}" for hunk in hunks)
    subprocess.run(["git", "apply", "-p1"], cwd=folder, input=patch.encode(), check=True)
    assert (folder / "f").read_bytes() == new.encode()


# ── duration ─────────────────────────────────────────────────────────────────────────────


def long_texts() -> tuple[str, str]:
    chance = random.Random(1)
    old = [chance.choice(["\n", "    return\n"] + [f"    x{n} = {n}\n"] * 4) for n in range(10_000)]
    new = list(old)
    for at in chance.sample(range(10_000), 50):
        new[at] = f"changed {at}\n"
    return "".join(old), "".join(new)


def test_a_long_file_with_many_edits_takes_no_time() -> None:
    """Compared with difflib in the same run, because machines differ."""
    old, new = long_texts()
    ours = min(timed(lambda: compare("f", old, new).hunks()) for _ in range(3))
    a, b = lines(old), lines(new)
    difflib_time = timed(lambda: SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    assert len(compare("f", old, new).hunks()) > 40
    assert ours < difflib_time / 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\n" * 50_000, "a\n" * 25_000 + "b\n" + "a\n" * 25_000),
        ("a\nb\n" * 20_000, "b\na\na\n" * 15_000),
        ("\n".join(str(n) for n in range(50_000)), "\n".join(str(n) for n in reversed(range(50_000)))),
        ("\n".join(str(n % 100) for n in range(50_000)), "\n".join(str(n * 7 % 100) for n in range(50_000))),
        ("\n".join(str(n) for n in range(50_000)), "\n".join(str(n) for n in range(1, 100_000, 2))),
    ],
)
def test_texts_made_to_be_slow_are_not(old: str, new: str) -> None:
    change: list[FileChange] = []
    assert timed(lambda: change.append(compare("f", old, new))) < 5
    assert timed(lambda: change[0].hunks()) < 5
    assert change[0].applied(range(1, 1 + len(change[0].pieces))) == new


def test_changes_that_touch_are_one() -> None:
    hunks = replaced(["a", "b", "c", "d"], ["x", "y", "c", "d"])
    assert [(piece.old, piece.old_end, piece.new, piece.new_end) for piece in hunks] == [(0, 2, 0, 2)]


def timed(work: object) -> float:
    assert callable(work)
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


# ── through the tools ────────────────────────────────────────────────────────────────────


def test_the_previewed_change_is_the_applied_change(desk: Desk) -> None:
    file = desk.put("file", OLD)
    preview = desk.preview("write_file", path="file", content=NEW)
    assert (preview.title, preview.hunks, preview.script) == ("Edit file", compare("file", OLD, NEW).hunks(), None)
    assert file.read_text() == OLD
    assert desk.does("write_file", path="file", content=NEW) == "Changed file: 2 lines added, 2 removed."
    assert file.read_text() == NEW


def test_only_the_approved_hunks_are_applied_and_reported_to_the_model(desk: Desk) -> None:
    file = desk.put("file", OLD)
    assert desk.does("write_file", (1, 3), path="file", content=NEW) == (
        "Changed file: 2 lines added, 1 removed.\n"
        "Of the 3 hunks these were NOT applied, because they were not approved:\n"
        "2: @@ -17,7 +17,6 @@\n 17\n 18\n 19\n-20\n 21\n 22\n 23\n"
    )
    assert file.read_text() == OLD.replace("5\n", "five\n", 1).replace("38\n", "38\nnew\n")


def test_no_hunk_approved_changes_nothing(desk: Desk) -> None:
    file = desk.put("file", OLD)
    assert desk.does("write_file", (), path="file", content=NEW) == (
        "Nothing was changed in file: none of the 3 hunks was approved."
    )
    assert desk.does("write_file", (), path="new", content="x").startswith("Nothing was changed in new")
    assert file.read_text() == OLD
    assert not Path(desk.folder, "new").exists()


def test_the_note_about_omitted_hunks_is_short(desk: Desk) -> None:
    desk.put("file", OLD)
    text = desk.does("write_file", (1,), path="file", content="new\n" + OLD + "x" * 100_000)
    assert len(text) <= 40_000
    assert text.endswith("xxx\n[… cut here]")


def test_a_hunk_that_is_not_there_is_refused(desk: Desk) -> None:
    desk.put("file", OLD)
    outcome = desk.outcome("write_file", (3, 4), path="file", content=NEW)
    assert (outcome.text, outcome.failed) == ("There is no hunk 4; the change has 3.", True)
