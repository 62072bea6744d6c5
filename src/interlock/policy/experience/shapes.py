"""The shapes of commands that a suggested rule may generalise: program, options and kind of operands."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

from interlock.policy.flags import END, Known, known_options, parsed
from interlock.policy.reading.words import Word
from interlock.policy.reading.wrappers import system_name


class Shape(Struct, frozen=True):
    """As written in shapes.toml."""

    command: tuple[str, ...]
    operands: Literal["project", "seen", "none"]
    options: tuple[str, ...] = ()
    whole_words: bool = False
    first: str = ""

    @property
    def known(self) -> Known:
        return known_options(self.options)

    def spelled(self, names: frozenset[str]) -> tuple[str, ...]:
        """These options as a rule spells them."""
        return tuple(spelling for spelling in self.options if set(known_options([spelling])) & names)


class Fit(Struct, frozen=True):
    """A command that has a shape."""

    shape: Shape
    begin: str  # the program, and the words that must follow
    options: frozenset[str]
    operands: tuple[Word, ...]


class _Shapes(Struct, frozen=True):
    shape: tuple[Shape, ...]


@cache
def shapes() -> tuple[Shape, ...]:
    text = (files("interlock.policy.experience") / "shapes.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Shapes).shape


@cache
def _beginnings() -> tuple[tuple[tuple[str, ...], Shape], ...]:
    """The longest first: `sed -i -E` before `sed -i`."""
    all_of_them = [(tuple(text.split()), shape) for shape in shapes() for text in shape.command]
    return tuple(sorted(all_of_them, key=lambda one: -len(one[0])))


def fit_of(words: Sequence[Word]) -> Fit | None:
    """The shape of a command; None if no shape has it, and then it may be repeated only word for word."""
    called = system_name(words[0])
    for begin, shape in _beginnings():
        if (called, *(word.text for word in words[1 : len(begin)])) != begin:
            continue
        rest = words[len(begin) :]
        read = parsed(rest, shape.known, whole_words=shape.whole_words)
        if read is None or any(word.glob for word in words[: len(begin)]):
            return None
        ended = frozenset([END]) if any(word.text == END for word in rest) else frozenset[str]()
        if shape.operands == "none":
            return None if read.operands else Fit(shape, " ".join(begin), read.options | ended, ())
        if shape.operands == "project":
            return Fit(shape, " ".join(begin), read.options | ended, read.operands)
        # Words that were approved stay in their order; an option before them would not be found again.
        count = len(read.operands)
        if tuple(rest[:count]) != read.operands or any(word.glob or not _is_name(word) for word in read.operands):
            return None
        return Fit(shape, " ".join((*begin, *(word.text for word in read.operands))), read.options | ended, ())
    return None


def _is_name(word: Word) -> bool:
    return bool(word.text) and all(character.isalnum() or character in "_.:/@+-" for character in word.text)
