"""What the panels draw: the latest snapshot, and values computed from it once per change."""

import time
from collections.abc import Callable

from interlock.desk.outlook import Outlook
from interlock.desk.times import duration, moment
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval
from interlock.domain.values.epics import Epic
from interlock.tui.bench import Holder
from interlock.views.answer_sets import Alike, grouped
from interlock.views.board import WorkerRow, worker_rows
from interlock.views.mma_status import active_track

_MANY = 2_000  # tickets; above this, values that depend on all tickets are computed less often
_RARELY_S = 0.5


class Picture:
    """One object for the whole life; `take` reads a new snapshot."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._computed_for = -1
        self._computed_at = 0.0
        self._grouped_for: tuple[Approval, ...] = ()
        self.now = now()
        self.state = State()
        self.holder = Holder(here=True)
        self.name, self.branch, self.hint = "", "", ""
        self.lost = "opening the project"  # why the project cannot be used at the moment
        self.outlook = Outlook()
        self.pending: tuple[Approval, ...] = ()  # what holds up most first
        self.groups: tuple[Alike, ...] = ()  # equal ones once
        self.first_seen: dict[str, float] = {}  # approval → when it appeared here
        self.workers: tuple[WorkerRow, ...] = ()
        self.chosen_track = ""
        self.track: Track | None = None
        self.verified = 0

    def take(self, state: State) -> None:
        self.state = state
        self.now = self._now()
        pending = state.pending_approvals()
        self._note_new(pending)
        tickets = sum(track.total for track in state.tracks.values())
        if tickets > _MANY and self.now - self._computed_at < _RARELY_S and self._computed_for >= 0:
            self.track = self._shown_track()
            if len(pending) != len(self.pending):
                self._order(pending)
            return
        self._computed_for, self._computed_at = state.version, self.now
        self.track = self._shown_track()
        self.workers = worker_rows(state)
        self._order(pending)
        self.verified = _verified(self.track)

    @property
    def is_outdated(self) -> bool:
        """Whether values that depend on all tickets are older than the state."""
        return self._computed_for != self.state.version

    def choose_track(self, name: str) -> None:
        self.chosen_track = name
        self.track = self._shown_track()
        self.verified = _verified(self.track)

    def _shown_track(self) -> Track | None:
        if self.chosen_track in self.state.tracks:
            return self.state.tracks[self.chosen_track]
        return active_track(self.state) or max(
            self.state.tracks.values(), key=lambda track: track.updated_at, default=None
        )

    def _order(self, pending: tuple[Approval, ...]) -> None:
        self.outlook.take(self.state, pending, self.track)
        self.pending = self.outlook.pending
        if self.pending != self._grouped_for:
            self._grouped_for = self.pending
            self.groups = grouped(self.pending)

    def _note_new(self, pending: tuple[Approval, ...]) -> None:
        names = {approval.id for approval in pending}
        at = time.monotonic()
        self.first_seen = {name: self.first_seen.get(name, at) for name in names}

    def elapsed(self, since: str | None) -> str:
        return duration(self.now - moment(since)) if since else ""

    def epic(self) -> Epic | None:
        count = len(self.state.epics)
        return self.state.epics.get(f"E-{count}") if count else None

    @property
    def busy(self) -> bool:
        """Whether a model, a script or a gate runs now."""
        return bool(self.state.calls or self.state.busy)


def _verified(track: Track | None) -> int:
    if track is None:
        return 0
    loose = sum(1 for ticket in track.tickets.values() if ticket.unverified and ticket.status == "completed")
    return track.counts.completed - loose
