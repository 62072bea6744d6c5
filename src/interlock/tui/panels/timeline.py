"""Timeline: the latest events of the journal, newest last, with a filter."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from interlock.desk.feed import Feed
from interlock.tui.colours import Colours
from interlock.tui.lines.line_list import LineList
from interlock.tui.lines.rows import EMPTY, Row, wrapped
from interlock.tui.panels.panel import Panel
from interlock.tui.panels.streams import fact_row
from interlock.tui.picture import Picture
from interlock.tui.sending import Sender
from interlock.views.display import counted, one_line, safe
from interlock.views.journal_lines import JournalLine


class TimelineLines(LineList):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", show=False)]

    def __init__(self, colours: Colours, feed: Feed) -> None:
        super().__init__(colours, id="timeline-lines")
        self._feed = feed
        self.wanted = ""
        self.follow = True
        self._facts: list[JournalLine] = []
        self._made_for: tuple[int, int, str] = (-1, -1, "")

    def renew(self) -> None:
        facts = self._feed.facts
        now = (len(facts), facts[-1].version if facts else 0, self.wanted)
        if now != self._made_for:
            at_end = self.cursor >= len(self._facts) - 1
            self._made_for = now
            self._facts = [fact for fact in facts if not self.wanted or self.wanted in _words(fact)]
            self.follow = at_end
            if at_end:
                self.cursor = max(0, len(self._facts) - 1)
        self.changed()
        self.follow = False

    @property
    def chosen(self) -> JournalLine | None:
        return self._facts[self.cursor] if self.cursor < len(self._facts) else None

    def count(self) -> int:
        return len(self._facts)

    def row_at(self, index: int, width: int) -> Row:
        return fact_row(self._facts[index], width, number=True) if index < len(self._facts) else EMPTY

    def action_open(self) -> None:
        self.post_message(self.Opened(self))


def _words(fact: JournalLine) -> str:
    return f"{fact.kind} {fact.whose} {fact.text} {fact.more}".lower()


class Timeline(Panel):
    label = "Timeline"
    keys = (("/", "filter"), ("Enter", "whole line"), ("G", "the latest"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "filter", show=False)]

    def __init__(self, colours: Colours, picture: Picture, send: Sender, feed: Feed) -> None:
        super().__init__(colours, picture, send)
        self._feed = feed

    def compose(self) -> ComposeResult:
        self.lines = TimelineLines(self.colours, self._feed)
        yield self.lines
        self.filter = Input(
            placeholder="a ticket, a kind, a word (Enter keeps it, Esc removes it)", id="timeline-filter"
        )
        self.filter.display = False
        yield self.filter

    def draw(self) -> None:
        self.lines.renew()
        shown = f"{self.lines.count():,} of {counted(self.picture.state.version, 'event')}"
        kept = f"  filter: {one_line(self.lines.wanted, 30)}" if self.lines.wanted else ""
        self.show_title(f"Timeline  {shown}{kept}", "the whole journal: interlock journal show")

    def action_filter(self) -> None:
        self.filter.display = True
        self.screen.set_focus(self.filter)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.lines.wanted = event.value.strip().lower()
        self.draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.filter.display = bool(event.value)
        self.lines.focus()

    def leave_input(self) -> None:
        self.filter.value = ""
        self.filter.display = False
        self.lines.focus()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        fact = self.lines.chosen
        if fact is not None:
            text = f"{fact.at}\n{fact.kind} {fact.whose}\n\n{fact.text}\n{fact.more}"
            self.shell.read(f"Event {fact.version}", lambda width: wrapped(safe(text), width))
