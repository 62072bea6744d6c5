"""Drawn widgets as they are recorded: key, label, type, rectangle, value.

Recording costs about a microsecond: a tuple in a list. The tuples become `Widget`s only on request.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from imgui_bundle import imgui
from msgspec import Struct

Type = Literal["button", "input", "checkbox", "row", "text", "window", "item"]
Rect = tuple[float, float, float, float]
WidgetRow = tuple[str, str, int, str, Type, imgui.ImVec2, imgui.ImVec2, bool, str, str, tuple[str, ...], bool]
"""key, scope, ImGui id, label, type, two corners, enabled, value, window, other keys, visible"""


class Widget(Struct, frozen=True):
    """`name` is the key, with `@scope` if several widgets have that key. The rectangle is x0, y0, x1, y1.

    A widget that is not `visible` lies outside the visible part of a scrolled window.
    """

    key: str
    name: str
    id: int
    label: str
    type: Type
    rect: Rect
    enabled: bool
    value: str
    window: str
    also: tuple[str, ...]
    visible: bool = True


class Widgets:
    """The widgets of one whole frame. `hidden` are the windows behind other windows of their dock."""

    def __init__(
        self, rows: Iterable[WidgetRow] = (), hidden: Sequence[str] = (), texts: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._rows = list(rows)
        self._texts = tuple(texts)
        self.hidden = tuple(hidden)
        self._all: tuple[Widget, ...] | None = None

    def all(self) -> tuple[Widget, ...]:
        if self._all is None:
            self._all = tuple(
                Widget(
                    key,
                    f"{key}@{scope}" if scope else key,
                    number,
                    label,
                    kind,
                    (low.x, low.y, high.x, high.y),
                    enabled,
                    value,
                    window,
                    also,
                    visible,
                )
                for key, scope, number, label, kind, low, high, enabled, value, window, also, visible in self._rows
            )
        return self._all

    def find(self, name: str) -> Widget | None:
        """The first widget with this key, key@scope or other key."""
        return next((widget for widget in self.all() if name in (widget.key, widget.name, *widget.also)), None)

    def text_in(self, window: str) -> str:
        """All text in a window, one line each: labels and values of widgets, then plain text."""
        lines = [text for widget in self.all() if widget.window == window for text in (widget.label, widget.value)]
        plain = [text for place, text in self._texts if place == window]
        return "\n".join(dict.fromkeys((*filter(None, lines), *plain)))

    def keys(self) -> set[str]:
        return {key for widget in self.all() for key in (widget.key, *widget.also)}


class WidgetRecorder:
    """Records every widget of the current frame; `shown` are the widgets of the last whole frame."""

    def __init__(self) -> None:
        self.window = ""
        self.shown = Widgets()
        self._rows: list[WidgetRow] = []
        self._hidden: list[str] = []
        self._texts: list[tuple[str, str]] = []

    def begin_frame(self) -> None:
        self._rows, self._hidden, self._texts = [], [], []

    def end_frame(self) -> None:
        self.shown = Widgets(self._rows, self._hidden, self._texts)

    def hide(self, window: str) -> None:
        """Record that another window of the dock covers this one."""
        self._hidden.append(window)

    def note(
        self,
        key: str,
        label: str,
        kind: Type,
        *,
        scope: str = "",
        enabled: bool = True,
        value: str = "",
        also: tuple[str, ...] = (),
    ) -> None:
        """Record the item drawn last."""
        self._rows.append(
            (
                key,
                scope,
                imgui.get_item_id(),
                label,
                kind,
                imgui.get_item_rect_min(),
                imgui.get_item_rect_max(),
                enabled,
                value,
                self.window,
                also,
                imgui.is_item_visible(),
            )
        )

    def note_at(self, key: str, label: str, kind: Type, rect: Rect, *, scope: str = "", value: str = "") -> None:
        """Record a shape drawn with a draw list, which is no ImGui item."""
        low, high = imgui.ImVec2(rect[0], rect[1]), imgui.ImVec2(rect[2], rect[3])
        self._rows.append((key, scope, 0, label, kind, low, high, True, value, self.window, (), True))

    def note_text(self, text: str) -> None:
        """Record text of the current window that belongs to no widget."""
        self._texts.append((self.window, text))
