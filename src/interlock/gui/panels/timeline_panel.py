"""Timeline: the journal, newest last, with a filter."""

from imgui_bundle import imgui

from interlock.desk.times import clock
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.text_widgets import clipped
from interlock.gui.drawing.theme import NORMAL
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import counted
from interlock.views.journal_lines import JournalLine

_NARROW = 420.0  # pixels; below this width the least important columns are hidden


class TimelinePanel:
    name = "Timeline"
    tabs = ("timeline",)

    def __init__(self) -> None:
        self._filter = ""
        self._rows: list[JournalLine] = []
        self._seen: tuple[int, int, str] = (-1, -1, "")

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        facts = frame.feed.facts
        written = ui.input(
            "timeline.filter",
            self._filter,
            label="filter",
            hint="filter: a ticket, a kind, a word",
            width=min(320.0, max(100.0, imgui.get_content_region_avail().x - 150)),
        )
        if written is not None:
            self._filter = written
        imgui.same_line()
        now = (len(facts), facts[-1].version if facts else 0, self._filter)
        if now != self._seen:
            self._seen = now
            wanted = self._filter.strip().lower()
            self._rows = [
                fact
                for fact in facts
                if not wanted or wanted in fact.kind or wanted in fact.whose.lower() or wanted in fact.text.lower()
            ]
        ui.small(f"{len(self._rows):,} of {counted(frame.state.version, 'event')}", ui.look.faint)
        ui.rule()
        imgui.begin_child("rows", imgui.ImVec2(0, 0), 0, imgui.WindowFlags_.horizontal_scrollbar.value)
        if not self._rows:
            ui.empty("No matching events", "The whole journal: interlock journal show")
        imgui.push_font(ui.look.mono, NORMAL)
        imgui.push_style_var(imgui.StyleVar_.item_spacing.value, imgui.ImVec2(8, 3))
        look = ui.look
        narrow = imgui.get_content_region_avail().x < _NARROW
        kind, whose, text = (72, 126, 200) if narrow else (146, 206, 318)

        def row(at: int) -> None:
            fact = self._rows[at]
            ui.text(f"{fact.version:>7}", look.faint)
            if not narrow:
                imgui.same_line(72)
                ui.text(clock(fact.at), look.faint)
            imgui.same_line(kind)
            ui.text(fact.kind, look.by_role[fact.role])
            imgui.same_line(whose)
            ui.text(fact.whose[: 9 if narrow else 14], look.dim)
            imgui.same_line(text)
            ui.text(fact.text, look.by_role[fact.text_role])

        clipped(len(self._rows), imgui.get_text_line_height() + 3, row)
        imgui.pop_style_var()
        imgui.pop_font()
        if imgui.get_scroll_y() >= imgui.get_scroll_max_y() - 30:
            imgui.set_scroll_here_y(1.0)
        imgui.end_child()
