"""`/api/journal`, `/api/usage`, `/api/texts` and `/api/events`: records over HTTP."""

from collections.abc import Callable
from typing import Annotated

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromQuery, HeaderParameter, PathParameter, QueryParameter
from litestar.response import Stream

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.event_stream import Followed, frames
from interlock.api.live import Live
from interlock.api.routes.replies import FINDS, READS, Asking, Limit, raw
from interlock.api.routes.status_json import StatusJson
from interlock.api.schemas.journal import JournalPage, KeptText, UsageShape
from interlock.errors import BadValue, NotFound
from interlock.views.usage.costs import UsageGrouping, usage_rows

Version = Annotated[int, QueryParameter(ge=0, le=2**53, description="Only events after this version.")]
Sha256 = Annotated[str, PathParameter(pattern="^[0-9a-f]{64}$", description="The SHA-256 hash of the text.")]
After = Annotated[int | None, QueryParameter(ge=0, le=2**53, description="Start after this version.")]
States = Annotated[bool, QueryParameter(description="Whether `mma_state_update` is sent after each change.")]
LastEventId = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="The same as `after`; browsers send it when they reconnect."),
]

_EVENTS = ResponseSpec(
    str,
    description="Frames of journal events have the version as `id` and the type as `event`. Frames of `stream`,"
    " `response`, `mma_state_update`, `mma_spawn_approval` and `mma_step_approval` have no `id`.",
    media_type="text/event-stream",  # pyright: ignore[reportArgumentType]  any text will do
    generate_examples=False,
)


def journal_routes(bridge: Bridge, live: Live, update: StatusJson) -> list[HTTPRouteHandler]:
    @get("/api/journal", operation_id="ApiJournalJournal", responses=READS, summary="List journal events")
    async def read_journal(after: Version = 0, limit: Limit = 100) -> Response[JournalPage]:
        """Lists events after a version, in order. The version of the last one is the `after` of the next page."""
        records = await bridge.run_on_engine(bridge.backstage.records(after))
        return raw(wire.encode({"events": records[:limit], "head": bridge.front.state.version}))

    @get(
        "/api/usage",
        operation_id="ApiUsageUsage",
        responses=READS,
        summary="Show usage and cost of models",
        sync_to_thread=False,
    )
    def read_usage(by: FromQuery[UsageGrouping] = "tier") -> Response[UsageShape]:
        """Shows tokens and dollars.

        `unknown_usd` is reserved for calls that are running or ended without a known cost.
        """
        rows = {
            row.name: {
                **wire.to_plain(row.used),
                "cost_usd": row.used.cost_usd,
                "unknown_usd": row.unknown / 1e6,
            }
            for row in usage_rows(bridge.front.state, by)
        }
        return raw(wire.encode({"by": by, "usage": rows}))

    @get("/api/texts/{sha256:str}", operation_id="ApiTextsSha256Text", responses=FINDS, summary="Show a stored text")
    async def read_text(sha256: Sha256) -> KeptText:
        """Shows a prompt, a diff or an output that an event names by its hash."""
        content = await bridge.run_on_engine(bridge.backstage.kept_text(sha256))
        if content is None:
            raise NotFound(f"no text {sha256}")
        return KeptText(sha256, len(content), content.decode(errors="replace"))

    return [read_journal, read_usage, read_text, _events_route(bridge, live, update)]


def _events_route(bridge: Bridge, live: Live, update: StatusJson) -> HTTPRouteHandler:
    @get(
        "/api/events",
        operation_id="ApiEventsEvents",
        media_type="text/event-stream",
        responses={**READS, 200: _EVENTS},
        summary="Stream events",
        sync_to_thread=False,
    )
    def follow_events(
        request: Asking, after: After = None, states: States = True, last_event_id: LastEventId = None
    ) -> Stream:
        """Streams Server-Sent Events from now on, or after a version without gaps or repeats.

        Streams of text start with the text so far; deltas follow. The stream of a browser session ends with it.
        """
        may_go_on: Callable[[], bool] = request.scope["state"].get("may_go_on", lambda: True)
        begin = _version(last_event_id) if last_event_id else after
        if begin is not None and begin > bridge.front.state.version:
            raise BadValue(
                f"this journal ends at version {bridge.front.state.version}; version {begin} belongs to another journal"
            )
        return Followed(
            live,
            begin,
            lambda follower: frames(
                live,
                follower,
                lambda version: bridge.run_on_engine(bridge.backstage.records(version)),
                lambda: bridge.front.state,
                update if states else None,
                may_go_on,
            ),
        )

    return follow_events


def _version(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise BadValue("Last-Event-ID is the version of a journal event")
    return int(text)
