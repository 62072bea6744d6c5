"""The whole `mma_status`, and the data of `mma_state_update`, as JSON; cached until something changes."""

from collections.abc import Callable
from typing import Any

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.live import Live
from interlock.desk.desk_json import TicketJsonCache, whole_status
from interlock.views.mma_status import ShowTicket, state_update

StatusJson = Callable[[], bytes]


def status_json(bridge: Bridge, live: Live) -> StatusJson:
    """Encodes the status once for each state, however many clients ask."""
    return _cached(bridge, live, lambda show: whole_status(bridge.desk, live.texts(), show))


def update_json(bridge: Bridge, live: Live) -> StatusJson:
    """The same for the data of `mma_state_update`."""
    desk = bridge.desk
    return _cached(bridge, live, lambda show: state_update(desk.state, live.texts(), desk.track_in_view(), show))


def _cached(bridge: Bridge, live: Live, make: Callable[[ShowTicket], dict[str, Any]]) -> StatusJson:
    cached: tuple[object, bytes] = (None, b"")
    tickets = TicketJsonCache()

    def encode() -> bytes:
        nonlocal cached
        now = (bridge.front.state.version, bridge.desk.view.version, live.changes)
        if cached[0] != now:
            cached = (now, wire.encode(make(tickets.show)))
        return cached[1]

    return encode
