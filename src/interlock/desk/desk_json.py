"""The desk as JSON, for `/api/gui` and for the window."""

from typing import Any

from msgspec import Raw

from interlock import wire
from interlock.desk.buttons import BUTTONS
from interlock.desk.desk import Desk
from interlock.desk.fields import INDICATORS, TABS, find
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket
from interlock.views.board import activity_of
from interlock.views.mma_status import ShowTicket, mma_status


def indicators(desk: Desk, *, test_policy: bool) -> dict[str, bool]:
    state = desk.state
    return {
        "thinking": bool(state.calls),
        "working": state.busy > 0,
        "waiting": bool(state.pending),
        "conducting": state.conductor.on,
        "test_policy": test_policy,
    }


def indicator(desk: Desk, name: str, *, test_policy: bool) -> dict[str, bool]:
    find(name, INDICATORS, "indicator")
    return {name: indicators(desk, test_policy=test_policy)[name]}


def gui_state(desk: Desk, *, test_policy: bool) -> dict[str, Any]:
    view, state = desk.view, desk.state
    return {
        "version": state.version,
        "fields": desk.values(),
        "buttons": {name: about for name, (about, _) in BUTTONS.items()},
        "tabs": list(TABS),
        "active_tab": view.tab,
        "active_discussion": view.discussion or None,
        "active_track": desk.track_in_view(),
        "discussions": [{"id": each.id, "title": each.title} for each in state.discussions_in_order()],
        "indicators": indicators(desk, test_policy=test_policy),
        "pending_approvals": len(state.pending),
    }


class TicketJsonCache:
    """Caches each ticket's JSON until the ticket changes: between two requests most tickets stay the same."""

    def __init__(self) -> None:
        self._track = ""
        self._cached: dict[str, tuple[Ticket, bytes]] = {}

    def show(self, track: Track, name: str) -> Raw:
        if track.id != self._track:
            self._track, self._cached = track.id, {}
        ticket = track.tickets[name]
        entry = self._cached.get(name)
        if entry is None or entry[0] is not ticket:
            entry = self._cached[name] = (ticket, wire.encode(ticket_to_dict(ticket))[:-1] + b',"doing":')
        return Raw(entry[1] + wire.encode(activity_of(ticket, track)) + b"}")


def whole_status(desk: Desk, streams: dict[str, str], show: ShowTicket | None = None) -> dict[str, Any]:
    """`mma_status`, without proposals that a reset has hidden."""
    status = mma_status(desk.state, streams, desk.track_in_view(), show)
    if desk.view.hidden:
        shown = {
            plan.id
            for epic in desk.state.epics_in_order()
            if epic.status == "proposed" and epic.id not in desk.view.hidden
            for plan in epic.proposed
        }
        status["proposed_tracks"] = [row for row in status["proposed_tracks"] if row["id"] in shown]
    return status


def value_of(desk: Desk, name: str, streams: dict[str, str]) -> Any:
    """The value of a field, or of a key of `mma_status`."""
    values = desk.values()
    if name in values:
        return values[name]
    status = whole_status(desk, streams)
    find(name, {**values, **status}, "field")
    return status[name]
