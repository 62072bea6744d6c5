"""A single row that is no list: the bars at the top and bottom, and the heads of panels."""

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from interlock.tui.colours import Colours
from interlock.tui.lines.line_list import strip_of
from interlock.tui.lines.rows import EMPTY, Row


class Bar(Widget):
    """Shows the rows that it was given last, one per line."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, colours: Colours, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.colours = colours
        self.rows: tuple[Row, ...] = ()

    def show(self, *rows: Row) -> None:
        if rows != self.rows:
            self.rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        row = self.rows[y] if y < len(self.rows) else EMPTY
        return strip_of(row, self.size.width, self.colours)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self.rows))
