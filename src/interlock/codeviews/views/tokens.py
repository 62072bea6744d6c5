"""Token counts: exact if a tokenizer is installed (interlock[tokens]), else estimated."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splintr import AnyTokenizer

PIECE = 262_144
"""Characters counted at once. The tokenizer needs about 70 bytes of memory per character of an endless word."""
_NEAR = 8_192
_SAFE = re.compile(r"\n(?=[ \t]*[^\s/]|[ \t]+/)")
"""A pre-token of the tokenizer ends at the last of consecutive line breaks, or at slashes right after them."""

_BYTES_PER_TOKEN = {
    "python": 4.3,
    "javascript": 4.1,
    "typescript": 4.3,
    "tsx": 4.0,
    "go": 3.4,
    "rust": 4.0,
    "c": 3.1,
    "cpp": 3.5,
    "java": 4.4,
    "csharp": 4.4,
    "ruby": 4.3,
    "php": 4.3,
    "bash": 3.3,
    "markdown": 3.9,
    "toml": 3.4,
    "json": 3.6,
    "yaml": 4.0,
    "ini": 3.6,
}
"""Bytes per token, measured with o200k_base over some megabytes of each language."""
_OTHERWISE = 3.6


@cache
def _installed() -> bool:
    return find_spec("splintr") is not None


@cache
def _tokenizer() -> "AnyTokenizer | None":
    if not _installed():
        return None
    from splintr import Tokenizer

    return Tokenizer.from_pretrained("o200k_base")


def load() -> None:
    """Load the tokenizer in advance."""
    _tokenizer()


def method() -> str:
    """The method of `count` in this process; part of the key of cached views."""
    return "counted" if _installed() else "estimated"


def count(text: bytes, language: str) -> int:
    tokenizer = _tokenizer()
    if tokenizer is None:
        return round(len(text) / _BYTES_PER_TOKEN.get(language, _OTHERWISE))
    return sum(_count(tokenizer, piece) for piece in _pieces(text.decode(errors="replace")))


def _count(tokenizer: "AnyTokenizer", text: str) -> int:
    if "<|" in text:  # a control token in a file is plain text; vendors treat it so too
        return len(tokenizer.encode_ordinary(text))
    return len(tokenizer.encode_flat(text)) // 4


def _pieces(text: str) -> Iterator[str]:
    """Split where no token can span the cut. A line longer than a piece is split anywhere, which may add one token."""
    begin = 0
    while len(text) - begin > PIECE:
        end = begin + PIECE
        for safe in _SAFE.finditer(text, end - _NEAR, end + 1):
            end = safe.end()
        yield text[begin:end]
        begin = end
    yield text[begin:]
