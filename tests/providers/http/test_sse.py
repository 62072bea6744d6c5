"""Parsing server-sent events: the same events for any split of the bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.providers.http.sse import EventReader, Garbled, SseEvent

STREAM = (
    "\ufeff: hello\n\n"
    "event: first\r\ndata: Grüße 🌍\r\n\r\n"
    "data:no blank\rdata:  two\rid: 7\rretry: 5\r\r"
    "event: without data\n\n"
    "data\n\n"
    ": comment\ndata: [DONE]\n\n"
    "data: not ended\n"
).encode()
EVENTS = [
    SseEvent("first", "Grüße 🌍"),
    SseEvent("", "no blank\n two"),
    SseEvent("", ""),
    SseEvent("", "[DONE]"),
]


def read(*pieces: bytes, longest: int = 1_000) -> list[SseEvent]:
    reader = EventReader(longest)
    return [event for piece in pieces for event in reader.feed(piece)]


def test_the_standard_is_kept() -> None:
    assert read(STREAM) == EVENTS


def test_byte_by_byte_it_is_the_same() -> None:
    assert read(*(bytes([byte]) for byte in STREAM)) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_wherever_it_is_cut_it_is_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in pairwise(places))) == EVENTS


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_any_bytes_are_read_alike_however_cut_or_refused(content: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    pieces = [content[a:b] for a, b in pairwise(places)]

    def outcome(*given: bytes) -> list[SseEvent] | str:
        try:
            return read(*given)
        except Garbled as error:
            return str(error)

    assert outcome(*pieces) == outcome(content)


def test_a_text_without_a_final_blank_line_is_no_event() -> None:
    assert read(b"data: a\n") == []
    assert read(b"data: a\n", b"\n") == [SseEvent("", "a")]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(Garbled, match="not UTF-8"):
        read(b"data: \xff\n\n")


@pytest.mark.parametrize("line", [b"x" * 200, b"data: " + b"x" * 200, b"data: xxxxxxxxxx\n" * 20])
def test_an_event_has_a_longest_whether_its_lines_end_or_not(line: bytes) -> None:
    with pytest.raises(Garbled, match="more than 100 bytes"):
        read(*(line[at : at + 7] for at in range(0, len(line), 7)), longest=100)


def test_comments_keep_a_connection_alive_for_as_long_as_it_takes() -> None:
    assert read(*[b": still here\n\n"] * 100, b"data: a\n\n", longest=50) == [SseEvent("", "a")]
    assert read(*[b": still here\n"] * 100, b"data: a\n\n", longest=50) == [SseEvent("", "a")]
