"""Output tails and stored files: bounded, exact at the end, with a note about omitted parts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.sandbox.jobs.output import Both, Head, OutputFile, Tail


def tail_of(chunks: list[bytes], characters: int = 10) -> str:
    tail = Tail(characters)
    for chunk in chunks:
        tail.feed(chunk)
    return tail.text()


def test_a_report_is_bounded_and_a_longer_one_is_none() -> None:
    head = Head(8)
    head.feed(b"exited")
    head.feed(b" 0")
    assert head.content() == b"exited 0"
    for _ in range(1_000):
        head.feed(b"x" * 1_000)
    assert (head.content(), len(head._bytes)) == (b"", 8)


def test_a_short_stream_is_whole() -> None:
    assert tail_of([b"0123", b"456789"]) == "0123456789"


def test_a_longer_one_loses_its_beginning_and_says_so() -> None:
    assert tail_of([b"0123", b"456789", b"!"]) == "[… 1 bytes dropped …]\n123456789!"


@pytest.mark.parametrize("split", range(1, 12))
def test_a_character_split_between_chunks_is_whole(split: int) -> None:
    text = "aé€😀".encode() + b"z"
    assert tail_of([text[:split], text[split:]]) == "aé€😀z"


def test_a_character_split_by_the_cut_is_not_shown_broken() -> None:
    assert tail_of(["😀".encode() * 1_000]) == "[… 3,960 bytes dropped …]\n" + "😀" * 10


def test_invalid_bytes_become_replacement_characters() -> None:
    assert tail_of([b"a\xffb\xc3"]) == "a\ufffdb\ufffd"


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_the_tail_is_the_end_of_the_whole_however_it_came(chunks: list[bytes]) -> None:
    whole = b"".join(chunks).decode(errors="replace")
    text = tail_of(chunks)
    if len(whole) <= 10:
        assert text == whole
    else:
        assert text.startswith("[… ")
        assert text.partition("\n")[2] == whole[-10:]


def keep(path: Path, chunks: list[bytes], limit: int) -> bytes:
    kept = OutputFile(str(path), limit)
    for chunk in chunks:
        kept.feed(chunk)
    kept.close()
    return path.read_bytes()


@pytest.mark.parametrize("size", [0, 1, 49, 50, 51, 99, 100])
def test_a_short_output_is_kept_whole(tmp_path: Path, size: int) -> None:
    content = bytes(range(256))[:size]
    assert keep(tmp_path / "file", [content], 100) == content


@pytest.mark.parametrize("size", [101, 149, 150, 151, 200, 1_000, 1_023])
@pytest.mark.parametrize("chunk", [1, 7, 50, 64, 5_000])
def test_of_a_long_output_both_ends_are_kept(tmp_path: Path, size: int, chunk: int) -> None:
    content = bytes(number % 251 for number in range(size))
    chunks = [content[at : at + chunk] for at in range(0, size, chunk)]
    marker = f"\n[… {size - 100:,} bytes dropped …]\n".encode()
    assert keep(tmp_path / "file", chunks, 100) == content[:50] + marker + content[-50:]


def test_a_full_disk_costs_only_the_rest_of_the_file() -> None:
    both = Both("/dev", "full")
    both.feed(b"word")
    both.feed(b"s")
    both.close()
    assert both.tail.text() == "words"
