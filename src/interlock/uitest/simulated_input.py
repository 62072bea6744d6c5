"""Simulated mouse and keyboard input through the Dear ImGui Test Engine: one click, or one text."""

from collections.abc import Sequence
from typing import Literal

from imgui_bundle import imgui
from msgspec import Struct

from interlock.desk.authority import Authority
from interlock.gui.drawing.recorded_widgets import Widget, Widgets
from interlock.gui.window.shell import Window
from interlock.uitest.pending_effects import Done
from interlock.uitest.targets import Target, find, nearest, path_of, plain

Button = Literal["left", "right", "double", "middle"]

_BUTTONS: dict[str, int] = {"left": 0, "right": 1, "middle": 2}
_PRESS_FRAMES = 3  # until a click reaches its button
_TYPED_FRAMES = 60  # until a text reaches its input
_TAB_FRAMES = 4  # until a clicked tab is in front
_ANSWERS = ("inbox.edit", "inbox.message", "inbox.hunk")
"""Beginnings of the keys of an answer's parts. Only an actor that may answer may change them."""


class Click(Struct, frozen=True):
    target: Target
    button: Button = "left"


class Type(Struct, frozen=True):
    target: Target
    text: str
    clear_first: bool = False


class SimulatedInput:
    """Used only inside the engine's test, between two frames."""

    def __init__(self, window: Window, test: imgui.test_engine.Test) -> None:
        self._window = window
        self._test = test

    def perform(self, ctx: imgui.test_engine.TestContext, action: Click | Type) -> Done:
        ui = self._window.ui
        try:
            match action:
                case Click():
                    return self._click(ctx, action)
                case Type():
                    ui.meant = ""  # letters that miss their input must not act as shortcuts
                    return self._type(ctx, action)
        finally:
            ui.meant = None

    @property
    def _widgets(self) -> Widgets:
        return self._window.ui.shown

    def _click(self, ctx: imgui.test_engine.TestContext, click: Click) -> Done:
        match = find(self._widgets, click.target)
        title = match.hidden or (match.widget.label if match.widget and match.widget.type == "window" else "")
        if title:
            return self._click_tab(ctx, title, click.button)
        if match.widget is None:
            return self._missing(click.target)
        widget = match.widget
        if refusal := self._refusal(widget):
            return _failed(widget, refusal)
        reached = self._press_only(ctx, widget, click.button)
        if ctx.is_error():
            return _failed(widget, f"{_named(widget)} cannot be reached: {self._engine_error()}")
        if not reached:
            return _failed(widget, f"{_named(widget)} went away before it was pressed")
        more = f" (the first of {match.others + 1})" if match.others else ""
        return Done(True, f"clicked {_named(widget)}{more}", widget.name, path_of(widget))

    def _press_only(self, ctx: imgui.test_engine.TestContext, widget: Widget, button: Button) -> bool:
        """Press this widget and no other that may have taken its place; False if a button did not react."""
        ui = self._window.ui
        ui.meant, ui.pressed = widget.name, []
        try:
            self._press(ctx, widget, button)
            reacts = widget.type in ("button", "row") and button in ("left", "double")
            for _ in range(_PRESS_FRAMES if reacts and not ctx.is_error() else 0):
                if widget.name in ui.pressed:
                    return True
                ctx.yield_()
            return not reacts or widget.name in ui.pressed
        finally:
            ui.meant = None

    def _press(self, ctx: imgui.test_engine.TestContext, widget: Widget, button: Button) -> None:
        middle = _middle(widget.rect)
        if widget.id and widget.visible:
            ctx.mouse_move_to_pos(middle)
        if not widget.id or (widget.visible and imgui.internal.get_hovered_id() == widget.id):
            self._press_at(ctx, middle, button)  # nothing covers it: the fastest way
            return
        ref = imgui.test_engine.TestRef(widget.id)  # the engine brings its window to the front and scrolls to it
        if button == "double":
            ctx.item_double_click(ref)
        else:
            ctx.item_click(ref, _BUTTONS[button])

    def _press_at(self, ctx: imgui.test_engine.TestContext, at: imgui.ImVec2, button: Button) -> None:
        ctx.mouse_move_to_pos(at)
        if button == "double":
            ctx.mouse_double_click(0)
        else:
            ctx.mouse_click(_BUTTONS[button])

    def _click_tab(self, ctx: imgui.test_engine.TestContext, title: str, button: Button) -> Done:
        """Click the tab of a docked window, or the title bar of another."""
        window = imgui.internal.find_window_by_name(title)
        rect = window.dc.dock_tab_item_rect
        if rect.max.x <= rect.min.x:  # in no dock
            rect = window.title_bar_rect()
        self._press_at(ctx, imgui.ImVec2((rect.min.x + rect.max.x) / 2, (rect.min.y + rect.max.y) / 2), button)
        for _ in range(_TAB_FRAMES):
            if title not in self._widgets.hidden:
                return Done(True, f"clicked window:{title}", f"window.{title.lower()}", f"window:{title}")
            ctx.yield_()
        return Done(False, f"window:{title} did not come to the front", f"window.{title.lower()}", f"window:{title}")

    def _type(self, ctx: imgui.test_engine.TestContext, typing: Type) -> Done:
        widget = find(self._widgets, typing.target).widget
        if widget is None:
            return self._missing(typing.target)
        if widget.type != "input":
            return _failed(widget, f"{_named(widget)} is no input: nothing can be typed into it")
        if refusal := self._refusal(widget):
            return _failed(widget, refusal)
        expected = typing.text if typing.clear_first else widget.value + typing.text
        ctx.item_click(imgui.test_engine.TestRef(widget.id))
        if typing.clear_first:
            ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.a.value)
            ctx.key_press(imgui.Key.delete.value)
        else:
            ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.end.value)
        if typing.text:
            ctx.key_chars(typing.text)
        actual = ""
        for _ in range(_TYPED_FRAMES):
            if ctx.is_error():
                return _failed(widget, f"{_named(widget)} cannot be reached: {self._engine_error()}")
            drawn = self._widgets.find(widget.name)
            actual = drawn.value if drawn is not None else ""
            if actual == expected:
                message = f"typed {len(typing.text):,} characters into {_named(widget)}"
                return Done(True, message, widget.name, path_of(widget))
            ctx.yield_()
        return _failed(widget, f"{_named(widget)} says {actual[:200]!r} and not {expected[:200]!r}")

    def _refusal(self, widget: Widget) -> str:
        """Why this widget must not be used; empty if it may."""
        if not widget.enabled:
            return f"{_named(widget)} is disabled"
        by = self._window.send.by
        return f"it was refused: {by.why_not}" if _is_forbidden(widget, by) else ""

    def _missing(self, target: Target) -> Done:
        near = nearest(self._widgets, target)
        return Done(False, f"there is no {target} now; the nearest: {', '.join(near) or 'nothing'}")

    def _engine_error(self) -> str:
        """The last error in the test engine's log."""
        lines = self._test.output.log.buffer
        text = lines.c_str() if hasattr(lines, "c_str") else ""
        errors = [line for line in text.splitlines() if "rror" in line]
        return errors[-1].strip()[-300:] if errors else "another widget covers it"


def _is_forbidden(widget: Widget, by: Authority) -> bool:
    """The widget is part of an answer, and this actor may not answer."""
    return not by.answers and widget.key.startswith(_ANSWERS)


def _failed(widget: Widget, message: str) -> Done:
    return Done(False, message, widget.name, path_of(widget))


def _named(widget: Widget) -> str:
    return f"{widget.type}:{plain(widget.label)} [{widget.name}]"


def _middle(rect: Sequence[float]) -> imgui.ImVec2:
    return imgui.ImVec2((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2)
