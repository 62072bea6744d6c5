"""Isolates panels: a panel that fails shows its error in its own place, and the rest of the window works."""

import traceback
from collections.abc import Callable
from pathlib import Path

from imgui_bundle import imgui
from msgspec import Struct

from interlock.gui.drawing.theme import NORMAL
from interlock.gui.drawing.widgets import Ui

_STACKS = {
    "size_of_window_stack": "a window",
    "size_of_id_stack": "an id",
    "size_of_tree_stack": "a tree",
    "size_of_color_stack": "a colour",
    "size_of_style_var_stack": "a style",
    "size_of_font_stack": "a font",
    "size_of_group_stack": "a group",
    "size_of_item_flags_stack": "a flag",
    "size_of_begin_popup_stack": "a popup",
    "size_of_disabled_stack": "a disabled part",
}


def window_depth() -> int:
    """The number of ImGui windows that are begun and not ended."""
    now = imgui.internal.ErrorRecoveryState()
    imgui.internal.error_recovery_store_state(now)
    return now.size_of_window_stack


class Broken(Struct, frozen=True):
    what: str
    trace: str


class PanelGuard:
    """Draws panels. A broken panel is not drawn again until the user asks for it."""

    def __init__(self, ui: Ui) -> None:
        self._ui = ui
        self.broken: dict[str, Broken] = {}

    def draw(self, name: str, draw: Callable[[], None]) -> None:
        """Draw inside a window that the caller has begun; `end` ends it."""
        if name in self.broken:
            self._show(name)
            return
        before = imgui.internal.ErrorRecoveryState()
        imgui.internal.error_recovery_store_state(before)
        log, io = imgui.get_current_context().debug_log_buf, imgui.get_io()
        logged, asserts = log.size(), io.config_error_recovery_enable_assert
        # Misuse of ImGui is logged, not raised: an exception from inside ImGui would leave its stacks inconsistent,
        # and the recovery would fail as well.
        io.config_error_recovery_enable_assert = False
        try:
            draw()
        except Exception as error:  # noqa: BLE001  a panel's failure must not reach the window
            self.broken[name] = Broken(f"{type(error).__name__}: {error}", _traceback_lines(error))
        wrong = self._recover(before)
        if not wrong and log.size() > logged:
            wrong = _last_log_line()
        io.config_error_recovery_enable_assert = asserts
        if wrong and name not in self.broken:
            self.broken[name] = Broken(wrong, "")

    def end(self, depth: int) -> None:
        """End the window, unless a panel has ended it already."""
        if window_depth() > depth:
            imgui.end()

    def retry(self, name: str) -> None:
        self.broken.pop(name, None)

    def _recover(self, before: imgui.internal.ErrorRecoveryState) -> str:
        """Restore ImGui's stacks; returns a description of the error."""
        after = imgui.internal.ErrorRecoveryState()
        imgui.internal.error_recovery_store_state(after)
        wrong = ""
        for field, what in _STACKS.items():
            was, now = getattr(before, field), getattr(after, field)
            if was != now:
                wrong = f"it left {what} open" if now > was else f"it ended {what} that it had not begun"
                break
        for _ in range(after.size_of_font_stack, before.size_of_font_stack):  # ImGui fails without a font
            imgui.push_font(self._ui.look.regular, NORMAL)
        if after.size_of_tree_stack < before.size_of_tree_stack:
            imgui.internal.get_current_window().dc.tree_depth = before.size_of_tree_stack
        if wrong and after.size_of_window_stack >= before.size_of_window_stack:
            imgui.internal.error_recovery_try_to_recover_state(before)
        return wrong

    def _show(self, name: str) -> None:
        ui, broken = self._ui, self.broken[name]
        ui.bold(f"{chr(0xF071)}  This panel failed", ui.look.bad)
        ui.wrapped(broken.what)
        ui.wrapped("The other panels and the workbench still work. No work is lost.", ui.look.dim)
        ui.gap(4)
        if ui.button("panel.retry", "Draw it again", scope=name):
            self.retry(name)
        if broken.trace:
            ui.gap(4)
            imgui.push_font(ui.look.mono, 13)
            ui.wrapped(broken.trace, ui.look.faint, key="panel.trace", scope=name)
            imgui.pop_font()


def _last_log_line() -> str:
    """The last line of ImGui's log."""
    line = imgui.get_current_context().debug_log_buf.c_str().rstrip().rpartition("\n")[2]
    return line.rpartition("[imgui-error] ")[2][:500]


def _traceback_lines(error: BaseException) -> str:
    """The last frames of the traceback, with shortened paths."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return "\n".join(
        f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}  {frame.name}: {frame.line or ''}"
        for frame in frames
    )
