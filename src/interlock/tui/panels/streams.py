"""Streams: what models, tools and gates say now, one stream per tier key, and the journal as readable lines."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from interlock.desk.feed import Feed, Stream
from interlock.desk.times import clock
from interlock.tui.colours import Colours
from interlock.tui.lines.bar import Bar
from interlock.tui.lines.line_list import LineList
from interlock.tui.lines.rows import EMPTY, Row, Span, row
from interlock.tui.panels.panel import Panel
from interlock.tui.picture import Picture
from interlock.tui.sending import Sender
from interlock.views.display import counted, one_line, safe
from interlock.views.journal_lines import JournalLine

EVERYTHING = "Everything"
_QUIET = ("call", "bench")
_NARROW = 60


class StreamLines(LineList):
    """The kept lines of one stream, or the latest events; with a filter only the lines that contain it."""

    has_cursor = False

    def __init__(self, colours: Colours, feed: Feed) -> None:
        super().__init__(colours, id="stream-lines")
        self._feed = feed
        self.key = EVERYTHING
        self.wanted = ""
        self.follow = True
        self._kept: list[int] = []  # with a filter: the lines that are shown, counted from the beginning of the stream
        self._looked = 0  # lines that the filter has seen, counted likewise
        self._facts: list[tuple[JournalLine, bool]] = []
        self._facts_for: tuple[int, int, str] = (-1, -1, "")

    @property
    def stream(self) -> Stream | None:
        return self._feed.streams.get(self.key)

    def choose(self, key: str) -> None:
        self.key = key
        self.filter(self.wanted)

    def filter(self, wanted: str) -> None:
        self.wanted = wanted.strip().lower()
        self._kept, self._looked = [], 0
        self._facts_for = (-1, -1, "")
        self.renew()

    def renew(self) -> None:
        stream = self.stream
        if stream is None:
            self._read_facts()
        elif self.wanted:
            self._look(stream)
        self.changed()

    def _look(self, stream: Stream) -> None:
        """Reads only the lines that came since the last look."""
        end = stream.dropped + len(stream.lines)
        first = max(self._looked - 1, stream.dropped)  # the last line may have grown
        self._kept = [at for at in self._kept if stream.dropped <= at < first]
        for at in range(first, end):
            if self.wanted in stream.lines[at - stream.dropped].lower():
                self._kept.append(at)
        self._looked = end

    def _read_facts(self) -> None:
        facts = self._feed.facts
        now = (len(facts), facts[-1].version if facts else 0, self.wanted)
        if now == self._facts_for:
            return
        self._facts_for = now
        self._facts = []
        for fact in facts[-2_000:]:
            if fact.kind in _QUIET and fact.text_role != "bad":
                continue
            if self.wanted and self.wanted not in f"{fact.kind} {fact.whose} {fact.text} {fact.more}".lower():
                continue
            self._facts.append((fact, False))
            if fact.more:
                self._facts.append((fact, True))

    def count(self) -> int:
        stream = self.stream
        if stream is None:
            return max(1, len(self._facts))
        return len(self._kept) if self.wanted else len(stream.lines) + bool(stream.dropped)

    def row_at(self, index: int, width: int) -> Row:
        stream = self.stream
        if stream is None:
            if not self._facts:
                return row(Span("Each event appears here as one line.", "faint"))
            fact, second = self._facts[index]
            return fact_row(fact, width, second=second)
        if self.wanted:
            at = self._kept[index] - stream.dropped if index < len(self._kept) else -1
        else:
            at = index - bool(stream.dropped)
            if at < 0:
                return row(Span(f"{counted(stream.dropped, 'earlier line')} are no longer kept", "faint"))
        if not 0 <= at < len(stream.lines):
            return EMPTY
        role = "dim" if stream.aside[at] else "text"
        return row(Span(f"{stream.at[at]:<9}", "faint"), *_found(safe(stream.lines[at]), self.wanted, role))

    def find(self, word: str, by: int) -> bool:
        """Scrolls to the next line with the word; False if there is none."""
        count, start = self.count(), self.scroll_offset.y
        for step in range(1, count + 1):
            at = (start + by * step) % count
            text = "".join(span.text for span in self.row_at(at, self.cells).spans)
            if word.lower() in text.lower():
                self.follow = False
                self.scroll_to(y=at, animate=False, force=True)
                return True
        return False


def _found(text: str, wanted: str, role: str) -> list[Span]:
    """The text with what the filter found marked."""
    if not wanted:
        return [Span(text, role)]
    spans: list[Span] = []
    low, at = text.lower(), 0
    while len(low) == len(text) and (next_ := low.find(wanted, at)) >= 0:
        spans += [Span(text[at:next_], role), Span(text[next_ : next_ + len(wanted)], role, "mark-waiting")]
        at = next_ + len(wanted)
    spans.append(Span(text[at:], role))
    return spans


def fact_row(fact: JournalLine, width: int, *, second: bool = False, number: bool = False) -> Row:
    """An event as one row; `second` is its further line, such as the output of a failed gate."""
    lead = [Span(f"{fact.version:>7} ", "faint")] if number else []
    if width >= _NARROW:
        lead.append(Span(f"{clock(fact.at)} ", "faint"))
    if second:
        return row(*lead, Span(" " * 17), Span(fact.more, "bad"))
    whose = fact.whose if len(fact.whose) <= 10 else fact.whose[:9] + "…"
    return row(
        *lead, Span(f"{fact.kind:<6} ", fact.role), Span(f"{whose:<10} ", "dim"), Span(fact.text, fact.text_role)
    )


class Streams(Panel):
    label = "Streams"
    keys = (("[ ]", "stream"), ("f", "follow"), ("/", "filter"), ("ctrl+s", "search"), ("N", "next found"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket,h,left", "choose(-1)", show=False),
        Binding("right_square_bracket,l,right", "choose(1)", show=False),
        Binding("f", "follow", show=False),
        Binding("slash", "filter", show=False),
        Binding("ctrl+s", "search", show=False),
        Binding("n", "found(1)", show=False),
        Binding("N", "found(-1)", show=False),
    ]

    def __init__(self, colours: Colours, picture: Picture, send: Sender, feed: Feed) -> None:
        super().__init__(colours, picture, send)
        self._feed = feed
        self._word = ""

    def compose(self) -> ComposeResult:
        self.head = Bar(self.colours, id="stream-head")
        yield self.head
        self.lines = StreamLines(self.colours, self._feed)
        yield self.lines
        self.filter = Input(placeholder="only lines with … (Enter keeps it, Esc removes it)", id="stream-filter")
        self.filter.display = False
        yield self.filter

    def draw(self) -> None:
        if self.lines.key != EVERYTHING and self.lines.stream is None:
            self.lines.choose(EVERYTHING)
        self.lines.renew()
        self._draw_head()

    def _draw_head(self) -> None:
        spans: list[Span] = []
        keys = self.choices()
        at = keys.index(self.lines.key)
        for key in keys[max(0, at - 2) : at + 12]:
            label = one_line(key.replace("Tier 3 (Worker): ", "").replace("Tier 4 (QA): ", "QA "), 28)
            chosen = key == self.lines.key
            spans += [Span(f" {label} ", "accent" if chosen else "dim", "raised" if chosen else "", bold=chosen)]
        filtered = f"filter: {one_line(self.lines.wanted, 20)}  " if self.lines.wanted else ""
        follow = Span("following" if self.lines.follow else "f follows", "accent" if self.lines.follow else "faint")
        self.head.show(row(*spans, right=[Span(filtered, "waiting"), follow]))
        self.show_title("Streams", one_line(self.lines.key, 50))

    def choices(self) -> list[str]:
        """The latest stream is first."""
        streams = self._feed.streams
        return [EVERYTHING, *sorted(streams, key=lambda key: -streams[key].updated)]

    def action_choose(self, by: int) -> None:
        keys = self.choices()
        self.lines.choose(keys[(keys.index(self.lines.key) + by) % len(keys)])
        self._draw_head()

    def action_follow(self) -> None:
        self.lines.follow = not self.lines.follow
        self.draw()

    def action_filter(self) -> None:
        self.filter.display = True
        self.screen.set_focus(self.filter)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.lines.filter(event.value)
        self._draw_head()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.filter.display = bool(event.value)
        self.lines.focus()

    def leave_input(self) -> None:
        self.filter.value = ""
        self.filter.display = False
        self.lines.focus()

    def action_search(self) -> None:
        def look(word: str) -> None:
            self._word = word.strip()
            self.action_found(1)

        self.shell.ask("Search for:", look)

    def action_found(self, by: int) -> None:
        if self._word and not self.lines.find(self._word, by):
            self.send.note(f"no line contains {self._word!r}", "waiting")
        self._draw_head()
