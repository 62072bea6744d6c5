"""Usage: tokens, cost, reservations and caps by tier and track, and cost over time."""

import numpy as np
from imgui_bundle import imgui, implot

from interlock.domain.values.budgets import Scope, dollars
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.text_widgets import fitted
from interlock.gui.drawing.theme import SMALL, vec4
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import one_line
from interlock.views.usage.costs import UsageRow, cost_shown, usage_rows

_COLOURS = {"Tier 1": "planner", "Tier 2": "accent", "Tier 3": "running", "Tier 4": "good", "Discussion": "waiting"}

_WIDE = 84.0  # pixels of a column


class UsagePanel:
    name = "Usage"
    tabs = ("usage",)

    def __init__(self) -> None:
        self._rows: tuple[object, tuple[UsageRow, ...], tuple[UsageRow, ...]] = (None, (), ())
        self._lines: tuple[int, dict[str, tuple[np.ndarray, np.ndarray]]] = (-1, {})

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        ledger = frame.state.ledger
        if self._rows[0] is not ledger:
            self._rows = (ledger, usage_rows(frame.state), usage_rows(frame.state, "track")[:200])
        _, tiers, tracks = self._rows
        if not tiers:
            ui.empty("No model calls yet", "This panel shows tokens and cost of all calls, by tier and by track.")
            return
        self._table(ui, frame, "Tier", tiers)
        ui.gap()
        if tracks:
            self._table(ui, frame, "Track", tracks)
            ui.gap()
        self._plot(ui, frame)

    def _table(self, ui: Ui, frame: Frame, what: str, rows: tuple[UsageRow, ...]) -> None:
        flags = imgui.TableFlags_.row_bg.value | imgui.TableFlags_.borders_inner_h.value
        shown = _room_for(imgui.get_content_region_avail().x)
        if not imgui.begin_table(f"usage{what}", len(shown) + 1, flags):
            return
        imgui.table_setup_column(what, imgui.TableColumnFlags_.width_stretch.value)
        for _ in shown:
            imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed.value, _WIDE)
        imgui.table_next_row()
        for name in (what, *shown):
            imgui.table_next_column()
            _cell(ui, name, ui.look.faint, left=name == what)
        for row in rows:
            scope = Scope("tier" if what == "Tier" else "track", row.name)
            cap = frame.state.conductor.caps.of(scope)
            imgui.table_next_row()
            cells = {
                "in": f"{row.used.input:,}",
                "out": f"{row.used.output:,}",
                "from cache": f"{row.used.cache_read:,}",
                "spent": cost_shown(row.used),
                "reserved": dollars(row.unknown) if row.unknown else "",
                "cap": dollars(cap) if cap else "",
            }
            imgui.table_next_column()
            _cell(ui, fitted(one_line(row.name, 60), imgui.get_content_region_avail().x), ui.look.text, left=True)
            for name in shown:
                imgui.table_next_column()
                _cell(ui, cells[name], ui.look.text, left=False)
        imgui.end_table()

    def _plot(self, ui: Ui, frame: Frame) -> None:
        costs = frame.feed.costs
        if len(costs) < 2:
            return
        ui.heading("Spent", "dollars, by tier")
        if self._lines[0] != len(costs):
            points: dict[str, tuple[list[float], list[float]]] = {}
            start = costs[0][0]
            for at, tier, cost in costs:
                xs, ys = points.setdefault(tier, ([0.0], [0.0]))
                xs.append((at - start) / 60)
                ys.append(ys[-1] + cost)
            end = (costs[-1][0] - start) / 60
            self._lines = (
                len(costs),
                {tier: (np.array([*xs, end]), np.array([*ys, ys[-1]])) for tier, (xs, ys) in points.items()},
            )
        flags = implot.Flags_.no_menus.value | implot.Flags_.no_mouse_text.value | implot.Flags_.no_box_select.value
        high = max(170.0, min(280.0, imgui.get_content_region_avail().y - 8))
        if implot.begin_plot("##spent", imgui.ImVec2(-1, high), flags):
            fit = implot.AxisFlags_.auto_fit.value
            implot.setup_axes("minutes", "", fit, fit)
            beside = implot.LegendFlags_.outside.value | implot.LegendFlags_.horizontal.value
            implot.setup_legend(implot.Location_.north_west.value, beside)  # outside, where it hides no line
            for tier, (xs, ys) in self._lines[1].items():
                spec = implot.Spec()
                spec.line_color = vec4(getattr(ui.look.palette, _COLOURS.get(tier, "dim")))
                spec.line_weight = 2
                implot.plot_stairs(tier, xs, ys, spec=spec)
            implot.end_plot()


def _room_for(wide: float) -> tuple[str, ...]:
    """The columns that fit beside the name; the least important are hidden first."""
    shown = ["in", "out", "from cache", "spent", "reserved", "cap"]
    for name in ("from cache", "reserved", "cap", "out"):
        if 120 + len(shown) * (_WIDE + 12) > wide:
            shown.remove(name)
    return tuple(shown)


def _cell(ui: Ui, words: str, colour: int, *, left: bool) -> None:
    imgui.push_font(ui.look.regular, SMALL)
    if not left:  # numbers are right-aligned
        room = imgui.get_content_region_avail().x - imgui.calc_text_size(words).x
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(0.0, room))
    ui.text(words, colour)
    imgui.pop_font()
