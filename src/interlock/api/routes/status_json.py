"""The whole `mma_status` as JSON, cached until something changes."""

from collections.abc import Callable

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.live import Live
from interlock.desk.desk_json import TicketJsonCache, whole_status

StatusJson = Callable[[], bytes]


def status_json(bridge: Bridge, live: Live) -> StatusJson:
    """Encodes the status once for each state, however many clients ask."""
    cached: tuple[object, bytes] = (None, b"")
    tickets = TicketJsonCache()

    def encode() -> bytes:
        nonlocal cached
        now = (bridge.front.state.version, bridge.desk.view.version, live.changes)
        if cached[0] != now:
            cached = (now, wire.encode(whole_status(bridge.desk, live.texts(), tickets.show)))
        return cached[1]

    return encode
