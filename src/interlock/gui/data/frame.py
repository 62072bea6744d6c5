"""The data of one frame: immutable snapshots, and values computed from them once per change."""

import time
from collections.abc import Callable

from interlock.desk.desk import Desk, View
from interlock.desk.desk_json import indicators
from interlock.desk.feed import Feed
from interlock.desk.outlook import Outlook
from interlock.desk.times import duration, moment
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval
from interlock.domain.values.epics import Epic
from interlock.views.board import TrackRow, WorkerRow, track_rows, worker_rows
from interlock.views.mma_status import active_tiers, active_track

_MANY = 2_000  # tickets; above this, values that depend on all tickets are computed less often
_RARELY_S = 0.2


class WindowFacts:
    """Facts that do not change while the window is open."""

    def __init__(
        self, project: str, branch: str, sandbox: str, *, test_policy: bool, hooks: bool = False, hint: str = ""
    ) -> None:
        self.project = project
        self.branch = branch
        self.sandbox = sandbox
        self.test_policy = test_policy
        self.hooks = hooks
        self.hint = hint  # what a person may want to do first


class Frame:
    """One object for all frames; `take` reads the current snapshots."""

    def __init__(self, desk: Desk, feed: Feed, place: WindowFacts, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self.desk = desk
        self.feed = feed
        self.place = place
        self.state: State = desk.state
        self.view: View = desk.view
        self.values: dict[str, str] = desk.values()
        self.now = self._now()
        self._computed_for = (-1, -1)
        self._at = 0.0
        self.tracks: tuple[TrackRow, ...] = ()
        self.workers: tuple[WorkerRow, ...] = ()
        self.tiers: tuple[str, ...] = ()
        self.outlook = Outlook()
        self.pending: tuple[Approval, ...] = ()  # what holds up most first
        self.proposed: tuple[Epic, ...] = ()
        self.track: Track | None = None
        self.verified = 0
        self.lights: dict[str, bool] = {}
        self.broken = ""  # the reason why nothing can be recorded any more

    def take(self) -> None:
        self.state, self.view = self.desk.state, self.desk.view
        self.values = self.desk.values()
        self.now = self._now()
        version = (self.state.version, self.view.version)
        if version == self._computed_for:
            return
        tickets = sum(track.total for track in self.state.tracks.values())
        if tickets > _MANY and self.now - self._at < _RARELY_S and self._at:
            return
        self._computed_for, self._at = version, self.now
        self._compute(self.state, self.view)

    @property
    def version(self) -> int:
        """The version of the state from which `track` and the other values were computed."""
        return self._computed_for[0]

    @property
    def is_outdated(self) -> bool:
        """Whether the computed values are older than the state."""
        return (self.state.version, self.view.version) != self._computed_for

    def _compute(self, state: State, view: View) -> None:
        known = self.desk.track_in_view()
        self.track = active_track(state, known) or self._latest(state)
        self.tracks = tuple(row for row in track_rows(state) if row.id in state.tracks)
        self.workers = worker_rows(state)
        self.tiers = active_tiers(state)
        pending = tuple(
            approval
            for approval in state.pending_approvals()
            if getattr(approval.payload, "epic", None) not in view.hidden
        )
        self.outlook.take(state, pending, self.track)
        self.pending = self.outlook.pending
        self.proposed = tuple(
            epic for epic in state.epics_in_order() if epic.status == "proposed" and epic.id not in view.hidden
        )
        self.lights = indicators(self.desk, test_policy=self.place.test_policy)
        track = self.track
        self.verified = (
            0
            if track is None
            else track.counts.completed
            - sum(1 for ticket in track.tickets.values() if ticket.unverified and ticket.status == "completed")
        )

    def _latest(self, state: State) -> Track | None:
        """The track that changed last; used when none is active."""
        return max(state.tracks.values(), key=lambda track: track.updated_at, default=None)

    def elapsed(self, since: str) -> str:
        return duration(self.now - moment(since)) if since else ""

    def epic(self) -> Epic | None:
        epics = self.state.epics_in_order()
        return epics[-1] if epics else None
