"""Redrawing in place: each line once, lines above scroll away, a narrower terminal leaves nothing behind."""

import os
from collections.abc import Generator
from contextlib import suppress

import pyte
import pytest
from pyte.modes import LNM

from interlock.cli.terminal.board.region import Region
from interlock.cli.terminal.board.rows import Line


class Drawn:
    def __init__(self, columns: int, rows: int) -> None:
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.reads, False)
        self.screen = pyte.HistoryScreen(columns, rows, history=100, ratio=0.5)
        self.screen.set_mode(LNM)  # as a terminal does with the line breaks of programs
        self.region = Region(self.writes)
        self._stream = pyte.ByteStream(self.screen)

    @property
    def lines(self) -> list[str]:
        with suppress(BlockingIOError):
            self._stream.feed(os.read(self.reads, 65_536))
        return [row.rstrip() for row in self.screen.display if row.strip()]


@pytest.fixture
def drawn() -> Generator[Drawn]:
    terminal = Drawn(20, 6)
    yield terminal
    os.close(terminal.reads)
    os.close(terminal.writes)


def lines(*texts: str) -> list[Line]:
    return [Line((text, len(text))) for text in texts]


def test_a_frame_takes_the_place_of_the_one_before(drawn: Drawn) -> None:
    for frame in (("a", "b", "c"), ("a", "x", "c"), ("a",), ("a", "b"), ("long line", "b")):
        drawn.region.draw(lines(*frame), 20)
        assert drawn.lines == list(frame)
    drawn.region.erase(20)
    assert drawn.lines == []
    assert (drawn.screen.cursor.x, drawn.screen.cursor.y) == (0, 0)


def test_lines_above_scroll_away_and_may_be_wider_than_the_terminal(drawn: Drawn) -> None:
    drawn.region.draw(lines("a", "b"), 20)
    drawn.region.draw(lines("a", "b"), 20, ["above " * 5])
    assert drawn.lines == ["above above above ab", "ove above", "a", "b"]
    drawn.region.draw(lines("a", "b"), 20, [str(number) for number in range(9)])
    assert drawn.lines == ["5", "6", "7", "8", "a", "b"]


def test_an_unchanged_frame_writes_nothing_and_a_changed_one_only_its_lines(drawn: Drawn) -> None:
    drawn.region.draw(lines("first", "second", "third"), 20)
    os.read(drawn.reads, 1000)
    drawn.region.draw(lines("first", "second", "third"), 20)
    with pytest.raises(BlockingIOError):
        os.read(drawn.reads, 1000)
    drawn.region.draw(lines("first", "other", "third"), 20)
    written = os.read(drawn.reads, 1000).decode()
    assert "other" in written
    assert "first" not in written


def test_a_terminal_that_wrapped_the_lines_is_cleared_of_all_their_rows(drawn: Drawn) -> None:
    drawn.region.draw(lines("a" * 19, "b" * 19), 20)
    assert len(drawn.lines) == 2
    drawn.screen.reset()
    drawn.screen.resize(6, 10)  # pyte cuts the lines off; most terminals wrap them, as here
    drawn.screen.set_mode(LNM)
    drawn._stream.feed(b"kept\n" + b"a" * 19 + b"\n" + b"b" * 19)
    drawn.region.draw(lines("a", "b"), 10)
    assert drawn.lines == ["kept", "a", "b"]


def test_what_other_programs_wrote_is_not_erased(drawn: Drawn) -> None:
    drawn.region.draw(lines("a", "b"), 20)
    os.write(drawn.writes, b"\nother\n")
    drawn.region.forget()
    drawn.region.draw(lines("a", "b"), 20)
    assert drawn.lines == ["a", "b", "other", "a", "b"]
