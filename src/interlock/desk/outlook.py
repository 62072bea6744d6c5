"""The order of the inbox and the forecast of the shown track, computed again only when they can have changed."""

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval
from interlock.views.outlook.forecast import Forecast, forecast
from interlock.views.outlook.urgency import Urgency, by_urgency, urgencies


class Outlook:
    def __init__(self) -> None:
        self._order_for: object = None
        self._forecast_for: object = None
        self.urgency: dict[str, Urgency] = {}
        self.pending: tuple[Approval, ...] = ()
        self.forecast: Forecast | None = None

    def take(self, state: State, pending: tuple[Approval, ...], track: Track | None) -> None:
        busy = (state.busy, state.conductor.workers, state.conductor.on, state.running)
        asking = dict.fromkeys(approval.track for approval in pending if approval.track in state.tracks)
        held = tuple((name, state.tracks[name].counts) for name in asking)
        order = (tuple(approval.id for approval in pending), held, busy)
        if order != self._order_for:
            self._order_for = order
            self.urgency = urgencies(state, pending)
            self.pending = by_urgency(pending, self.urgency)
        finished = sum(one.counts.completed for one in state.tracks.values())
        shown = track and (track.id, track.status, track.counts, track.total, finished, state.conductor.workers)
        if shown != self._forecast_for:
            self._forecast_for = shown
            self.forecast = forecast(state, track) if track is not None else None
