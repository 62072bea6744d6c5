"""A panel: a frame that is bright while something in it has the keyboard."""

from typing import cast

from rich.text import Text
from textual.containers import Vertical

from interlock.tui.colours import Colours
from interlock.tui.lines.rows import shown
from interlock.tui.picture import Picture
from interlock.tui.sending import Sender
from interlock.tui.shell import Shell


class Panel(Vertical):
    """`label` is its name in the bar of panels."""

    label = ""
    keys: tuple[tuple[str, str], ...] = ()

    def __init__(self, colours: Colours, picture: Picture, send: Sender) -> None:
        super().__init__(id=self.label.lower(), classes="panel")
        self.colours = colours
        self.picture = picture
        self.send = send

    @property
    def shell(self) -> Shell:
        return cast("Shell", self.app)

    def draw(self) -> None:
        """The snapshot is another."""

    def tick(self) -> None:
        """Once per second, while the panel is visible: times that pass."""

    def show_title(self, title: str, beside: str = "") -> None:
        """As `Text`, because Textual reads markup in titles that are strings."""
        self.border_title = cast("str", Text(shown(title)))
        self.border_subtitle = cast("str", Text(shown(beside)))

    def on_line_list_resized(self) -> None:
        self.draw()

    def take_keyboard(self) -> None:
        for widget in self.query("*"):
            if widget.can_focus and widget.display:
                self.screen.set_focus(widget)  # at once: the next key belongs to this panel
                return
