"""Texts kept for followers are bounded, and no follower misses a text that began again."""

import asyncio

from interlock.api.live import ALL_TEXTS, KEYS, Live


def live() -> Live:
    loop = asyncio.new_event_loop()
    loop.close()  # nothing is called from another thread here
    return Live(loop, 0)


def take_texts(live: Live, *pieces: tuple[str, str]) -> None:
    for key, piece in pieces:
        live._take_text(key, piece)


def test_all_texts_together_are_bounded_and_the_latest_stay() -> None:
    news = live()
    for number in range(40):
        take_texts(news, (f"D-{number}", "x" * 150_000))
    kept = news.texts()
    assert sum(map(len, kept.values())) <= ALL_TEXTS
    assert list(kept)[-1] == "D-39"
    assert "D-0" not in kept


def test_one_long_text_stays_even_alone_beyond_the_bound() -> None:
    news = live()
    take_texts(news, ("D-1", "y" * (ALL_TEXTS + 5)))
    assert list(news.texts()) == ["D-1"]


def test_a_dropped_text_that_begins_again_is_sent_whole() -> None:
    news = live()
    follower = news.follow(0)
    take_texts(news, ("A", "first words"))
    assert news.new_texts(follower) == [{"key": "A", "text": "first words"}]
    take_texts(news, *((f"other {number}", "z") for number in range(KEYS)))
    news.new_texts(follower)
    take_texts(news, ("A", "again"))
    assert news.new_texts(follower) == [{"key": "A", "text": "again"}]
    take_texts(news, ("A", " and on"))
    assert news.new_texts(follower) == [{"key": "A", "delta": " and on"}]


def test_after_clearing_everything_begins_anew() -> None:
    news = live()
    follower = news.follow(0)
    take_texts(news, ("A", "before"))
    news.new_texts(follower)
    news._take_clear()
    take_texts(news, ("A", "after"))
    assert news.new_texts(follower) == [{"key": "A", "text": "after"}]


def test_a_question_that_begins_to_wait_after_the_end_does_not_wait() -> None:
    news = live()
    news.end()
    asyncio.run(asyncio.wait_for(news.answered("A-1", lambda: False), 10))
