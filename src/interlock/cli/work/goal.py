"""The tracks and epics that a run works on, with the tracks planned for those epics."""

from collections.abc import Sequence

from interlock.cli.terminal.exits import BLOCKED, BUDGET, DONE
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval, TracksPayload
from interlock.domain.values.epics import Epic
from interlock.domain.values.tickets import Blocked
from interlock.views.outlook.urgency import by_urgency, urgencies

ENDED = ("done", "blocked", "aborted")


class Goal:
    def __init__(self, tracks: Sequence[str] = (), epics: Sequence[str] = ()) -> None:
        self._tracks = tuple(tracks)
        self._epics = tuple(epics)

    def epics(self, state: State) -> tuple[Epic, ...]:
        return tuple(state.epics[name] for name in self._epics)

    def tracks(self, state: State) -> tuple[str, ...]:
        planned = (name for epic in self.epics(state) for name in epic.tracks)
        return tuple(dict.fromkeys((*self._tracks, *planned)))

    def waiting(self, state: State) -> list[Approval]:
        """The approvals that hold the run back; what holds up most first."""
        tracks = self.tracks(state)
        waiting = [a for a in state.pending_approvals() if (a.track in tracks if a.track else self._concerns(a))]
        return list(by_urgency(waiting, urgencies(state, waiting))) if len(waiting) > 1 else waiting

    def is_idle(self, state: State) -> bool:
        """Whether nothing runs any more; tracks that have not started yet do not count."""
        planning = any(epic.status in ("planning", "proposed") for epic in self.epics(state))
        return not planning and all(_is_idle(state.tracks[name]) for name in self.tracks(state))

    def next_track(self, state: State) -> str | None:
        """The next track to start: the tracks of an epic run one after the other."""
        for epic in self.epics(state):
            for name in epic.tracks:
                status = state.tracks[name].status
                if status == "ready":
                    return name
                if status != "done":
                    break
        return None

    def code(self, state: State) -> int:
        tracks = [state.tracks[name] for name in self.tracks(state)]
        epics = self.epics(state)
        if any(epic.budget for epic in epics) or any(map(_is_over_budget, tracks)):
            return BUDGET
        done = all(track.status in ("done", "ready") for track in tracks)
        return DONE if done and all(epic.status == "accepted" for epic in epics) else BLOCKED

    def _concerns(self, approval: Approval) -> bool:
        return isinstance(approval.payload, TracksPayload) and approval.payload.epic in self._epics


def _is_idle(track: Track) -> bool:
    return track.status in (*ENDED, "ready") and not track.is_asked_again


def _is_over_budget(track: Track) -> bool:
    if track.fault.startswith("over budget"):
        return True
    return track.counts.blocked > 0 and any(
        isinstance(ticket.stage, Blocked) and ticket.stage.budget for ticket in track.tickets.values()
    )


def unfinished(state: State) -> Goal:
    """Epics in planning or with unfinished tracks, and tracks of no epic that run or are ready."""
    epics = [epic.id for epic in state.epics_in_order() if epic.status in ("planning", "proposed")]
    epics += [
        epic.id
        for epic in state.epics_in_order()
        if any(state.tracks[name].status in ("proposed", "ready", "running") for name in epic.tracks)
    ]
    of_epics = {name for epic in epics for name in state.epics[epic].tracks}
    tracks = [
        name
        for name in state.track_order
        if name not in of_epics
        and (state.tracks[name].status in ("running", "ready") or state.tracks[name].is_asked_again)
    ]
    return Goal(tracks, epics)
