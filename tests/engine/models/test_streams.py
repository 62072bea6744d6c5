"""Streams keep the end of each text in memory, within bounds for one stream and for all."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.engine.models.streams import ALL, KEYS, MOST, Streams


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=3_000)), max_size=40))
def test_a_text_is_the_sum_of_its_pieces(pieces: list[tuple[str, str]]) -> None:
    streams = Streams()
    received: list[tuple[str, str]] = []
    streams.listen(lambda key, piece: received.append((key, piece)))
    for key, piece in pieces:
        streams.add(key, piece)
    texts = {key: "".join(piece for other, piece in pieces if other == key) for key in "abc"}
    assert dict(streams.all()) == {key: text for key, text in texts.items() if text}
    assert received == [(key, piece) for key, piece in pieces if piece]


def test_of_a_long_text_the_end_stays() -> None:
    streams = Streams()
    for number in range(200_000):
        streams.add("a", f"{number} ")
    assert len(streams.text("a")) == MOST
    assert streams.text("a").endswith("199998 199999 ")


def test_the_least_recently_used_texts_are_dropped_first() -> None:
    streams = Streams()
    streams.add("again and again", "first ")
    for number in range(KEYS + 10):
        streams.add(f"key {number}", "word")
        streams.add("again and again", ".")
    assert len(streams.all()) == KEYS
    assert streams.text("again and again").startswith("first ..")
    assert streams.text("key 0") == ""


def test_all_texts_together_are_bounded() -> None:
    streams = Streams()
    for number in range(60):
        for _ in range(10):
            streams.add(f"key {number}", "x" * 10_000)
    kept = streams.all()
    assert ALL - 2 * MOST < sum(map(len, kept.values())) <= ALL
    assert list(kept)[-1] == "key 59"
    streams.clear()
    for number in range(10):
        streams.add(f"key {number}", "y" * 100_000)
    assert len(streams.all()) == 10


def test_one_text_stays_even_if_it_is_alone_beyond_the_bound() -> None:
    streams = Streams()
    streams.add("a", "x" * (3 * ALL))
    assert streams.text("a") == "x" * MOST
