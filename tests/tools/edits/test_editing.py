"""edit_file, write_file, set_file_slice: changed text, unchanged text, and refusals."""

import codecs
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.tools.edits import places
from tests.tools.desk import Desk


def edited(desk: Desk, data: bytes | str, old: str, new: str, replace_all: bool = False) -> bytes:
    file = desk.put("file", data)
    desk.does("edit_file", path="file", old_string=old, new_string=new, replace_all=replace_all)
    return file.read_bytes()


def test_a_match_is_replaced(desk: Desk) -> None:
    desk.put("src/file.py", "a = 1\nb = 2\n")
    text = desk.does("edit_file", path="src/file.py", old_string="b = 2", new_string="b = 3\nc = 4")
    assert text == "Changed src/file.py: 2 lines added, 1 removed."
    assert (desk.folder / "src/file.py").read_text() == "a = 1\nb = 3\nc = 4\n"


def test_every_match_is_replaced_when_asked_for(desk: Desk) -> None:
    assert edited(desk, "aaa bab\na", "a", "xx", replace_all=True) == b"xxxxxx bxxb\nxx"


def test_an_ambiguous_match_is_refused_with_its_lines(desk: Desk) -> None:
    file = desk.put("file", "x\ny\nx\nz\nx\n")
    assert desk.refuses("edit_file", path="file", old_string="x\n", new_string="") == (
        "old_string is in file 3 times, at lines 1, 3 and 5. "
        "Give more of the text around the one you mean, or set replace_all."
    )
    assert file.read_text() == "x\ny\nx\nz\nx\n"


def test_matches_that_overlap_are_ambiguous(desk: Desk) -> None:
    desk.put("file", "aaa")
    assert "2 times, at lines 1 and 1" in desk.refuses("edit_file", path="file", old_string="aa", new_string="b")


def test_many_matches_are_counted_only_so_far(desk: Desk) -> None:
    desk.put("file", "a" * 200_000)
    assert "more than 1,000 times" in desk.refuses("edit_file", path="file", old_string="a", new_string="b")
    assert "the most that are replaced" in desk.refuses(
        "edit_file", path="file", old_string="a", new_string="b", replace_all=True
    )


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("nothing like it at all", "old_string is not in file."),
        (
            "def f(self):\npass",
            "old_string is not in file. It is there but for the white space, at lines 3–4:\n  def f(self):\n   pass",
        ),
        ("    def f(self, x):", "old_string is not in file. The nearest is, at line 3:\n  def f(self):"),
        ("", "old_string is empty; to make or replace a whole file use write_file."),
    ],
)
def test_a_missing_match_is_refused_with_the_nearest_lines(desk: Desk, old: str, message: str) -> None:
    desk.put("file", "class A:\n\n  def f(self):\n   pass\n")
    assert desk.refuses("edit_file", path="file", old_string=old, new_string="x") == message


def test_looking_for_the_nearest_lines_takes_no_time(desk: Desk) -> None:
    desk.put("file", "\n" * 1_000_000 + "".join(f"{'ab' * 90}{number}\n" for number in range(50_000)))
    begun = time.monotonic()
    for old in ("\n" * 1_000 + "x", "ba" * 100 + "\n" * 50_000):
        assert desk.refuses("edit_file", path="file", old_string=old, new_string="").startswith("old_string is not in")
    assert time.monotonic() - begun < 5


def test_an_edit_that_changes_nothing_is_refused(desk: Desk) -> None:
    desk.put("file", "a\r\n")
    for old, new in (("a", "a"), ("a\n", "a\r\n")):
        assert desk.refuses("edit_file", path="file", old_string=old, new_string=new) == (
            "old_string and new_string are the same, so nothing would change."
        )


# ── line endings and encodings ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\n", "x\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc", "c", "x\ny", "a\r\nb\r\nx\r\ny"),
        ("a\nb\nc\n", "a\r\nb", "x\r\ny", "x\ny\nc\n"),
        ("a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n"),
        ("a\r\nb\nc\n", "a", "x\ny", "x\r\ny\r\nb\nc\n"),
        ("a\r\nb\nc\n", "\nb", "", "a\nc\n"),
        ("a\rb\r\n", "a\rb", "c", "c\r\n"),
        ("only", "only", "x\ny\n", "x\ny\n"),
    ],
)
def test_line_endings_stay_as_they_are(desk: Desk, before: str, old: str, new: str, after: str) -> None:
    assert edited(desk, before, old, new) == after.encode()


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "latin-1"),
        (b"", "cp1252"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_the_encoding_and_the_mark_stay_as_they_are(desk: Desk, mark: bytes, encoding: str) -> None:
    quotes = "“”" if encoding == "cp1252" else ""
    before = f"grün{quotes}\r\nblau\r\n"
    assert edited(desk, mark + before.encode(encoding), "blau", "weiß\nschön") == (
        mark + f"grün{quotes}\r\nweiß\r\nschön\r\n".encode(encoding)
    )


@pytest.mark.parametrize("tool", ["edit_file", "write_file", "set_file_slice"])
def test_a_character_that_the_encoding_lacks_is_refused(desk: Desk, tool: str) -> None:
    file = desk.put("file", "grün\n".encode("latin-1"))
    args = {
        "edit_file": {"old_string": "gr", "new_string": "€"},
        "write_file": {"content": "€"},
        "set_file_slice": {"start_line": 1, "end_line": 1, "content": "€"},
    }[tool]
    assert desk.refuses(tool, path="file", **args) == ("The file is latin-1 text, which cannot hold '€' (U+20AC).")
    assert file.read_bytes() == "grün\n".encode("latin-1")


def test_a_character_that_no_file_can_hold_is_refused(desk: Desk) -> None:
    assert desk.refuses("write_file", path="new", content="\ud800") == "The text holds U+D800, which no file can hold."
    assert os.listdir(desk.folder) == []


def test_a_binary_file_is_not_edited(desk: Desk) -> None:
    desk.put("file", b"a\0b")
    assert desk.refuses("edit_file", path="file", old_string="a", new_string="b") == (
        "file is a binary file; it is not edited as text."
    )
    assert desk.refuses("write_file", path="file", content="x").startswith("file is a binary file")


def test_the_mode_stays_as_it_is(desk: Desk) -> None:
    file = desk.put("run.sh", "echo\n")
    file.chmod(0o750)
    desk.does("edit_file", path="run.sh", old_string="echo", new_string="ls")
    assert file.stat().st_mode & 0o7777 == 0o750
    assert os.listdir(desk.folder) == ["run.sh"]


# ── write_file ───────────────────────────────────────────────────────────────────────────


def test_a_file_is_made_with_the_folders_above_it(desk: Desk) -> None:
    assert desk.does("write_file", path="a/b/c.txt", content="x\ny") == "Created a/b/c.txt: 2 lines added, 0 removed."
    assert (desk.folder / "a/b/c.txt").read_bytes() == b"x\ny"
    assert (desk.folder / "a/b/c.txt").stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_an_empty_file_is_made(desk: Desk) -> None:
    assert desk.does("write_file", path="empty", content="") == "Created empty: no difference."
    assert (desk.folder / "empty").read_bytes() == b""


def test_a_rewritten_file_keeps_its_line_endings(desk: Desk) -> None:
    file = desk.put("file", "a\r\nb\r\n")
    desk.does("write_file", path="file", content="a\nc\n")
    assert file.read_bytes() == b"a\r\nc\r\n"


def test_writing_what_is_there_is_refused(desk: Desk) -> None:
    desk.put("file", "a\r\n")
    assert desk.refuses("write_file", path="file", content="a\n") == (
        "file already holds exactly this text; nothing would change."
    )


@pytest.mark.parametrize("path", ["folder", "folder/", "new/", "file/x"])
def test_where_no_file_can_be_none_is_written(desk: Desk, path: str) -> None:
    desk.put("folder/x", "")
    desk.put("file", "")
    desk.refuses("write_file", path=path, content="x")
    assert sorted(os.listdir(desk.folder)) == ["file", "folder"]


def test_a_text_that_is_too_large_is_refused(desk: Desk) -> None:
    assert "the most these tools write" in desk.refuses("write_file", path="x", content="x" * (16 * 1024 * 1024 + 1))


# ── set_file_slice ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "start", "end", "content", "after"),
    [
        ("1\n2\n3\n", 2, 2, "x\n", "1\nx\n3\n"),
        ("1\n2\n3\n", 2, 2, "x", "1\nx\n3\n"),
        ("1\n2\n3\n", 2, 3, "x", "1\nx\n"),
        ("1\n2\n3", 3, 3, "x", "1\n2\nx"),
        ("1\n2\n3\n", 2, 1, "x\ny", "1\nx\ny\n2\n3\n"),
        ("1\n2\n", 3, 2, "x", "1\n2\nx\n"),
        ("1\n2", 3, 2, "x", "1\n2\nx"),
        ("1\n2\n3\n", 1, 3, "", ""),
        ("1\r\n2\r\n", 1, 1, "x\ny", "x\r\ny\r\n2\r\n"),
        ("1\r\n2", 3, 2, "x", "1\r\n2\r\nx"),
        ("", 1, 0, "x\n", "x\n"),
    ],
)
def test_lines_are_replaced(desk: Desk, before: str, start: int, end: int, content: str, after: str) -> None:
    file = desk.put("file", before)
    desk.does("set_file_slice", path="file", start_line=start, end_line=end, content=content)
    assert file.read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("start", "end", "content", "message"),
    [
        (3, 1, "x", "end_line 1 is before start_line 3 - 1."),
        (2, 4, "x", "file has only 2 lines."),
        (4, 3, "x", "file has only 2 lines."),
        (1, 1, "1", "Those lines already have this text; nothing would change."),
    ],
)
def test_lines_that_are_not_there_are_refused(desk: Desk, start: int, end: int, content: str, message: str) -> None:
    desk.put("file", "1\n2\n")
    assert desk.refuses("set_file_slice", path="file", start_line=start, end_line=end, content=content) == message


# ── any text ────────────────────────────────────────────────────────────────────────────

PIECES = st.text(st.sampled_from("ab\n\rä "), max_size=12)


@given(before=PIECES, old=PIECES.filter(bool), new=PIECES, after=PIECES, crlf=st.booleans())
def test_all_outside_the_match_stays_byte_for_byte(before: str, old: str, new: str, after: str, crlf: bool) -> None:
    text = f"{before}<{old}>{after}"
    text = text.replace("\n", "\r\n") if crlf else text
    start, end = text.index("<"), text.index(">") + 1
    spans = places.find(text, f"<{old}>", overlapping=True, most=10)
    normal = f"<{old}>".replace("\r\n", "\n")
    if text[start:end].replace("\r\n", "\n") == normal:
        assert spans == [(start, end)]
        result = places.replace(text, spans, new)
        assert result.startswith(text[:start]) and result.endswith(text[end:])
        middle = result[start : len(result) - (len(text) - end)]
        assert middle.replace("\r\n", "\n") == new.replace("\r\n", "\n")
    else:
        assert spans == []


@given(text=st.text(st.sampled_from("ab\n"), max_size=30), old=st.text(st.sampled_from("ab\n"), min_size=1, max_size=3))
def test_on_plain_texts_it_does_what_str_replace_does(text: str, old: str) -> None:
    spans = places.find(text, old, overlapping=False, most=100)
    assert places.replace(text, spans, "x") == text.replace(old, "x")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
