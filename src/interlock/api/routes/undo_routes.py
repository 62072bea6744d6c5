"""`/api/undo`: takes back the last lasting change of the user's files."""

import asyncio

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import READS, WRITES, Asking, authority_of, raw
from interlock.api.schemas.undo import UndoChoice, UndoneShape, UndoShape
from interlock.errors import Rejected


def undo_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    backstage = bridge.backstage

    @get("/api/undo", operation_id="ApiUndoShow", responses=READS, summary="Show what can be undone")
    async def show_undo() -> Response[UndoShape]:
        """Lists the lasting changes of your files, and what the next undo and redo would do."""
        undo = await bridge.run_on_engine(backstage.undo_plan(redo=False))
        redo = await bridge.run_on_engine(backstage.undo_plan(redo=True))
        rows = await asyncio.to_thread(backstage.undo_rows)
        return raw(wire.encode({"changes": rows, "undo": undo, "redo": redo}))

    @post("/api/undo", operation_id="ApiUndoRun", status_code=200, responses=WRITES, summary="Undo or redo a change")
    async def run_undo(request: Asking, data: JSONBody[UndoChoice]) -> Response[UndoneShape]:
        """Takes back the last lasting change, or makes the last undone one again. Needs the approve token."""
        authority_of(bridge, request).must_answer()
        plan = await bridge.run_on_engine(backstage.undo_plan(redo=data.redo))
        if plan is None or plan.id != data.id:
            raise Rejected(f"{data.id} is not the next to {'redo' if data.redo else 'undo'}: look at it again")
        return raw(wire.encode(await bridge.run_on_engine(backstage.undo(plan, force=data.force))))

    return [show_undo, run_undo]
