"""Texts kept for followers are bounded, and no follower misses a text that began again."""

import asyncio

from interlock.api.live import ALL_TEXTS, KEYS, Live


def live() -> Live:
    loop = asyncio.new_event_loop()
    loop.close()  # nothing is called from another thread here
    return Live(loop, 0)


def heard(found: Live, *pieces: tuple[str, str]) -> None:
    for key, piece in pieces:
        found._take_text(key, piece)


def test_all_texts_together_are_bounded_and_the_latest_stay() -> None:
    found = live()
    for number in range(40):
        heard(found, (f"D-{number}", "x" * 150_000))
    kept = found.texts()
    assert sum(map(len, kept.values())) <= ALL_TEXTS
    assert list(kept)[-1] == "D-39"
    assert "D-0" not in kept


def test_one_long_text_stays_even_alone_beyond_the_bound() -> None:
    found = live()
    heard(found, ("D-1", "y" * (ALL_TEXTS + 5)))
    assert list(found.texts()) == ["D-1"]


def test_a_text_that_was_dropped_and_begins_anew_is_told_whole() -> None:
    found = live()
    follower = found.follow(0)
    heard(found, ("A", "first words"))
    assert found.new_texts(follower) == [{"key": "A", "text": "first words"}]
    heard(found, *((f"other {number}", "z") for number in range(KEYS)))
    found.new_texts(follower)
    heard(found, ("A", "again"))
    assert found.new_texts(follower) == [{"key": "A", "text": "again"}]
    heard(found, ("A", " and on"))
    assert found.new_texts(follower) == [{"key": "A", "delta": " and on"}]


def test_after_clearing_everything_begins_anew() -> None:
    found = live()
    follower = found.follow(0)
    heard(found, ("A", "before"))
    found.new_texts(follower)
    found._take_clear()
    heard(found, ("A", "after"))
    assert found.new_texts(follower) == [{"key": "A", "text": "after"}]
