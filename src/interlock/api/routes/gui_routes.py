"""`/status` and `/api/gui`: the desk over HTTP, through the same handlers as the window."""

import os
from typing import Any

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.live import Live
from interlock.api.routes.replies import FINDS, READS, WRITES, Asking, authority_of, promises, raw
from interlock.api.routes.status_json import StatusJson
from interlock.api.schemas.basics import Done
from interlock.api.schemas.gui import (
    ClearAsk,
    Click,
    Diagnostics,
    GuiAction,
    GuiState,
    Health,
    RefreshApiMetrics,
    RefreshFromProject,
    SelectListItem,
    SelectTab,
    SetValue,
    Status,
    Value,
)
from interlock.api.schemas.mma_status import MmaStatus
from interlock.desk.authority import Authority
from interlock.desk.buttons import click
from interlock.desk.desk_json import gui_state, indicator, value_of
from interlock.domain.messages.commands.external_ask_commands import WithdrawAsk
from interlock.version import VERSION
from interlock.views.mma_status import tier_usage


def gui_routes(bridge: Bridge, live: Live, status: StatusJson) -> list[HTTPRouteHandler]:
    return [
        _status_route(bridge),
        *_desk_routes(bridge, live, status),
        *_window_routes(bridge, live),
        *_action_routes(bridge),
    ]


def _status_route(bridge: Bridge) -> HTTPRouteHandler:
    @get(
        "/status",
        operation_id="StatusStatus",
        responses=promises(),
        security=[{}, {"token": []}],
        summary="Check that the service runs",
        sync_to_thread=False,
    )
    def show_status(request: Asking) -> Status:
        """Returns only `{"status": "ok"}` without a token.

        The response to an `X-Interlock-Challenge` header proves that the server knows the token of `api.json`:
        `X-Interlock-Proof-Drive` is the HMAC-SHA256 of the challenge.
        """
        return Status(
            "ok",
            VERSION,
            bridge.desk.fixed.get("project_root", ""),
            os.getpid(),
            request.scope["state"]["capability"],
            bridge.front.state.version,
            bridge.sandbox,
            bridge.test_policy,
        )

    return show_status


def _desk_routes(bridge: Bridge, live: Live, status: StatusJson) -> list[HTTPRouteHandler]:
    desk = bridge.desk

    @get(
        "/api/gui/state",
        operation_id="ApiGuiStateState",
        responses=READS,
        summary="Show all fields and buttons",
        sync_to_thread=False,
    )
    def show_desk() -> Response[GuiState]:
        """Shows fields with their values, buttons, tabs, discussions and indicators."""
        return raw(wire.encode(gui_state(desk, test_policy=bridge.test_policy)))

    @get(
        "/api/gui/value/{field:str}",
        operation_id="ApiGuiValueFieldValue",
        responses=FINDS,
        summary="Read a field",
        sync_to_thread=False,
    )
    def show_field(field: FromPath[str]) -> Value:
        """Reads a field of the desk or a key of `mma_status`."""
        return Value(field, value_of(desk, field, live.texts()))

    @get(
        "/api/gui/indicator/{name:str}",
        operation_id="ApiGuiIndicatorNameIndicate",
        responses=FINDS,
        summary="Read an indicator",
        sync_to_thread=False,
    )
    def show_indicator(name: FromPath[str]) -> dict[str, bool]:
        """Reads an indicator such as `thinking`, which is true during a model call."""
        return indicator(desk, name, test_policy=bridge.test_policy)

    @get(
        "/api/gui/mma_status",
        operation_id="ApiGuiMmaStatusMma",
        responses=READS,
        summary="Show the status of tracks and approvals",
        sync_to_thread=False,
    )
    def show_mma_status() -> Response[MmaStatus]:
        """Shows the selected track, the running workers, the pending approvals and the streams of models."""
        return raw(status())

    return [show_desk, show_field, show_indicator, show_mma_status]


def _window_routes(bridge: Bridge, live: Live) -> list[HTTPRouteHandler]:
    @get(
        "/api/gui/diagnostics",
        operation_id="ApiGuiDiagnosticsDiagnostics",
        responses=READS,
        summary="Show performance figures of the window",
        sync_to_thread=False,
    )
    def show_diagnostics() -> Diagnostics:
        """Shows the figures of the window; all are null without a window."""
        return Diagnostics(None, None, None, None) if bridge.window is None else Diagnostics(*bridge.window.figures())

    @get(
        "/api/gui/health",
        operation_id="ApiGuiHealthHealth",
        responses=READS,
        summary="Show the health of window and journal",
        sync_to_thread=False,
    )
    def show_health() -> Health:
        """Shows failed panels and whether the journal can be written."""
        broken = bridge.backstage.broken()
        window = bridge.window
        panels = window.broken_panels() if window is not None else {}
        status = "degraded" if broken or panels else "ok"
        return Health(status, window is not None, panels, broken, live.followers)

    return [show_diagnostics, show_health]


def _action_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @post(
        "/api/gui",
        operation_id="ApiGuiAct",
        status_code=200,
        responses=WRITES,
        summary="Set a field, click a button, or select an item",
    )
    async def act(request: Asking, data: JSONBody[GuiAction]) -> Done:
        """Does what a user does in the window: sets a field, clicks a button, selects from a list."""
        return Done("ok", await bridge.run_on_engine(_act(bridge, authority_of(bridge, request), data)))

    @post(
        "/api/session/reset",
        operation_id="ApiSessionResetReset",
        status_code=200,
        responses=WRITES,
        summary="Reset the session",
    )
    async def reset_desk(request: Asking) -> Done:
        """Resets the session like `btn_reset`; tracks and history stay.

        Stops the current answer, clears inputs and streams, withdraws external requests.
        """
        return Done("ok", await bridge.run_on_engine(click(bridge.desk, authority_of(bridge, request), "btn_reset")))

    @post(
        "/api/shutdown",
        operation_id="ApiShutdownShutdown",
        status_code=200,
        responses=WRITES,
        summary="Shut the workbench down",
    )
    async def shut_down() -> Done:
        """Stops running work and ends the process. The journal holds everything recorded so far."""
        bridge.stop()
        return Done("ok", {"stopping": True})

    return [act, reset_desk, shut_down]


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
