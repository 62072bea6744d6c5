"""The terminal workbench: one application over the panels, a bar of panels, notes and keys."""

import asyncio
import contextlib
import contextvars
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Event
from textual.widgets import Input, TextArea

from interlock.desk.feed import Feed
from interlock.domain.messages.envelopes import Recorded
from interlock.errors import InterlockError
from interlock.tui.bench import Bench
from interlock.tui.colours import Colours, Mode, theme
from interlock.tui.inbox.inbox import Inbox
from interlock.tui.lines.bar import Bar
from interlock.tui.lines.rows import Row, Span, row
from interlock.tui.notifying import notification
from interlock.tui.panels.board import Board
from interlock.tui.panels.discussion import Discussion
from interlock.tui.panels.graph import Graph
from interlock.tui.panels.panel import Panel
from interlock.tui.panels.streams import Streams
from interlock.tui.panels.ticket_rows import ticket_lines
from interlock.tui.panels.timeline import Timeline
from interlock.tui.panels.topbar import TopBar
from interlock.tui.panels.usage import Usage
from interlock.tui.picture import Picture
from interlock.tui.screens.asking import Asking, Confirming, Reading
from interlock.tui.screens.commands import entries
from interlock.tui.screens.help import help_rows
from interlock.tui.screens.palette import Entry, Palette
from interlock.tui.sending import PAUSE_S, Sender
from interlock.tui.stylesheet import STYLES
from interlock.views.display import counted

FRAME_S = 1 / 30
"""The least time between two drawings of news."""

WIDE = 140
"""Columns from which board, work and inbox are side by side."""

_HISTORY = 3_000
_TICK_S = 0.25

Opening = Callable[[], Awaitable[Bench]]


class Workbench(App[None]):
    """Draws snapshots and sends commands. `failure` is the error that ended it, if one did."""

    CSS = STYLES
    TITLE = "Interlock"
    ENABLE_COMMAND_PALETTE = False  # ours shows foreign text without markup
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(f"f{number}", f"panel({number})", show=False, priority=True) for number in range(1, 8)),
        *(Binding(str(number), f"panel({number})", show=False) for number in range(1, 8)),
        Binding("ctrl+p,ctrl+shift+p", "commands", show=False, priority=True),
        Binding("question_mark", "help", show=False),
        Binding("ctrl+q,ctrl+c", "leave", show=False, priority=True),
        Binding("q", "leave", show=False),
        Binding("escape", "leave_input", show=False),
    ]

    def __init__(self, opening: Opening, mode: Mode = "true", *, pause_s: float = PAUSE_S) -> None:
        super().__init__(ansi_color=mode != "true")
        self.register_theme(theme(mode))
        self.theme = "interlock"
        self.colours = Colours(mode)
        self.picture = Picture()
        self.send = Sender(self._draw_note, pause_s)
        self.feed = Feed(self._wake)
        self.bench: Bench | None = None
        self.failure: InterlockError | None = None
        self._opening = opening
        self._woken = False
        self._is_drawable = False  # the widgets exist
        self._drawn_at = 0.0
        self._told: set[str] = set()  # approvals that the user knows of
        self._columns = 80
        self._event_loop: asyncio.AbstractEventLoop | None = None
        self._ui_context = contextvars.copy_context()  # in which timers find the application; set when it is mounted
        self.panels: tuple[Panel, ...] = self._panels()
        self.current = 0

    @property
    def sender(self) -> Sender:
        return self.send

    def _panels(self) -> tuple[Panel, ...]:
        parts = (self.colours, self.picture, self.send)
        return (
            Inbox(*parts),
            Board(*parts),
            Graph(*parts),
            Streams(*parts, self.feed),
            Discussion(*parts, self.feed),
            Usage(*parts),
            Timeline(*parts, self.feed),
        )

    def compose(self) -> ComposeResult:
        self.top = TopBar(self.colours, id="top")
        self.tabs = Bar(self.colours, id="tabs")
        self.note = Bar(self.colours, id="note")
        self.foot = Bar(self.colours, id="foot")
        yield self.top
        yield self.tabs
        named = {panel.label: panel for panel in self.panels}
        with Horizontal(id="desk"):
            yield named["Board"]
            with Vertical(id="middle"):
                yield from (panel for panel in self.panels if panel.label not in ("Inbox", "Board"))
            if "Inbox" in named:
                yield named["Inbox"]
        yield self.note
        yield self.foot

    # ── opening and leaving ──────────────────────────────────────────────────────────────

    def on_mount(self) -> None:
        self._event_loop = asyncio.get_running_loop()
        self._ui_context = contextvars.copy_context()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread: a test
                self._event_loop.add_signal_handler(number, self.exit)
        self._is_drawable = True
        self._columns = self.size.width
        self._arrange()
        self.panels[self.current].take_keyboard()
        self.set_interval(_TICK_S, self._tick)
        self.draw_all()
        self.run_worker(self._open(), exit_on_error=True)

    async def _open(self) -> None:
        try:
            bench = await self._opening()
        except InterlockError as error:
            self.failure = error
            self.exit()
            return
        self.bench = self.send.bench = bench
        self.picture.name, self.picture.branch, self.picture.hint = bench.name, bench.branch, bench.hint
        self.picture.lost = ""
        self.feed.records(await bench.history(_HISTORY))
        bench.watch(self)
        self._take()
        self._told = {approval.id for approval in self.picture.pending}
        self.draw_all()

    def action_leave(self) -> None:
        """Asks first if work would stop with this process."""
        if len(self.screen_stack) > 1:
            return
        holder = self.bench.holder if self.bench is not None else None
        reasons: list[str] = []
        if holder is not None and holder.here and holder.clients:
            reasons.append(f"{counted(holder.clients, 'other command')} still work through this process")
        if holder is not None and holder.here and self.picture.workers:
            reasons.append(f"{counted(len(self.picture.workers), 'attempt')} stop here and continue at the next start")
        if reasons:
            self.confirm(f"Quit? {'; '.join(reasons)}.", self.exit)
        else:
            self.exit()

    # ── news: `Watcher` ──────────────────────────────────────────────────────────────────

    def records(self, records: Sequence[Recorded]) -> None:
        self.feed.records(records)
        self._wake()

    def text(self, key: str, piece: str) -> None:
        self.feed.text(key, piece)

    def ended(self, reason: str) -> None:
        self._call_soon(self._say_ended, reason)

    def reopened(self) -> None:
        self._call_soon(self._say_reopened)

    def _call_soon(self, call: Callable[..., None], *given: str) -> None:
        """News come from callbacks of other threads, which know no application."""
        if self._event_loop is not None:
            self._event_loop.call_soon(call, *given, context=self._ui_context)

    def _say_ended(self, reason: str) -> None:
        self.picture.lost = reason
        self.send.note(f"not connected: {reason}. What is shown is the last known state", "bad")
        self.draw_all()

    def _say_reopened(self) -> None:
        self.picture.lost = ""
        here = self.bench is not None and self.bench.holder.here
        self.send.note("this process holds the project now" if here else "attached again", "good")
        self._wake()

    def _wake(self) -> None:
        """From any thread."""
        if not self._woken and self._event_loop is not None:
            self._woken = True
            self._event_loop.call_soon_threadsafe(self._draw_soon, context=self._ui_context)

    def _draw_soon(self) -> None:
        wait = max(0.0, self._drawn_at + FRAME_S - time.monotonic())
        self.set_timer(wait, self._draw_news) if wait else self.call_next(self._draw_news)

    def _draw_news(self) -> None:
        self._woken = False
        self._drawn_at = time.monotonic()
        self.feed.drain()
        self._take()
        self._notify()
        self.draw_all()
        if self.feed.has_backlog:
            self._wake()

    def _notify(self) -> None:
        """Tells about approvals that are new, if the user looks elsewhere."""
        new = [approval for approval in self.picture.pending if approval.id not in self._told]
        self._told |= {approval.id for approval in new}
        if new and not self.app_focus and self.bench is not None and self._driver is not None:
            self._driver.write(notification(new, self.bench.notify, os.environ))

    def _take(self) -> None:
        if self.bench is not None:
            self.picture.holder = self.bench.holder
            self.picture.take(self.bench.state)

    # ── drawing ──────────────────────────────────────────────────────────────────────────

    def draw_all(self) -> None:
        """Every visible panel reads the snapshot."""
        if not self._is_drawable:
            return
        self.top.draw(self.picture)
        for panel in self.panels:
            if panel.display:
                panel.draw()
        self._draw_tabs()
        self._draw_foot()

    def _draw_tabs(self) -> None:
        spans: list[Span] = [Span(" ")]
        for number, panel in enumerate(self.panels, 1):
            chosen = number - 1 == self.current
            waiting = f" ({len(self.picture.pending):,})" if panel.label == "Inbox" and self.picture.pending else ""
            role = "accent" if chosen else "waiting" if waiting else "dim"
            spans.append(Span(f" {number} {panel.label}{waiting} ", role, "raised" if chosen else "", bold=chosen))
        self.tabs.show(row(*spans))

    def _draw_foot(self) -> None:
        panel = self.panels[self.current]
        spans: list[Span] = [Span(" ")]
        if isinstance(self.screen_stack[0].focused, Input | TextArea):  # not of a window over the panels
            pairs: tuple[tuple[str, str], ...] = (("Enter", "send"), ("Esc", "leave the input"))
        else:
            pairs = panel.keys
        for key, what in pairs:
            spans += [Span(key, "accent", bold=True), Span(f" {what}  ", "dim")]
        always: list[Span] = []
        for key, what in (("?", "help"), ("^P", "commands"), ("q", "quit")):
            always += [Span(key, "accent", bold=True), Span(f" {what} ", "dim")]
        self.foot.show(row(*spans, right=always))

    def _draw_note(self) -> None:
        if not self._is_drawable:
            return
        held, note = self.send.held, self.send.latest()
        if held is not None:
            left = max(1, round(held.until - time.monotonic() + 0.4))
            words = f" {held.words} in {left} s: Esc or any other key takes it back"
            self.note.show(row(Span(words, "waiting", bold=True), on="tint-waiting"))
            self.set_timer(max(0.01, min(0.5, held.until - time.monotonic() + 0.01)), self._settle)
        elif note is not None:
            self.note.show(row(Span(f" {note.text}", note.tone)))
        else:
            self.note.show()
        self.note.display = held is not None or note is not None

    def _settle(self) -> None:
        before = self.send.held
        self.send.settle()
        if self.send.held is before and before is not None:
            self._draw_note()

    def _tick(self) -> None:
        self._draw_note()
        self.picture.now = time.time()
        if self.picture.is_outdated and self.bench is not None:
            self._take()
            self.draw_all()
        for panel in self.panels:
            if panel.display:
                panel.tick()

    # ── panels ───────────────────────────────────────────────────────────────────────────

    @property
    def is_wide(self) -> bool:
        return self._columns >= WIDE

    def _arrange(self) -> None:
        """Narrow: the current panel alone. Wide: board and inbox at the sides, and between them two panels."""
        wide = self.is_wide
        self.set_class(wide, "wide")
        now = self.panels[self.current]
        middle = [panel for panel in self.panels if panel.label not in ("Inbox", "Board", "Streams")]
        shown = now if now in middle else next((panel for panel in middle if panel.display), None)
        if wide and shown is None and middle:
            shown = middle[0]
        for panel in self.panels:
            sides = panel.label in ("Inbox", "Board", "Streams")
            panel.display = (sides or panel is shown) if wide else panel is now
        between = [panel for panel in self.panels if panel.label not in ("Inbox", "Board") and panel.display]
        self.query_one("#middle").display = bool(between)

    def on_resize(self, event: events.Resize) -> None:
        self._columns = event.size.width
        self._arrange()
        self.call_after_refresh(self.draw_all)

    def action_panel(self, number: int) -> None:
        if not 1 <= number <= len(self.panels) or len(self.screen_stack) > 1:
            return
        self.current = number - 1
        self._arrange()
        self.panels[self.current].take_keyboard()
        self.call_after_refresh(self.draw_all)

    def show_panel(self, label: str) -> None:
        self.action_panel(1 + [panel.label for panel in self.panels].index(label))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for number, panel in enumerate(self.panels):
            if panel in event.widget.ancestors_with_self:
                self.current = number
        self._draw_tabs()
        self._draw_foot()

    def action_leave_input(self) -> None:
        panel = self.panels[self.current]
        leave = getattr(panel, "leave_input", None)
        if isinstance(self.focused, Input | TextArea) and leave is not None:
            leave()

    async def on_event(self, event: Event) -> None:
        """While an answer can be taken back, the next key does that and nothing else."""
        typed = isinstance(event, events.Key | events.Paste)
        if typed and not event.is_forwarded and self.send.held is not None:
            self.send.take_back()
            return
        await super().on_event(event)

    # ── windows over the panels ──────────────────────────────────────────────────────────

    def ask(self, question: str, take: Callable[[str], object], text: str = "", about: Sequence[Row] = ()) -> None:
        def done(answer: str | None) -> None:
            if answer is not None:
                take(answer)

        self.push_screen(Asking(self.colours, question, text, about), done)

    def confirm(self, question: str, act: Callable[[], object], about: Sequence[Row] = ()) -> None:
        def done(yes: bool | None) -> None:
            if yes:
                act()

        self.push_screen(Confirming(self.colours, question, about), done)

    def read(self, title: str, make: Callable[[int], Sequence[Row]]) -> None:
        self.push_screen(Reading(self.colours, title, make))

    def show_ticket(self, track: str, ticket: str) -> None:
        def make(width: int) -> Sequence[Row]:
            found = self.picture.state.tracks[track]
            return ticket_lines(self.picture, found, found.tickets[ticket], width)

        self.read("Ticket", make)

    def action_help(self) -> None:
        self.read("Help", lambda width: help_rows(self.panels, width))

    def action_commands(self) -> None:
        if len(self.screen_stack) > 1:
            return

        def done(entry: Entry | None) -> None:
            if entry is not None:
                entry.act()

        self.push_screen(Palette(self.colours, entries(self, self.panels)), done)

    async def edit(self, text: str, suffix: str) -> str | None:
        """The text after the user's editor, which has the terminal meanwhile."""
        bench = self.bench
        if bench is None:
            return None
        can_suspend = self._driver is not None and self._driver.can_suspend
        with self.batch_update(), self.suspend() if can_suspend else nullcontext():
            return await asyncio.to_thread(bench.edit, text, suffix)
