"""`/status` and `/api/gui`: the desk over HTTP, through the same handlers as the window."""

import os
from collections.abc import Callable
from typing import Any

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.live import Live
from interlock.api.routes.replies import FINDS, READS, WRITES, Asking, promises, raw, who
from interlock.api.routes.schemas import (
    ClearAsk,
    Click,
    Diagnostics,
    Done,
    GuiAction,
    GuiState,
    Health,
    MmaStatus,
    RefreshApiMetrics,
    RefreshFromProject,
    SelectListItem,
    SelectTab,
    SetValue,
    Status,
    Value,
)
from interlock.desk.authority import Authority
from interlock.desk.buttons import click
from interlock.desk.desk_json import TicketPictures, gui_state, indicator, value_of, whole_status
from interlock.domain.messages.commands.external_ask_commands import WithdrawAsk
from interlock.version import VERSION
from interlock.views.mma_status import tier_usage

Picture = Callable[[], bytes]


def status_picture(bridge: Bridge, live: Live) -> Picture:
    """The whole `mma_status` as JSON, made once for each state of things however many ask."""
    made: tuple[object, bytes] = (None, b"")
    tickets = TicketPictures()

    def picture() -> bytes:
        nonlocal made
        now = (bridge.front.state.version, bridge.desk.view.version, live.changes)
        if made[0] != now:
            made = (now, wire.encode(whole_status(bridge.desk, live.texts(), tickets.show)))
        return made[1]

    return picture


def gui_routes(bridge: Bridge, live: Live, picture: Picture) -> list[HTTPRouteHandler]:
    desk = bridge.desk

    @get("/status", responses=promises(), security=[{}, {"token": []}], summary="Is it there?", sync_to_thread=False)
    def status(request: Asking) -> Status:
        """Without a token only `{"status": "ok"}`. A `X-Interlock-Challenge` header is answered by the proof that the
        server knows the token of `api.json`: HMAC-SHA256 of the challenge, in `X-Interlock-Proof-Drive`.
        """
        state = request.scope["state"]
        return Status(
            "ok",
            VERSION,
            desk.fixed.get("project_root", ""),
            os.getpid(),
            state["capability"],
            bridge.front.state.version,
            bridge.sandbox,
            bridge.test_policy,
        )

    @get("/api/gui/state", responses=READS, summary="What is at the desk", sync_to_thread=False)
    def state() -> Response[GuiState]:
        """Fields with their values, buttons, tabs, discussions and indicators."""
        return raw(wire.encode(gui_state(desk, test_policy=bridge.test_policy)))

    @get("/api/gui/value/{field:str}", responses=FINDS, summary="One field", sync_to_thread=False)
    def value(field: FromPath[str]) -> Value:
        """A field of the desk, or a key of `mma_status`."""
        return Value(field, value_of(desk, field, live.texts()))

    @get("/api/gui/indicator/{name:str}", responses=FINDS, summary="One indicator", sync_to_thread=False)
    def indicate(name: FromPath[str]) -> dict[str, bool]:
        """Such as `thinking`: whether a model is being asked."""
        return indicator(desk, name, test_policy=bridge.test_policy)

    @get("/api/gui/mma_status", responses=READS, summary="Where the run stands", sync_to_thread=False)
    def mma() -> Response[MmaStatus]:
        """The track in view, who is at work, what waits for a person, and what models are saying."""
        return raw(picture())

    @get("/api/gui/diagnostics", responses=READS, summary="Figures of the window", sync_to_thread=False)
    def diagnostics() -> Diagnostics:
        """All null where there is no window."""
        return Diagnostics(None, None, None, None) if bridge.window is None else Diagnostics(*bridge.window.figures())

    @get("/api/gui/health", responses=READS, summary="Does everything work?", sync_to_thread=False)
    def health() -> Health:
        """Panels that raised, and whether the journal takes records."""
        broken = bridge.backstage.broken()
        window = bridge.window
        panels = window.broken_panels() if window is not None else {}
        status = "degraded" if broken or panels else "ok"
        return Health(status, window is not None, panels, broken, live.followers)

    @post("/api/gui", status_code=200, responses=WRITES, summary="Do something at the desk")
    async def act(request: Asking, data: JSONBody[GuiAction]) -> Done:
        """What a hand does in the window: write into a field, click a button, choose from a list."""
        return Done("ok", await bridge.over(_act(bridge, who(bridge, request), data)))

    @post("/api/session/reset", status_code=200, responses=WRITES, summary="A clean desk")
    async def reset(request: Asking) -> Done:
        """As `btn_reset`: ends the chat's turn, clears inputs and streams, withdraws asks. Tracks and history stay."""
        return Done("ok", await bridge.over(click(desk, who(bridge, request), "btn_reset")))

    @post("/api/shutdown", status_code=200, responses=WRITES, summary="End the workbench")
    async def shutdown() -> Done:
        """What is under way stops; everything is in the journal."""
        bridge.stop()
        return Done("ok", {"stopping": True})

    return [status, state, value, indicate, mma, diagnostics, health, act, reset, shutdown]


async def _act(bridge: Bridge, by: Authority, data: GuiAction) -> dict[str, Any]:
    desk = bridge.desk
    match data:
        case SetValue(item, value):
            return {"item": item, "value": desk.set_value(by, item, value)}
        case Click(item, user_data, value):
            return await click(desk, by, item, value if user_data is None else user_data)
        case SelectTab(value):
            desk.select_tab(value)
            return {"tab": desk.view.tab}
        case SelectListItem(value):
            return {"discussion": desk.select_discussion(value)}
        case RefreshFromProject():
            desk.refresh_from_project()
            return {"fields": desk.values()}
        case RefreshApiMetrics():
            return {"usage": tier_usage(desk.state)}
        case ClearAsk(item, value):
            name = value or item
            receipt = await desk.front.submit(by.actor, WithdrawAsk(name, "cleared"))
            return {"ask": name, "withdrawn": bool(receipt.records)}
