"""Streams: events and model output as a readable log."""

from imgui_bundle import imgui

from interlock.desk.feed import Stream
from interlock.desk.times import clock
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.text_widgets import clipped
from interlock.gui.drawing.theme import NORMAL, SMALL
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import one_line, safe
from interlock.views.journal_lines import JournalLine

EVERYTHING = "Everything"
_QUIET = ("call", "bench")
_TAIL = 30  # lines recorded as the widget's value

_NARROW = 420.0  # pixels; below this width the least important columns are hidden


class StreamsPanel:
    name = "Streams"
    tabs = ("streams",)

    def __init__(self) -> None:
        self._chosen = EVERYTHING
        self._follow = True
        self._rows: list[tuple[JournalLine, bool]] = []
        self._seen = (-1, -1)

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        streams = frame.feed.streams
        if self._chosen != EVERYTHING and self._chosen not in streams:
            self._chosen = EVERYTHING
        self._draw_choice(ui, list(streams))
        stream = streams.get(self._chosen)
        imgui.push_style_var(imgui.StyleVar_.item_spacing.value, imgui.ImVec2(8, 3))
        imgui.begin_child("log", imgui.ImVec2(0, 0), 0, imgui.WindowFlags_.horizontal_scrollbar.value)
        if stream is None:
            self._draw_facts(ui, frame)
        else:
            self._draw_lines(ui, stream)
        if self._follow and imgui.get_scroll_max_y() > 0:
            imgui.set_scroll_here_y(1.0)
        imgui.end_child()
        imgui.pop_style_var()
        ui.note("streams.text", self._chosen, "text", value=self._tail(stream))

    def _tail(self, stream: Stream | None) -> str:
        """The last lines shown."""
        if stream is None:
            lines = [fact.more if second else f"{fact.whose} {fact.text}" for fact, second in self._rows[-_TAIL:]]
        else:
            lines = stream.lines[-_TAIL:]
        return safe("\n".join(lines)[-2_000:])

    def _draw_choice(self, ui: Ui, keys: list[str]) -> None:
        imgui.push_font(ui.look.regular, SMALL)
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(8, 2))
        room = imgui.get_content_region_avail().x - 90
        used = 0.0
        for key in (EVERYTHING, *keys[::-1]):
            label = one_line(key.replace("Tier 3 (Worker): ", "").replace("Tier 4 (QA): ", "QA "), 40)
            wide = imgui.calc_text_size(label).x + 24
            if used and used + wide > room:
                ui.text("…", ui.look.faint)
                imgui.same_line(0, 4)
                break
            used += wide
            chosen = key == self._chosen
            if ui.button(
                "streams.choose", label, scope=key, weight="plain" if chosen else "quiet", about=one_line(key, 200)
            ):
                self._chosen = key
            imgui.same_line(0, 4)
        imgui.same_line(imgui.get_window_width() - 88)
        self._follow = ui.checkbox("streams.follow", "follow", self._follow)
        imgui.pop_style_var()
        imgui.pop_font()
        ui.rule()

    def _draw_facts(self, ui: Ui, frame: Frame) -> None:
        facts = frame.feed.facts
        now = (len(facts), facts[-1].version if facts else 0)
        if now != self._seen:
            self._seen = now
            self._rows = []
            for fact in facts[-2_000:]:
                if fact.kind not in _QUIET or fact.text_role == "bad":
                    self._rows.append((fact, False))
                    if fact.more:
                        self._rows.append((fact, True))
        if not self._rows:
            ui.empty("No events yet", "Each event appears here as one line.")
            return
        look = ui.look
        left = 0.0 if imgui.get_content_region_avail().x < _NARROW else 82.0  # a narrow panel has no time column
        imgui.push_font(look.mono, NORMAL)

        def row(at: int) -> None:
            fact, second = self._rows[at]
            if left:
                ui.text(clock(fact.at), look.faint)
                imgui.same_line(left)
            if second:
                imgui.dummy(imgui.ImVec2(1, 1))
                imgui.same_line(left + 128)
                ui.text(fact.more, look.bad)
                return
            ui.text(fact.kind, look.by_role[fact.role])
            imgui.same_line(left + 54)
            ui.text(fact.whose[:9], look.dim)
            imgui.same_line(left + 128)
            ui.text(fact.text, look.by_role[fact.text_role])

        clipped(len(self._rows), imgui.get_text_line_height() + 3, row)
        imgui.pop_font()

    def _draw_lines(self, ui: Ui, stream: Stream) -> None:
        look, lines, at, aside = ui.look, stream.lines, stream.at, stream.aside
        imgui.push_font(look.mono, NORMAL)
        if stream.dropped:
            ui.text(f"{stream.dropped:,} earlier lines are no longer kept", look.faint)

        def row(index: int) -> None:
            ui.text(at[index] if not index or at[index] != at[index - 1] else "", look.faint)
            imgui.same_line(82)
            ui.text(safe(lines[index]), look.dim if aside[index] else None)

        clipped(len(lines), imgui.get_text_line_height() + 3, row)
        imgui.pop_font()
