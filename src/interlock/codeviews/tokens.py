"""How many tokens a text is: counted where a tokenizer is installed (interlock[tokens]), else estimated."""

from functools import cache
from importlib.util import find_spec
from typing import Protocol, cast

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
"""Measured with o200k_base over some megabytes of each language."""
_OTHERWISE = 3.6


class _Tokenizer(Protocol):
    def count(self, text: str) -> int: ...


@cache
def _installed() -> bool:
    return find_spec("rs_bpe") is not None


@cache
def _tokenizer() -> _Tokenizer | None:
    if not _installed():
        return None
    from rs_bpe.bpe import openai  # pyright: ignore[reportUnknownVariableType]  it brings no types

    return cast(_Tokenizer, openai.o200k_base())  # pyright: ignore[reportUnknownMemberType]


def load() -> None:
    """What counting needs, before it is needed."""
    _tokenizer()


def method() -> str:
    """How `count` works here: also a part of the key of what is stored."""
    return "counted" if _installed() else "estimated"


def count(text: bytes, language: str) -> int:
    tokenizer = _tokenizer()
    if tokenizer is not None:
        return tokenizer.count(text.decode(errors="replace"))
    return round(len(text) / _BYTES_PER_TOKEN.get(language, _OTHERWISE))
