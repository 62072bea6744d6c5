"""Diagnostics: performance figures of the window, and the health of panels and journal."""

from collections.abc import Callable

from imgui_bundle import imgui, implot

from interlock.gui.data.figures import Figures
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.guard import PanelGuard
from interlock.gui.drawing.theme import vec4
from interlock.gui.drawing.widgets import Ui

# part of widget keys, so the names stay although the labels changed
_CPU_TIME = "our own work for a frame"
_LATENCY = "from news to picture, at most"
_LABELS = {_CPU_TIME: "CPU time per frame", _LATENCY: "longest time from event to frame"}


class DiagnosticsPanel:
    name = "Diagnostics"
    tabs = ("diagnostics",)

    def __init__(self, figures: Figures, guard: PanelGuard, broken: Callable[[], str]) -> None:
        self._figures = figures
        self._guard = guard
        self._broken = broken

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        figures = self._figures
        rows = {
            "frames in the last second": f"{figures.fps:.0f}",
            _CPU_TIME: f"{figures.frame_time_ms:.2f} ms",
            _LATENCY: f"{figures.input_lag_ms:.1f} ms",
            "processor": f"{figures.cpu:.0f} %",
            "widgets in this frame": f"{len(ui.shown.all()):,}",
            "events": f"{frame.state.version:,}",
            "tracks": f"{len(frame.state.tracks):,}",
            "approvals": f"{len(frame.state.approvals):,}",
            "streams": f"{len(frame.feed.streams):,}",
        }
        for name, value in rows.items():
            ui.small(_LABELS.get(name, name), ui.look.dim)
            imgui.same_line(230)
            ui.small(value, ui.look.text, key="diagnostics.row", scope=name)
        ui.gap()
        if broken := self._broken():
            ui.wrapped(f"The journal cannot be written: {broken}", ui.look.bad)
        for name, wrong in self._guard.broken.items():
            ui.wrapped(f"{name}: {wrong.what}", ui.look.bad)
        if not broken and not self._guard.broken:
            ui.small("All panels work, and the journal is writable.", ui.look.good, key="diagnostics.health")
        ui.gap()
        flags = implot.Flags_.no_menus.value | implot.Flags_.no_legend.value | implot.Flags_.no_mouse_text.value
        times = figures.recent()
        if len(times) > 1 and implot.begin_plot("##frames", imgui.ImVec2(-1, 150), flags):
            fit = implot.AxisFlags_.auto_fit.value
            implot.setup_axes("frames", "ms", fit | implot.AxisFlags_.no_tick_labels.value, fit)
            spec = implot.Spec()
            spec.line_color = vec4(ui.look.palette.accent)
            implot.plot_line("ms", times, spec=spec)
            implot.end_plot()
        if ui.button("diagnostics.theme", "Light" if ui.look.name == "dark" else "Dark"):
            ui.look.use("light" if ui.look.name == "dark" else "dark")
            ui.look.apply_style()
