"""What panels and windows ask of the application around them."""

from collections.abc import Callable, Sequence
from typing import Protocol

from interlock.tui.lines.rows import Row
from interlock.tui.sending import Sender


class Shell(Protocol):
    @property
    def sender(self) -> Sender: ...

    def draw_all(self) -> None:
        """Every visible panel reads the snapshot."""
        ...

    def show_panel(self, label: str) -> None: ...

    def show_ticket(self, track: str, ticket: str) -> None: ...

    def ask(self, question: str, take: Callable[[str], object], text: str = "", about: Sequence[Row] = ()) -> None:
        """A line of text; nothing happens if the user leaves it."""
        ...

    def confirm(self, question: str, act: Callable[[], object], about: Sequence[Row] = ()) -> None: ...

    def read(self, title: str, make: Callable[[int], Sequence[Row]]) -> None: ...

    async def edit(self, text: str, suffix: str) -> str | None:
        """The text after the user's editor, which has the terminal meanwhile."""
        ...

    def action_help(self) -> None: ...
    def action_leave(self) -> None: ...
