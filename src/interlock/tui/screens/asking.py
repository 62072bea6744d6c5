"""Small windows over the workbench: a question with a line of text, a yes or no, and a text to read."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from interlock.tui.colours import Colours
from interlock.tui.lines.bar import Bar
from interlock.tui.lines.line_list import FixedLines, keys_row
from interlock.tui.lines.rows import Row, Span, row, wrapped


class Asking(ModalScreen[str | None]):
    """A line of text; None if the user leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, colours: Colours, question: str, text: str = "", about: Sequence[Row] = ()) -> None:
        super().__init__(classes="over")
        self._colours = colours
        self._question = question
        self._text = text
        self._about = about

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            head = FixedLines(self._colours, classes="head")
            head.can_focus = False
            head.has_cursor = False
            head.styles.height = min(12, len(self._about) + len(wrapped(self._question, 64)))
            yield head
            yield Input(self._text, id="answer", select_on_focus=False)
            yield Bar(self._colours, classes="foot")

    def on_mount(self) -> None:
        head = self.query_one(FixedLines)
        head.show_rows([*self._about, *wrapped(self._question, 64)])
        self.query_one(Bar).show(keys_row((("Enter", "send"), ("Esc", "leave"))))
        answer = self.query_one(Input)
        answer.focus()
        answer.cursor_position = len(self._text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)


class Confirming(ModalScreen[bool]):
    """Enter or y confirms; every other key leaves it."""

    def __init__(self, colours: Colours, question: str, about: Sequence[Row] = ()) -> None:
        super().__init__(classes="over")
        self._colours = colours
        self._question = question
        self._about = about

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            head = FixedLines(self._colours, classes="head")
            head.can_focus = False
            head.has_cursor = False
            head.styles.height = min(14, len(self._about) + len(wrapped(self._question, 64)))
            yield head
            yield Bar(self._colours, classes="foot")

    def on_mount(self) -> None:
        self.query_one(FixedLines).show_rows([*self._about, *wrapped(self._question, 64, bold=True)])
        self.query_one(Bar).show(keys_row((("y", "yes"), ("Esc", "no"))))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss(event.key == "y")


class Reading(ModalScreen[None]):
    """Rows to read. `make` builds them for a width, again at every change of size."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter,question_mark", "leave", show=False)]

    def __init__(self, colours: Colours, title: str, make: Callable[[int], Sequence[Row]]) -> None:
        super().__init__(classes="over")
        self._colours = colours
        self._title = title
        self._make = make

    def compose(self) -> ComposeResult:
        with Vertical(classes="page"):
            yield Bar(self._colours, classes="title")
            lines = FixedLines(self._colours)
            lines.has_cursor = False
            yield lines
            yield Bar(self._colours, classes="foot")

    def on_mount(self) -> None:
        self.query_one(".title", Bar).show(row(Span(self._title, "text", bold=True)))
        self.query_one(".foot", Bar).show(keys_row((("j k", "scroll"), ("Esc", "close"))))
        self.query_one(FixedLines).focus()

    def on_line_list_resized(self) -> None:
        lines = self.query_one(FixedLines)
        lines.show_rows(self._make(max(20, lines.cells)))

    def action_leave(self) -> None:
        self.dismiss(None)
