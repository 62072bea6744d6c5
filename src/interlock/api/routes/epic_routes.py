"""`/api/epics`: epics over HTTP."""

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import READS, WRITES, Asking, Limit, Offset, next_offset, raw, submit
from interlock.api.schemas.basics import Done
from interlock.api.schemas.tracks import Epics, NewEpic
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.events.epic_events import EpicAdded

_SHOWN = ("id", "text", "status", "reason", "tracks")


def epic_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get("/api/epics", operation_id="ApiEpicsEpics", responses=READS, summary="List epics", sync_to_thread=False)
    def list_epics(offset: Offset = 0, limit: Limit = 100) -> Response[Epics]:
        """Lists epics with their status and tracks, in pages."""
        epics = tuple(bridge.front.state.epics_in_order())
        page = [{key: getattr(epic, key) for key in _SHOWN} for epic in epics[offset : offset + limit]]
        after = next_offset(offset, len(page), len(epics))
        return raw(wire.encode({"epics": page, "total": len(epics), "next_offset": after}))

    @post("/api/epics", operation_id="ApiEpicsPlan", status_code=200, responses=WRITES, summary="Plan an epic")
    async def plan_epic(request: Asking, data: JSONBody[NewEpic]) -> Done:
        """Starts planning. The proposed tracks are an approval of kind `tracks`."""
        receipt = await submit(bridge, request, PlanEpic(data.text))
        return Done("ok", {"epic": next(r.event.epic for r in receipt.records if isinstance(r.event, EpicAdded))})

    return [list_epics, plan_epic]
