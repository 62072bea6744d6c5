"""Usage: tokens, cost, reservations and caps by tier and by track."""

from textual.app import ComposeResult

from interlock.domain.values.budgets import Scope, dollars
from interlock.tui.lines.line_list import FixedLines
from interlock.tui.lines.rows import EMPTY, Row, Span, cut, row, wrapped
from interlock.tui.panels.panel import Panel
from interlock.views.usage.costs import UsageRow, cost_shown, usage_rows
from interlock.views.usage.spend import bars

_COLOURS = {"Tier 1": "planner", "Tier 2": "accent", "Tier 3": "running", "Tier 4": "good", "Discussion": "waiting"}
_CELL = 12
_MOST = 200


class Usage(Panel):
    label = "Usage"
    keys = (("j k", "scroll"),)

    def compose(self) -> ComposeResult:
        self.lines = FixedLines(self.colours, id="usage-lines")
        self.lines.has_cursor = False
        yield self.lines

    def draw(self) -> None:
        state = self.picture.state
        width = max(20, self.lines.cells)
        tiers = usage_rows(state)
        self.show_title("Usage", "")
        if not tiers:
            said = "No model calls yet. Tokens and cost of all calls appear here, by tier and by track."
            self.lines.show_rows([EMPTY, *wrapped(said, width, "dim")])
            return
        rows = [*self._table("Tier", tiers, width), EMPTY]
        rows += self._table("Track", usage_rows(state, "track")[:_MOST], width)
        rows += [EMPTY, row(Span("Spent by tier", "text", bold=True))]
        plain = self.colours.mode == "none"
        for one, bar in zip(tiers, bars([one.used.cost for one in tiers], width - 30, plain=plain), strict=True):
            role = _COLOURS.get(one.name, "dim")
            rows.append(row(Span(f"{cut(one.name, 14):<15}", "dim"), Span(bar, role), Span(f" {cost_shown(one.used)}")))
        self.lines.show_rows(rows)

    def _table(self, what: str, found: tuple[UsageRow, ...], width: int) -> list[Row]:
        if not found:
            return []
        columns = ["in", "out", "from cache", "spent", "reserved", "cap"]
        for name in ("from cache", "reserved", "cap", "out"):
            if 16 + len(columns) * _CELL > width:
                columns.remove(name)
        room = max(8, width - len(columns) * _CELL)
        rows = [
            row(Span(f"{what:<{room}}", "text", bold=True), *(Span(f"{name:>{_CELL}}", "faint") for name in columns))
        ]
        for one in found:
            scope = Scope("tier" if what == "Tier" else "track", one.name)
            cap = self.picture.state.conductor.caps.of(scope)
            cells = {
                "in": f"{one.used.input:,}",
                "out": f"{one.used.output:,}",
                "from cache": f"{one.used.cache_read:,}",
                "spent": cost_shown(one.used),
                "reserved": dollars(one.unknown) if one.unknown else "",
                "cap": dollars(cap) if cap else "",
            }
            values = [Span(f"{cells[name]:>{_CELL}}", "text") for name in columns]
            rows.append(row(Span(f"{cut(one.name, room - 1):<{room}}", "dim"), *values))
        return rows
