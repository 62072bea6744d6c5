"""read_file and get_file_slice: the exact text, and a note when a part is left out."""

import codecs

import pytest

from tests.tools.desk import Desk

LINES = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.mark.parametrize(
    "text", ["one\ntwo\n", "no end", "\n", "crlf\r\nline\r\n", "ä€𝄞\n", "\x1b[31mred\u202e\n", " \n\t"]
)
def test_a_file_is_given_exactly_as_it_is(desk: Desk, text: str) -> None:
    desk.put("file", text)
    assert desk.does("read_file", path="file") == text


def test_an_empty_file_is_reported_as_empty(desk: Desk) -> None:
    desk.put("sub/file", "")
    assert desk.does("read_file", path="sub/file") == "[sub/file is empty]"
    assert desk.refuses("get_file_slice", path="sub/file", start_line=1, end_line=1) == "sub/file has only 0 lines."


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("grün\n".encode("latin-1"), "latin-1"),
        ("“grün”\n".encode("cp1252"), "cp1252"),
        (codecs.BOM_UTF8 + "grün\n".encode(), "utf-8 with a byte order mark"),
        (codecs.BOM_UTF16_LE + "grün\n".encode("utf-16-le"), "utf-16-le with a byte order mark"),
        (codecs.BOM_UTF16_BE + "grün\n".encode("utf-16-be"), "utf-16-be with a byte order mark"),
        (codecs.BOM_UTF32_LE + "grün\n".encode("utf-32-le"), "utf-32-le with a byte order mark"),
    ],
)
def test_another_encoding_is_read_and_said(desk: Desk, data: bytes, name: str) -> None:
    desk.put("file", data)
    text = "“grün”\n" if name == "cp1252" else "grün\n"
    assert desk.does("read_file", path="file") == f"[{name} text]\n{text}"


@pytest.mark.parametrize("data", [b"\x7fELF\0\0\1", b"\0", bytes(range(256)), b"\xff\xfe\0", b"\x89PNG\r\n\x1a\n" * 3])
def test_a_binary_file_is_reported_as_binary(desk: Desk, data: bytes) -> None:
    desk.put("file", data)
    assert desk.refuses("read_file", path="file") == (
        f"file is a binary file of {len(data)} bytes; it is not shown as text."
    )


def test_a_long_file_is_cut_at_a_line_and_the_rest_can_be_read_in_slices(desk: Desk) -> None:
    whole = "".join(f"line number {number}\n" for number in range(1, 20_001))
    desk.put("file", whole)
    text = desk.does("read_file", path="file")
    assert len(text) <= 40_000
    read, note = text.rsplit("\n", 1)
    last = read.count("\n") + 1
    assert note == f"[… cut here: lines 1–{last:,} of 20,000; read on with get_file_slice from line {last + 1:,}]"
    pieces, line = [read + "\n"], last + 1
    while line <= 20_000:
        piece = desk.does("get_file_slice", path="file", start_line=line, end_line=line + 999)
        pieces.append(piece.removesuffix("[… the file ends at line 20,000]"))
        line += 1_000
    assert "".join(pieces) == whole


def test_a_line_that_is_too_long_is_cut(desk: Desk) -> None:
    desk.put("file", "x" * 100_000)
    text = desk.does("read_file", path="file")
    assert text.endswith("x\n[… cut here: lines 1–1 of 1; line 1 is longer than can be shown]")
    assert 39_000 < len(text) <= 40_000


def test_only_the_beginning_of_a_huge_text_is_read_with_a_note(desk: Desk) -> None:
    desk.put("file", "ä €\n" * 4_000_000)
    text = desk.does("read_file", path="file")
    assert text.endswith(
        "of 2,396,745 in its first 16,777,216 of 28,000,000 bytes, which are all that these tools read; "
        "read on with get_file_slice from line 9,876]"
    )
    assert "has only 2,396,745 lines in its first" in desk.refuses(
        "get_file_slice", path="file", start_line=3_000_000, end_line=3_000_001
    )
    assert desk.does("get_file_slice", path="file", start_line=2_000_000, end_line=2_000_001) == "ä €\nä €\n"


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (1, 1, "line 1\n"),
        (3, 5, "line 3\nline 4\nline 5\n"),
        (10, 10, "line 10\n"),
        (9, 12, "line 9\nline 10\n[… the file ends at line 10]"),
        (1, 10, LINES),
    ],
)
def test_a_slice_is_those_lines(desk: Desk, start: int, end: int, text: str) -> None:
    desk.put("file", LINES)
    assert desk.does("get_file_slice", path="file", start_line=start, end_line=end) == text


def test_a_slice_keeps_carriage_returns_and_a_missing_end(desk: Desk) -> None:
    desk.put("file", "a\r\nb\u2028c\x0cd\r\nlast")
    assert desk.does("get_file_slice", path="file", start_line=2, end_line=2) == "b\u2028c\x0cd\r\n"
    assert desk.does("get_file_slice", path="file", start_line=3, end_line=9) == "last\n[… the file ends at line 3]"


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (11, 12, "file has only 10 lines."),
        (5, 4, "end_line 4 is before start_line 5."),
        (0, 4, "get_file_slice: the argument 'start_line' is wrong: expected `int` >= 1."),
    ],
)
def test_a_slice_that_is_not_there_is_refused(desk: Desk, start: int, end: int, message: str) -> None:
    desk.put("file", LINES)
    assert desk.refuses("get_file_slice", path="file", start_line=start, end_line=end) == message


def test_a_name_that_is_no_text_is_shown_as_one(desk: Desk) -> None:
    desk.put("two\nlines", b"")
    (desk.folder / "x\udcff").write_bytes(b"\0")
    assert desk.does("read_file", path="two\nlines") == '["two\\nlines" is empty]'
    assert desk.refuses("read_file", path="x\udcff").startswith("x\ufffd is a binary file")
