"""Board: the tracks with their tickets, and the keys that steer them."""

from bisect import bisect_right
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
    TicketChanges,
)
from interlock.domain.messages.commands.track_commands import AbortTrack, PauseTrack, ResumeTrack, StartTrack
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Priority, Ticket
from interlock.tui.colours import Colours
from interlock.tui.lines.line_list import LineList
from interlock.tui.lines.rows import EMPTY, Row, Span, row
from interlock.tui.panels.panel import Panel
from interlock.tui.panels.ticket_rows import ticket_row
from interlock.tui.picture import Picture
from interlock.tui.symbols import OF_TRACK
from interlock.views.display import counted, one_line

_PRIORITIES: tuple[Priority, ...] = ("low", "medium", "high")
_BAR = 10


class BoardList(LineList):
    """Tracks, each followed by its tickets unless it is folded. A ticket's row is made when it is visible."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", show=False),
        Binding("left,h", "fold(True)", show=False),
        Binding("right,l", "fold(False)", show=False),
    ]

    def __init__(self, colours: Colours, picture: Picture) -> None:
        super().__init__(colours, id="board-list")
        self._picture = picture
        self._heads: list[tuple[str, str]] = []  # kind, id: epic rows and tracks, in order
        self._starts: list[int] = []
        self._total = 0
        self.folded: dict[str, bool] = {}  # as the user chose

    def rebuild(self) -> None:
        state = self._picture.state
        heads: list[tuple[str, str]] = []
        starts: list[int] = []
        at = 0
        epic = self._picture.epic()
        if epic is not None and epic.status in ("planning", "proposed", "failed"):
            heads.append(("epic", epic.id))
            starts.append(at)
            at += 1
        for name in reversed(state.track_order):  # the latest is first
            heads.append(("track", name))
            starts.append(at)
            at += 1 + (0 if self.is_folded(name) else state.tracks[name].total)
        self._heads, self._starts, self._total = heads, starts, at
        self.changed()

    def is_folded(self, name: str) -> bool:
        chosen = self.folded.get(name)
        if chosen is not None:
            return chosen
        track = self._picture.track
        return name not in self._picture.state.running and (track is None or track.id != name)

    def count(self) -> int:
        return self._total

    def at(self, index: int) -> tuple[str, str, str]:
        """The kind of the row, the track or epic, and the ticket."""
        if not 0 <= index < self._total:
            return "", "", ""
        number = bisect_right(self._starts, index) - 1
        kind, name = self._heads[number]
        offset = index - self._starts[number]
        if not offset:
            return kind, name, ""
        track = self._picture.state.tracks.get(name)
        if track is None or offset > track.total:  # the snapshot is newer than the rows
            return "", "", ""
        return "ticket", name, track.order[offset - 1]

    def row_at(self, index: int, width: int) -> Row:
        kind, name, ticket = self.at(index)
        state = self._picture.state
        if kind == "ticket":
            return ticket_row(self._picture, state.tracks[name], state.tracks[name].tickets[ticket], width)
        if kind == "track":
            return _track_row(state.tracks[name], width, folded=self.is_folded(name))
        if kind == "epic":
            epic = state.epics[name]
            words = {"planning": "is being planned…", "proposed": "proposed: answer it in the inbox"}
            said = words.get(epic.status, f"could not be planned: {one_line(epic.reason, 120)}")
            role = "bad" if epic.status == "failed" else "planner"
            return row(Span("≡ ", role), Span(f"{name} ", "text", bold=True), Span(said, role))
        return EMPTY

    def action_open(self) -> None:
        kind, name, ticket = self.at(self.cursor)
        if kind == "track":
            self.action_fold(not self.is_folded(name))
        elif ticket:
            self.post_message(self.Opened(self))

    def action_fold(self, folded: bool) -> None:
        kind, name, _ = self.at(self.cursor)
        if kind in ("track", "ticket"):
            self.folded[name] = folded
            self.rebuild()
            if folded:
                self.select(self._starts[[one for _, one in self._heads].index(name)])


def _track_row(track: Track, width: int, *, folded: bool) -> Row:
    role, symbol = OF_TRACK[track.status]
    counts = track.counts
    done = f"{counts.completed:,}/{track.total:,}"
    part = counts.completed / track.total if track.total else 0.0
    filled = round(part * _BAR)
    landed = track.landing is not None and track.landing.state == "landed"
    right = [Span(f"✗{counts.blocked} ", "bad")] if counts.blocked else []
    if width >= 50:
        right += [Span("━" * filled, role), Span("─" * (_BAR - filled), "faint"), Span(" ")]
    right += [Span(f"{done} ", "dim"), Span("landed" if landed else track.status, role)]
    title = one_line(track.title or track.id, 200)
    return row(
        Span("▸ " if folded else "▾ ", "faint"),
        Span(f"{symbol} ", role),
        Span(title, "text", bold=True),
        right=right,
        on="raised",
    )


class Board(Panel):
    label = "Board"
    keys = (
        ("Enter", "open"),
        ("t", "retry"),
        ("s", "skip"),
        ("x", "cancel"),
        ("b", "block"),
        ("S", "start/pause"),
        ("L", "land"),
        ("n", "new goal"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "retry", show=False),
        Binding("s", "skip", show=False),
        Binding("x", "cancel", show=False),
        Binding("b", "block", show=False),
        Binding("K", "kill", show=False),
        Binding("plus,+", "priority(1)", show=False),
        Binding("minus,-", "priority(-1)", show=False),
        Binding("ctrl+up", "move(-1)", show=False),
        Binding("ctrl+down", "move(1)", show=False),
        Binding("i", "tell", show=False),
        Binding("S", "start_or_pause", show=False),
        Binding("L", "land", show=False),
        Binding("X", "abort", show=False),
        Binding("n", "goal", show=False),
    ]

    def compose(self) -> ComposeResult:
        self.list = BoardList(self.colours, self.picture)
        yield self.list

    def draw(self) -> None:
        state = self.picture.state
        self.list.rebuild()
        conductor = state.conductor
        workers = f"{state.busy} of {counted(conductor.workers, 'worker')}" if conductor.on else "no tickets run here"
        self.show_title(f"Board  {counted(len(state.track_order), 'track')}", workers)

    def tick(self) -> None:
        self.list.refresh()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        _, name, _ = self.list.at(self.list.cursor)
        if name in self.picture.state.tracks and name != self.picture.chosen_track:
            self.picture.choose_track(name)
            self.shell.draw_all()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        _, name, ticket = self.list.at(self.list.cursor)
        if ticket:
            self.shell.show_ticket(name, ticket)

    # ── tickets ──────────────────────────────────────────────────────────────────────────

    def _ticket(self) -> Ticket | None:
        kind, name, ticket = self.list.at(self.list.cursor)
        if kind != "ticket":
            self.send.note("choose a ticket first", "waiting")
            return None
        return self.picture.state.tracks[name].tickets[ticket]

    def action_retry(self) -> None:
        if ticket := self._ticket():
            self.send.submit(RetryTicket(ticket.track, ticket.id), f"{ticket.id} is tried again")

    def action_skip(self) -> None:
        if ticket := self._ticket():
            command = SkipTicket(ticket.track, ticket.id)
            self._confirm(f"Complete {ticket.id} unverified?", command, f"{ticket.id} is skipped, unverified")

    def action_kill(self) -> None:
        if ticket := self._ticket():
            command = KillWorker(ticket.track, ticket.id)
            self._confirm(f"Stop the worker of {ticket.id} now?", command, f"the worker of {ticket.id} was stopped")

    def action_cancel(self) -> None:
        if ticket := self._ticket():
            self._with_reason(
                f"Cancel {ticket.id}: why?",
                lambda why: CancelTicket(ticket.track, ticket.id, why or "cancelled"),
                f"{ticket.id} is cancelled",
            )

    def action_block(self) -> None:
        if ticket := self._ticket():
            self._with_reason(
                f"Block {ticket.id}: why?",
                lambda why: BlockTicket(ticket.track, ticket.id, why or "blocked by a person"),
                f"{ticket.id} is blocked",
            )

    def action_priority(self, by: int) -> None:
        if ticket := self._ticket():
            at = _PRIORITIES.index(ticket.spec.priority) + by
            if 0 <= at < len(_PRIORITIES):
                changes = TicketChanges(priority=_PRIORITIES[at])
                said = f"{ticket.id}: priority {_PRIORITIES[at]}"
                self.send.submit(EditTicket(ticket.track, ticket.id, changes), said)

    def action_move(self, by: int) -> None:
        if ticket := self._ticket():
            track = self.picture.state.tracks[ticket.track]
            position = track.order.index(ticket.id) + by
            if 0 <= position < track.total:
                command = MoveTicket(ticket.track, ticket.id, position)
                self.send.submit(command, then=lambda _: self.list.select(self.list.cursor + by))

    def action_tell(self) -> None:
        if ticket := self._ticket():
            self._with_reason(
                f"A note to the worker of {ticket.id}:",
                lambda text: Tell(text, track=ticket.track, ticket=ticket.id),
                f"{ticket.id} gets your note",
                needed=True,
            )

    # ── tracks ───────────────────────────────────────────────────────────────────────────

    def _track(self) -> Track | None:
        _, name, _ = self.list.at(self.list.cursor)
        track = self.picture.state.tracks.get(name) or self.picture.track
        if track is None:
            self.send.note("there is no track yet: n plans a goal", "waiting")
        return track

    def action_start_or_pause(self) -> None:
        if track := self._track():
            if track.status == "running":
                self.send.submit(PauseTrack(track.id), f"{track.id} starts no more tickets")
            elif track.status == "paused":
                self.send.submit(ResumeTrack(track.id), f"{track.id} continues")
            else:
                self.send.submit(StartTrack(track.id), f"{track.id} is started")

    def action_land(self) -> None:
        if track := self._track():
            self.send.note(f"the landing of {track.id} is verified, then it waits in the inbox", "dim")
            self.send.run(lambda bench: bench.ask_landing(track.id), f"the landing of {track.id} waits in the inbox")

    def action_abort(self) -> None:
        if track := self._track():
            self._with_reason(
                f"Abort track {track.id}, stop its workers: why?",
                lambda why: AbortTrack(track.id, why or "aborted"),
                f"{track.id} is aborted",
            )

    def action_goal(self) -> None:
        self.shell.ask(
            "A goal: a planner proposes tracks for it, and you accept or reject them",
            lambda text: self.send.submit(PlanEpic(text), "the goal is being planned") if text.strip() else None,
        )

    # ── asking first ─────────────────────────────────────────────────────────────────────

    def _confirm(self, question: str, command: HumanCommand, said: str) -> None:
        self.shell.confirm(question, lambda: self.send.submit(command, said))

    def _with_reason(
        self, question: str, command: Callable[[str], HumanCommand], said: str, *, needed: bool = False
    ) -> None:
        def take(text: str) -> None:
            if text.strip() or not needed:
                self.send.submit(command(text.strip()), said)

        self.shell.ask(question, take)
