"""The cache of fetched texts is bounded, and texts on the screen are not fetched again."""

from interlock.gui.data import fetched_texts
from interlock.gui.data.fetched_texts import FetchedTexts


def held(texts: FetchedTexts) -> int:
    return sum(len(text) for text in texts._texts.values())


def test_texts_no_longer_drawn_are_dropped_when_the_cache_is_full() -> None:
    texts = FetchedTexts()
    for number in range(40):
        texts.put(f"{number}", "x" * 1_000_000)
        texts.next_frame()
        texts.next_frame()
    assert held(texts) <= fetched_texts.ALL + 1_000_000
    assert ("0" in texts, "39" in texts) == (False, True)
    assert texts.use("0") == ""


def test_texts_drawn_in_every_frame_stay_at_any_size() -> None:
    texts = FetchedTexts()
    names = [f"{number}" for number in range(5)]
    for name in names:
        texts.put(name, name * 4_000_000)
    for number in range(100):
        texts.next_frame()
        assert [texts.use(name)[:1] for name in names] == names
        texts.put(f"other {number}", "y" * 1_000)
    assert all(name in texts for name in names)


def test_a_text_that_takes_the_place_of_its_absence_counts_once() -> None:
    texts = FetchedTexts()
    for _ in range(50):
        texts.put("a", "")
        texts.put("a", "x" * 1_000_000)
        texts.next_frame()
    assert (len(texts), held(texts), texts._size) == (1, 1_000_000, 1_000_000)
    texts.forget("a")
    texts.forget("a")
    assert (len(texts), texts._size) == (0, 0)


def test_many_small_ones_go_too() -> None:
    texts = FetchedTexts()
    for number in range(3 * fetched_texts.MANY):
        texts.put(f"{number}", "x")
        texts.next_frame()
    assert len(texts) <= fetched_texts.MANY + 2
