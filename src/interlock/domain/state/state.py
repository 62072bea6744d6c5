"""The whole state: what `decide` reads, `evolve` makes, and views show. Immutable."""

from difflib import get_close_matches

from immutables import Map
from msgspec import Struct

from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval
from interlock.domain.values.budgets import Caps, Ledger, Usage
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.epics import Epic
from interlock.domain.values.gates import GateDefaults
from interlock.domain.values.model_calls import OpenCall
from interlock.domain.values.test_history import History
from interlock.domain.values.tickets import Asking, Escalated, Ticket, Todo
from interlock.errors import NotFound


class ConductorState(Struct, frozen=True):
    """Whether a process stands ready to run tickets, and by which settings."""

    on: bool = False
    workers: int = 4
    auto_queue: bool = False
    approve_all: bool = False
    gates: GateDefaults = GateDefaults()
    deadline_s: int | None = None
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None  # only these tracks go on; None: all

    def moves(self, track: str) -> bool:
        return self.on and (self.focus is None or track in self.focus)


class State(Struct, frozen=True):
    version: int = 0
    tracks: Map[str, Track] = Map()
    track_order: tuple[str, ...] = ()
    running: tuple[str, ...] = ()  # tracks that may start tickets, in order
    busy: int = 0  # tickets that occupy a worker
    approvals: Map[str, Approval] = Map()
    pending: Map[int, str] = Map()  # number → id of the approvals still open
    conductor: ConductorState = ConductorState()
    usage: Map[str, Usage] = Map()  # by tier
    ledger: Ledger = Ledger()
    calls: Map[str, OpenCall] = Map()  # model calls under way
    call_count: int = 0
    epics: Map[str, Epic] = Map()
    discussions: Map[str, Discussion] = Map()
    tests: History = History()

    def track(self, track: str) -> Track:
        found = self.tracks.get(track)
        if found is None:
            raise NotFound(f"no track {track!r}{_nearest(track, self.track_order)}")
        return found

    def ticket(self, track: str, ticket: str) -> Ticket:
        tickets = self.track(track).tickets
        found = tickets.get(ticket)
        if found is None:
            raise NotFound(f"no ticket {ticket!r} in track {track!r}{_nearest(ticket, self.track(track).order)}")
        return found

    def approval(self, approval: str) -> Approval:
        found = self.approvals.get(approval)
        if found is None:
            raise NotFound(f"no approval {approval!r}")
        return found

    def epic(self, epic: str) -> Epic:
        found = self.epics.get(epic)
        if found is None:
            raise NotFound(f"no epic {epic!r}{_nearest(epic, tuple(sorted(self.epics)))}")
        return found

    def epics_in_order(self) -> tuple[Epic, ...]:
        return tuple(self.epics[f"E-{number}"] for number in range(1, len(self.epics) + 1))

    def discussion(self, discussion: str) -> Discussion:
        found = self.discussions.get(discussion)
        if found is None:
            raise NotFound(f"no discussion {discussion!r}{_nearest(discussion, tuple(sorted(self.discussions)))}")
        return found

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
            case _:
                return None


def _nearest(name: str, names: tuple[str, ...]) -> str:
    close = get_close_matches(name, names[:10_000], n=3)
    return f"; did you mean {' or '.join(repr(other) for other in close)}?" if close else ""
