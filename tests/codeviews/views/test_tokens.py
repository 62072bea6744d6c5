"""Token counts equal those of another tokenizer; memory and time stay proportional to the text."""

import argparse
import re
import resource
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.codeviews.views import tokens

pytest.importorskip("splintr")

KNOWN = {
    "": 0,
    "hello world": 2,
    "def f(x: int) -> str:\n    return f'{x:>10}'\n": 18,
    "<|endoftext|>": 7,
    "naïve Σ 中文 😀 'tis we'll": 9,
    "\n" * 100: 7,
}


@pytest.mark.parametrize("text", KNOWN, ids=lambda text: repr(text[:20]))
def test_known_texts(text: str) -> None:
    assert tokens.count(text.encode(), "text") == KNOWN[text]


def others(text: str) -> int:
    rs_bpe = pytest.importorskip("rs_bpe")
    return rs_bpe.bpe.openai.o200k_base().count(text)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


WORDS = st.sampled_from([
    *("a", "B", "'s", "'LL", " ", "  ", "\n", "\r\n", "\t", "1", "2024", "é", "中", "😀", "\u200d", "\u0301", "/", "_"),
    *("<|endoftext|>", "<|", "ǅ", "\u00a0", "\ufffd", "\u2028", "٣", "def f(self):\n    ", "//", "ẞ"),
])  # fmt: skip


@given(st.lists(WORDS | st.text(max_size=5), max_size=60).map("".join))
def test_any_text_counts_as_elsewhere(text: str) -> None:
    assert tokens.count(text.encode(errors="replace"), "text") == others(text.encode(errors="replace").decode())


@given(st.lists(WORDS, min_size=1, max_size=120).map("".join), st.integers(1, 40))
def test_a_long_text_is_cut_where_it_does_not_matter(text: str, piece: int) -> None:
    """Equal counts, except for lines longer than a piece: each cut may add a token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", piece)
        patch.setattr(tokens, "_NEAR", piece)
        pieces = list(tokens._pieces(text))
        counted = tokens.count(text.encode(), "text")
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= piece
    safe = all(one.endswith("\n") and re.match(r"[ \t]*[^\s/]|[ \t]+/", two) for one, two in pairwise(pieces))
    whole = tokens.count(text.encode(), "text")
    assert counted == whole if safe else whole <= counted


def test_the_sources_of_the_library_count_as_elsewhere_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "PIECE", 10_000)
    for name in ("argparse.py", "typing.py", "turtle.py", "decimal.py", "_pydecimal.py"):
        source = (Path(argparse.__file__).parent / name).read_bytes()
        assert tokens.count(source, "python") == others(source.decode())


@pytest.mark.parametrize("word", ["a", " ", "\n", "\n/", "ab1", "中", "'", "{", "\t\n"])
def test_a_word_without_end_takes_little_memory(word: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = (word * (4_000_000 // len(word))).encode()
    assert tokens.count(text, "text") > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB
