"""The feed is bounded and keeps the order."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.desk.feed import ALL, LINES, STREAMS, WIDEST, Feed, Stream
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.track_events import TrackStarted
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.gui.drawing.drafts import Draft


def record(version: int) -> Recorded:
    return Recorded(version, "2026-01-01T00:00:00.000000Z", "human:ada", "c", TrackStarted(f"t{version}"))


def test_records_that_come_twice_are_known_once() -> None:
    feed = Feed(lambda: None)
    feed.records((record(1), record(2)))
    feed.records((record(2), record(3)))
    assert feed.drain()
    assert [fact.version for fact in feed.facts] == [1, 2, 3]
    assert not feed.drain()


def test_every_change_of_the_feed_wakes_the_window() -> None:
    woken: list[int] = []
    feed = Feed(lambda: woken.append(1))
    feed.text("a", "b")
    feed.records(())
    feed.clear()
    feed.changed()
    assert len(woken) == 3


def test_streams_are_cleared_and_the_oldest_go() -> None:
    feed = Feed(lambda: None)
    for number in range(STREAMS + 10):
        feed.text(f"s{number}", "x")
    feed.drain()
    assert len(feed.streams) == STREAMS
    feed.clear()
    feed.drain()
    assert feed.streams == {}


def test_all_streams_together_are_bounded_and_those_silent_for_longest_go() -> None:
    feed = Feed(lambda: None)
    feed.text("updated often", "first\n")
    for number in range(100):
        feed.text(f"S-{number}", "a line of some length\n" * 5_000)
        feed.text("updated often", "word\n")
        feed.drain()
    while feed.drain():
        pass
    kept = feed.streams.values()
    assert ALL / 2 < sum(sum(map(len, stream.lines)) + 64 * len(stream.lines) for stream in kept) <= ALL
    assert feed.streams["updated often"].lines[:2] == ["first", "word"]
    assert ("S-0" in feed.streams, "S-99" in feed.streams) == (False, True)


@given(st.lists(st.text(alphabet="ab\n", max_size=40), max_size=20))
def test_a_stream_has_its_size(pieces: list[str]) -> None:
    stream = Stream()
    for piece in pieces:
        stream.add(piece * 300, "")
    assert stream.size == sum(map(len, stream.lines)) + 64 * len(stream.lines)


def test_a_frame_takes_up_only_so_much() -> None:
    feed = Feed(lambda: None)
    for _ in range(10):
        feed.text("a", "x" * 100_000 + "\n")
    feed.drain()
    assert feed.has_backlog
    while feed.has_backlog:
        feed.drain()
    assert sum(map(len, feed.streams["a"].lines)) == 1_000_000


@given(st.lists(st.text("ab\n", max_size=30), max_size=30))
def test_a_stream_is_the_text_in_lines_however_it_comes(pieces: list[str]) -> None:
    stream = Stream()
    for piece in pieces:
        stream.add(piece, "12:00:00")
    assert "\n".join(stream.lines) == "".join(pieces)
    assert len(stream.at) == len(stream.lines)


def test_a_line_without_end_is_broken() -> None:
    stream = Stream()
    for _ in range(100):
        stream.add("x" * 1_000, "")
    assert max(map(len, stream.lines)) <= WIDEST


def test_one_piece_of_many_lines_is_cut_at_once() -> None:
    stream = Stream()
    stream.add("\n" * (10 * LINES), "")
    assert len(stream.lines) <= 2 * LINES


def test_a_draft_keeps_typed_text_until_another_client_writes() -> None:
    draft = Draft("")
    for text in ("a", "ab", "abc"):
        draft.text = text
        draft.sent.append(text)
    assert not draft.sync("a")
    assert not draft.sync("abc")
    assert draft.text == "abc"
    assert draft.sync("theirs")
    assert draft.text == "theirs"
    assert not draft.sync("theirs")


def test_thoughts_are_marked_line_by_line() -> None:
    stream = Stream()
    for piece in (THINKING, "two and\n", "two", ANSWERING, "It is ", "4."):
        stream.add(piece, "10:00")
    lines = list(zip(stream.lines, stream.aside, strict=True))
    assert [line for line, aside in lines if not aside and line] == ["It is 4."]
    assert [line for line, aside in lines if aside] == ["[thinking]", "two and", "two", "[/thinking]"]
