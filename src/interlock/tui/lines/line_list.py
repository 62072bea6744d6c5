"""A list of rows of which only the visible ones are made: a million rows cost as much as a screenful."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from interlock.tui.colours import Colours
from interlock.tui.lines.rows import EMPTY, Row, Span, cut, shown, width_of

_MOST_CELLS = 2_000  # of one row: a terminal is not wider


def strip_of(row: Row, width: int, colours: Colours, *, chosen: bool = False) -> Strip:
    """The row in exactly `width` cells."""
    right = row.right
    room = width - (width_of(right) + 1 if right else 0)
    if room < width // 3 and right:
        right, room = (), width
    segments: list[Segment] = []
    used = 0
    for span in row.spans:
        if used >= room:
            break
        text = cut(span.text, min(room - used, _MOST_CELLS))
        segment = Segment(text, colours.style(span.role, span.on or row.on, bold=span.bold, chosen=chosen))
        segments.append(segment)
        used += segment.cell_length
    blank = colours.style("text", row.on, chosen=chosen)
    if right:
        segments.append(Segment(" " * (width - used - width_of(right)), blank))
        segments += [
            Segment(shown(span.text), colours.style(span.role, span.on or row.on, bold=span.bold, chosen=chosen))
            for span in right
        ]
        used = width
    return Strip(segments).adjust_cell_length(width, blank)


class LineList(ScrollView, can_focus=True):
    """Subclasses say how many rows there are and make the row at an index."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "cursor(1)", show=False),
        Binding("k,up", "cursor(-1)", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
    ]

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, lines: "LineList") -> None:
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> "LineList":
            return self.lines

    class Opened(Moved):
        """Enter, or a second click."""

    class Resized(Moved):
        """The width is another: rows that were made for it must be made again."""

    has_cursor = True

    def __init__(self, colours: Colours, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.colours = colours
        self.cursor = 0
        self.follow = False

    # ── for a subclass ───────────────────────────────────────────────────────────────────

    def count(self) -> int:
        raise NotImplementedError

    def row_at(self, index: int, width: int) -> Row:
        raise NotImplementedError

    # ── drawing ──────────────────────────────────────────────────────────────────────────

    @property
    def cells(self) -> int:
        """The width of a row, without the scrollbar's column."""
        return max(1, self.scrollable_content_region.width)

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        width = self.cells
        if not 0 <= index < self.count():
            return strip_of(EMPTY, width, self.colours)
        chosen = self.has_cursor and index == self.cursor
        strip = strip_of(self.row_at(index, width), width, self.colours, chosen=chosen and self.has_focus)
        if chosen and not self.has_focus:
            return strip_of(_kept(self.row_at(index, width)), width, self.colours)
        return strip

    def changed(self) -> None:
        """The rows are others: call it after every change."""
        count = self.count()
        self.cursor = max(0, min(self.cursor, count - 1))
        if self.virtual_size.height != count or self.virtual_size.width != self.size.width:
            self.virtual_size = Size(self.size.width, count)
        if self.follow:
            self.scroll_to(y=max(0, count - self.size.height), animate=False, force=True)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.changed()
        self.post_message(self.Resized(self))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # ── moving ───────────────────────────────────────────────────────────────────────────

    def select(self, index: int, *, tell: bool = True) -> None:
        before, top = self.cursor, self.scroll_offset.y
        self.cursor = max(0, min(index, self.count() - 1))
        self.show_cursor_row()
        if self.scroll_offset.y == top:  # two rows changed, not the whole list
            self.refresh_line(before)
            self.refresh_line(self.cursor)
        if tell and self.cursor != before:
            self.post_message(self.Moved(self))

    def show_cursor_row(self) -> None:
        high = max(1, self.size.height)
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + high:
            self.scroll_to(y=self.cursor - high + 1, animate=False, force=True)

    def scroll_rows(self, by: int) -> None:
        self.follow = False
        most = max(0, self.count() - self.size.height)
        self.scroll_to(y=max(0, min(self.scroll_offset.y + by, most)), animate=False, force=True)

    def action_cursor(self, by: int) -> None:
        if self.has_cursor:
            self.select(self.cursor + by)
        else:
            self.scroll_rows(by)

    def action_page(self, by: int) -> None:
        rows = by * max(1, self.size.height - 1)
        if self.has_cursor:
            self.select(self.cursor + rows)
        else:
            self.scroll_rows(rows)

    def action_first(self) -> None:
        if self.has_cursor:
            self.select(0)
        else:
            self.scroll_rows(-self.count())

    def action_last(self) -> None:
        if self.has_cursor:
            self.select(self.count() - 1)
        else:
            self.scroll_rows(self.count())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-3)

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if not self.has_cursor or not 0 <= index < self.count():
            return
        if index == self.cursor and event.chain > 1:
            self.post_message(self.Opened(self))
        self.select(index)


def _kept(row: Row) -> Row:
    """The chosen row of a list without the keyboard: raised, not bright."""
    return Row(row.spans, row.right, row.on or "raised", row.mark)


class FixedLines(LineList):
    """A list of rows that are made at once."""

    def __init__(self, colours: Colours, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(colours, id=id, classes=classes)
        self.rows: Sequence[Row] = ()

    def show_rows(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.changed()

    def count(self) -> int:
        return len(self.rows)

    def row_at(self, index: int, width: int) -> Row:
        return self.rows[index]


def keys_row(pairs: Sequence[tuple[str, str]]) -> Row:
    """Keys with what they do."""
    spans: list[Span] = []
    for key, what in pairs:
        spans += [Span(key, "accent", bold=True), Span(f" {what}   ", "dim")]
    return Row(tuple(spans))
