"""The whole state, immutable: `decide` reads it, `evolve` makes it, views show it."""

from difflib import get_close_matches
from typing import Literal

from immutables import Map
from msgspec import UNSET, Struct, UnsetType

from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval
from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.budgets import Caps, Ledger, Usage
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.epics import Epic
from interlock.domain.values.gates import GateDefaults
from interlock.domain.values.model_calls import OpenCall
from interlock.domain.values.runs.passes import Pass
from interlock.domain.values.test_history import History
from interlock.domain.values.tickets import Asking, Escalated, Reviewing, Ticket, Todo
from interlock.errors import NotFound


class ConductorState(Struct, frozen=True):
    """Whether a process runs tickets, and its settings."""

    on: bool = False
    workers: int = 4
    auto_queue: bool = False
    approve_all: bool = False
    gates: GateDefaults = GateDefaults()
    deadline_s: int | None = None
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None  # only these tracks run; None means all
    focus_epics: tuple[str, ...] | UnsetType = UNSET  # with a focus: the tracks of these epics run, too
    autonomy: Autonomy | UnsetType = UNSET  # the setting; unset means `ask`, and before 0.9
    contained: Literal[True] | UnsetType = UNSET  # commands run in a sandbox
    levels: tuple[tuple[str, Autonomy], ...] | UnsetType = UNSET  # what a person chose, by track; "" is the project

    def runs_track(self, track: Track) -> bool:
        return self.on and (self.focus is None or track.id in self.focus or track.epic in self.epics_in_focus)

    def runs_epic(self, epic: str) -> bool:
        return self.on and (self.focus is None or epic in self.epics_in_focus)

    @property
    def epics_in_focus(self) -> tuple[str, ...]:
        return () if self.focus_epics is UNSET else self.focus_epics


class State(Struct, frozen=True):
    version: int = 0
    tracks: Map[str, Track] = Map()
    track_order: tuple[str, ...] = ()
    running: tuple[str, ...] = ()  # tracks that may start tickets, in order
    busy: int = 0  # tickets that occupy a worker
    approvals: Map[str, Approval] = Map()
    pending: Map[int, str] = Map()  # number → id of the open approvals
    conductor: ConductorState = ConductorState()
    usage: Map[str, Usage] = Map()  # by tier
    ledger: Ledger = Ledger()
    calls: Map[str, OpenCall] = Map()  # model calls under way
    call_count: int = 0
    epics: Map[str, Epic] = Map()
    discussions: Map[str, Discussion] = Map()
    tests: History = History()
    passes: tuple[Pass, ...] = ()  # of gates, newest first

    def track(self, track_id: str) -> Track:
        track = self.tracks.get(track_id)
        if track is None:
            raise NotFound(f"no track {track_id!r}{_nearest(track_id, self.track_order)}")
        return track

    def ticket(self, track_id: str, ticket_id: str) -> Ticket:
        track = self.track(track_id)
        ticket = track.tickets.get(ticket_id)
        if ticket is None:
            raise NotFound(f"no ticket {ticket_id!r} in track {track_id!r}{_nearest(ticket_id, track.order)}")
        return ticket

    def approval(self, approval_id: str) -> Approval:
        approval = self.approvals.get(approval_id)
        if approval is None:
            raise NotFound(f"no approval {approval_id!r}")
        return approval

    def epic(self, epic_id: str) -> Epic:
        epic = self.epics.get(epic_id)
        if epic is None:
            raise NotFound(f"no epic {epic_id!r}{_nearest(epic_id, tuple(sorted(self.epics)))}")
        return epic

    def epics_in_order(self) -> tuple[Epic, ...]:
        return tuple(self.epics[f"E-{number}"] for number in range(1, len(self.epics) + 1))

    def discussion(self, discussion_id: str) -> Discussion:
        discussion = self.discussions.get(discussion_id)
        if discussion is None:
            raise NotFound(f"no discussion {discussion_id!r}{_nearest(discussion_id, tuple(sorted(self.discussions)))}")
        return discussion

    def discussions_in_order(self) -> tuple[Discussion, ...]:
        return tuple(self.discussions[f"D-{number}"] for number in range(1, len(self.discussions) + 1))

    def next_approval_id(self, earlier: int = 0) -> str:
        """The id of the next approval, after `earlier` others that are not in the state yet."""
        return f"A-{len(self.approvals) + earlier + 1}"

    def pending_approvals(self) -> tuple[Approval, ...]:
        """Open approvals, oldest first."""
        return tuple(self.approvals[self.pending[number]] for number in sorted(self.pending))

    def approval_of(self, track: str, ticket: str) -> Approval | None:
        """The open approval that this ticket waits for."""
        match self.ticket(track, ticket).stage:
            case Todo(asked=str(approval_id)) | Asking(approval=approval_id) | Escalated(approval=approval_id):
                return self.approvals[approval_id]
            case Reviewing(approval=approval_id) if approval_id:
                return self.approvals[approval_id]
            case _:
                return None


def _nearest(name: str, names: tuple[str, ...]) -> str:
    close = get_close_matches(name, names[:10_000], n=3)
    return f"; did you mean {' or '.join(repr(other) for other in close)}?" if close else ""
