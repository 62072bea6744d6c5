"""The command palette: every action by name, found by a few of its letters."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from interlock.tui.colours import Colours
from interlock.tui.lines.line_list import FixedLines, LineList
from interlock.tui.lines.rows import Row, Span, row

_MOST = 14


class Entry(Struct, frozen=True):
    words: str
    key: str
    act: Callable[[], object]


def found(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """Entries that contain the typed letters in their order; those that contain the word itself are first."""
    wanted = typed.strip().lower()
    fits = [entry for entry in entries if _fits(entry.words.lower(), wanted)]
    return sorted(fits, key=lambda entry: (wanted not in entry.words.lower(), entry.words.lower().find(wanted)))


def _fits(words: str, wanted: str) -> bool:
    at = 0
    for letter in wanted.replace(" ", ""):
        at = words.find(letter, at) + 1
        if not at:
            return False
    return True


class Palette(ModalScreen[Entry | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, colours: Colours, entries: Sequence[Entry]) -> None:
        super().__init__(classes="over")
        self._colours = colours
        self._entries = entries
        self._found: list[Entry] = list(entries)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Input(placeholder="what to do", id="palette-input")
            self.lines = FixedLines(self._colours, id="palette-lines")
            self.lines.can_focus = False
            yield self.lines

    def on_mount(self) -> None:
        self.lines.styles.height = min(_MOST, len(self._entries))
        self._show()
        self.query_one(Input).focus()

    def _show(self) -> None:
        rows: list[Row] = []
        for at, entry in enumerate(self._found):
            on = "raised" if at == self.lines.cursor else ""
            mark = Span("› " if on else "  ", "accent")
            rows.append(row(mark, Span(entry.words, "text", bold=bool(on)), right=[Span(entry.key, "faint")], on=on))
        self.lines.show_rows(rows)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._found = found(self._entries, event.value)
        self.lines.cursor = 0
        self._show()

    def action_move(self, by: int) -> None:
        self.lines.select(self.lines.cursor + by)
        self._show()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        at = self.lines.cursor
        self.dismiss(self._found[at] if at < len(self._found) else None)

    def action_leave(self) -> None:
        self.dismiss(None)
