"""Tests: the executions with outcome, counts and flake rate; a click shows one in detail."""

from bisect import bisect_left

from imgui_bundle import imgui

from interlock.desk.times import duration
from interlock.domain.checks.test_history_texts import restored
from interlock.domain.values.test_history import Execution, History, Outcome
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.text_widgets import clipped, fitted
from interlock.gui.drawing.theme import SMALL
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import counted, one_line, safe
from interlock.views.test_history import utc_text
from interlock.views.verification import seconds

_LOOKS: dict[Outcome, tuple[str, str]] = {
    "passed": ("good", symbols.CHECK),
    "failed": ("bad", symbols.CROSS),
    "timeout": ("waiting", symbols.CLOCK),
}
_COLUMNS = (("took", 330.0), ("category", 262.0), ("runs", 176.0), ("flake", 126.0), ("ago", 74.0))
"""Columns beside the name, with their distance from the right edge."""
_NARROWEST = 160.0  # pixels of the name; columns that do not fit beside it are hidden
_LINES = 500  # log lines shown


def _filter_width() -> float:
    return min(320.0, max(100.0, imgui.get_content_region_avail().x - 130))


class TestsPanel:
    name = "Tests"
    tabs = ("tests",)

    def __init__(self) -> None:
        self._filter = ""
        self._rows: list[int] = []  # numbers of executions, oldest first
        self._seen: tuple[str, int] = ("", 0)
        self._chosen = ""
        self._whole: tuple[str, Execution | None] = ("", None)

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        history = frame.state.tests
        if not history.kept:
            ui.empty(
                "No test results yet",
                "interlock test ingest junit.xml records the results of pytest, jest, go or maven.",
                "interlock gui --enable-test-harness lets programs drive this window; each click is a test.",
                "The panel then shows figures by test name: runs, failures, duration and flake rate.",
            )
            return
        written = ui.input(
            "tests.filter",
            self._filter,
            label="filter",
            hint="filter: failed, a category, a name",
            width=_filter_width(),
        )
        if written is not None:
            self._filter = written
        self._filter_rows(history)
        imgui.same_line()
        ui.small(f"{len(self._rows):,} of {counted(len(history.kept), 'run')}", ui.look.faint, key="tests.count")
        chosen = history.find(self._chosen)
        ui.rule()
        room = imgui.get_content_region_avail()
        self._draw_header(ui, room.x)
        high = room.y * 0.45 if chosen else 0.0
        imgui.begin_child("rows", imgui.ImVec2(0, high))
        if not self._rows:
            ui.empty("No matching tests", "Clear the filter to see all.")
        self._draw_list(ui, frame, history)
        imgui.end_child()
        if chosen:
            ui.rule()
            imgui.begin_child("detail", imgui.ImVec2(0, 0))
            self._draw_detail(ui, frame, history, self._with_whole_texts(chosen.execution, send))
            imgui.end_child()

    def _filter_rows(self, history: History) -> None:
        """Filter only the executions added since the last frame, or all if the filter has changed."""
        wanted = self._filter.strip().lower()
        known = self._seen[1] if self._seen[0] == wanted and self._seen[1] <= history.count else 0
        if not known:
            self._rows = []
        del self._rows[: bisect_left(self._rows, history.oldest)]
        for number in range(max(known + 1, history.oldest), history.count + 1):
            run = history.kept[number].execution
            if not wanted or wanted in (run.status, run.category) or wanted in f"{run.name} {run.test_id}".lower():
                self._rows.append(number)
        self._seen = (wanted, history.count)

    def _draw_header(self, ui: Ui, wide: float) -> None:
        ui.small("name", ui.look.faint)
        edge = imgui.get_style().window_padding.x  # the child window of the rows begins there
        for words, right in _COLUMNS:
            if wide - right > _NARROWEST:
                imgui.same_line(edge + wide - right)
                ui.small(words, ui.look.faint)

    def _draw_list(self, ui: Ui, frame: Frame, history: History) -> None:
        look = ui.look
        wide = imgui.get_content_region_avail().x
        imgui.push_style_var(imgui.StyleVar_.item_spacing.value, imgui.ImVec2(8, 4))
        high = imgui.get_text_line_height() + 2

        def row(at: int) -> None:
            run = history.kept[self._rows[-1 - at]].execution
            known = history.aggregate(run)
            role, symbol = _LOOKS[run.status]
            label = one_line(f"{run.name} {run.status}", 200)
            if ui.row("tests.row", label, scope=run.test_id, chosen=run.test_id == self._chosen, height=high):
                self._chosen = "" if run.test_id == self._chosen else run.test_id
            imgui.same_line(4)
            ui.text(symbol, look.by_role[role])
            imgui.same_line(28)
            ui.text(fitted(one_line(run.name, 300), max(_NARROWEST, wide - _COLUMNS[0][1]) - 40))
            cells = (
                (seconds(run.execution_time_ms), look.dim),
                (run.category, look.dim),
                (f"{known.runs:,}", look.dim),
                (f"{known.flake_rate:.0%}" if known.flake_rate else "", look.waiting),
                (duration(frame.now - run.completed_at_ms / 1_000), look.faint),
            )
            for (_, right), (words, colour) in zip(_COLUMNS, cells, strict=True):
                if wide - right > _NARROWEST:
                    imgui.same_line(wide - right)
                    ui.small(words, colour)

        clipped(len(self._rows), high + 4, row)
        imgui.pop_style_var()

    def _with_whole_texts(self, execution: Execution, send: Sender) -> Execution:
        """The execution with its full texts, as soon as they are fetched."""
        if execution.whole is None:
            return execution
        if self._whole[0] != execution.test_id:
            self._whole = (execution.test_id, None)
        if self._whole[1] is None and (text := send.text(execution.whole.sha256)):
            self._whole = (execution.test_id, restored(execution, text.encode()))
        return self._whole[1] or execution

    def _draw_detail(self, ui: Ui, frame: Frame, history: History, run: Execution) -> None:
        look = ui.look
        role, symbol = _LOOKS[run.status]
        ui.text(symbol, look.by_role[role])
        imgui.same_line()
        ui.bold(one_line(run.name, 120))
        ui.right(run.status, look.by_role[role])
        known = history.aggregate(run)
        flake = f", {known.flake_rate:.0%} flake" if known.flake_rate else ""
        facts = {
            "id": run.test_id,
            "ended": f"{utc_text(run.completed_at_ms)}, after {seconds(run.execution_time_ms)}",
            "so far": f"{counted(known.runs, 'run')}: {known.passed:,} passed, {known.failed:,} failed{flake};"
            f" {seconds(known.average_ms)} on average",
            "step of": run.parent,
            "steps": ", ".join(history.steps.get(run.test_id, ())[:50]),
            "picture": run.screenshot_path,
            "figures": ", ".join(f"{name} {value:,}" for name, value in run.metrics),
        }
        for name, value in facts.items():
            if value:
                ui.small(name, look.faint)
                imgui.same_line(74)
                ui.wrapped(safe(value), look.dim, small=True)
                ui.note(f"tests.{name.replace(' ', '_')}", name, "text", value=safe(value)[:2_000])
        self._draw_text(ui, "error", run.error_message, look.bad)
        for assertion in run.assertions:
            ui.text(symbols.CHECK if assertion.passed else symbols.CROSS, look.good if assertion.passed else look.bad)
            imgui.same_line()
            compared = (
                f"  expected {assertion.expected_value!r}, was {assertion.actual_value!r}"
                if assertion.expected_value
                else ""
            )
            why = f"  {assertion.error_message}" if assertion.error_message else ""
            ui.wrapped(one_line(f"{assertion.description}{compared}{why}", 400), look.dim, small=True)
        self._draw_text(ui, "widgets", run.widget_tree, look.dim)
        self._draw_text(ui, "logs", "\n".join(run.logs[-_LINES:]), look.dim)

    def _draw_text(self, ui: Ui, name: str, text: str, colour: int) -> None:
        if not text:
            return
        ui.gap(4)
        ui.small(name, ui.look.faint)
        imgui.push_font(ui.look.mono, SMALL)
        ui.wrapped(safe(text[:20_000]), colour)
        imgui.pop_font()
        ui.note(f"tests.{name}", name, "text", value=safe(text[:2_000]))
