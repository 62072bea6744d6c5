"""Discussions, the journal, usage, kept texts and the event stream over HTTP."""

from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, FromQuery, HeaderParameter, JSONBody, PathParameter, QueryParameter
from litestar.response import Stream

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.event_stream import Followed, frames
from interlock.api.live import Live
from interlock.api.routes.replies import FINDS, READS, WRITES, Asking, Limit, Offset, next_offset, raw, who
from interlock.api.routes.schemas import (
    Discussions,
    DiscussionShape,
    Done,
    JournalPage,
    KeptText,
    NewDiscussion,
    Reason,
    Telling,
    UsageShape,
    WholeDiscussion,
    Words,
)
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.values.discussions import Discussion, Quiet, Unsure, Waiting
from interlock.errors import BadValue, NotFound
from interlock.ports.model import Message
from interlock.views.costs import UsageGrouping, usage_rows

Version = Annotated[int, QueryParameter(ge=0, le=2**53, description="events after this version")]
Sha256 = Annotated[str, PathParameter(pattern="^[0-9a-f]{64}$", description="its name")]


def talk_routes(bridge: Bridge, live: Live, picture: Any) -> list[HTTPRouteHandler]:
    @get("/api/discussions", responses=READS, summary="Discussions", sync_to_thread=False)
    def discussions(offset: Offset = 0, limit: Limit = 100) -> Response[Discussions]:
        """Oldest first."""
        found = bridge.front.state.discussions_in_order()
        page = [_row(each) for each in found[offset : offset + limit]]
        after = next_offset(offset, len(page), len(found))
        return raw(wire.encode({"discussions": page, "total": len(found), "next_offset": after}))

    @post("/api/discussions", status_code=200, responses=WRITES, summary="Begin a discussion")
    async def begin(request: Asking, data: JSONBody[NewDiscussion]) -> Response[DiscussionShape]:
        """Empty; nothing is asked yet."""
        actor = who(bridge, request).actor
        receipt = await bridge.over(bridge.front.submit(actor, StartDiscussion(data.title)))
        name = next(r.event.discussion for r in receipt.records if isinstance(r.event, DiscussionStarted))
        return raw(wire.encode(_row(bridge.front.state.discussion(name))))

    @get("/api/discussions/{discussion:str}", responses=FINDS, summary="One discussion")
    async def one(discussion: FromPath[str]) -> Response[WholeDiscussion]:
        """With everything that was said."""
        found = bridge.front.state.discussion(discussion)
        said: list[dict[str, Any]] = []
        for blob in found.messages:
            text = await bridge.over(bridge.backstage.kept_text(blob.sha256))
            if text is not None:
                message = msgspec.json.decode(text, type=Message)
                calls = [call.name for call in message.calls]
                row = {"role": message.role, "text": message.text, "calls": calls, "reasoning": message.reasoning}
                said.append(row)
        return raw(wire.encode({**_row(found), "messages": said}))

    @post("/api/discussions/{discussion:str}/messages", status_code=200, responses=WRITES, summary="Say something")
    async def say(request: Asking, discussion: FromPath[str], data: JSONBody[Words]) -> Done:
        """The answer streams under the key `Discussion: <id>`; what it wants to change asks first."""
        receipt = await bridge.over(bridge.front.say(who(bridge, request).actor, discussion, data.text))
        return Done("ok", {"discussion": discussion, "version": receipt.version})

    @post("/api/discussions/{discussion:str}/stop", status_code=200, responses=WRITES, summary="End the model's turn")
    async def stop(request: Asking, discussion: FromPath[str], data: JSONBody[Reason]) -> Done:
        """As it is; what was said stays."""
        command = StopTurn(discussion, data.reason or "stopped")
        await bridge.over(bridge.front.submit(who(bridge, request).actor, command))
        return Done("ok", {"discussion": discussion})

    @post("/api/tell", status_code=200, responses=WRITES, summary="Say something to whoever is at work")
    async def tell(request: Asking, data: JSONBody[Telling]) -> Done:
        """Recorded at once; it joins the conversation before the model is asked again."""
        command = Tell(data.text, data.track, data.ticket, data.discussion)
        receipt = await bridge.over(bridge.front.submit(who(bridge, request).actor, command))
        whom = data.discussion or f"{data.track}/{data.ticket}"
        return Done("ok", {"told": whom, "version": receipt.version})

    @get("/api/journal", responses=READS, summary="What was recorded")
    async def journal(after: Version = 0, limit: Limit = 100) -> Response[JournalPage]:
        """Events after a version, in order; the last one's version is where the next page begins."""
        records = await bridge.over(bridge.backstage.records(after))
        return raw(wire.encode({"events": records[:limit], "head": bridge.front.state.version}))

    @get("/api/usage", responses=READS, summary="What models have cost", sync_to_thread=False)
    def usage(by: FromQuery[UsageGrouping] = "tier") -> Response[UsageShape]:
        """Tokens and dollars; `unknown_usd` is set aside for calls that broke off or are under way."""
        rows = {
            row.name: {
                **wire.to_plain(row.used),
                "cost_usd": row.used.cost_usd,
                "unknown_usd": row.unknown / 1e6,
            }
            for row in usage_rows(bridge.front.state, by)
        }
        return raw(wire.encode({"by": by, "usage": rows}))

    @get("/api/texts/{sha256:str}", responses=FINDS, summary="A long text")
    async def text(sha256: Sha256) -> KeptText:
        """A prompt, a diff or an output that an event names by its hash."""
        content = await bridge.over(bridge.backstage.kept_text(sha256))
        if content is None:
            raise NotFound(f"no text {sha256}")
        return KeptText(sha256, len(content), content.decode(errors="replace"))

    @get(
        "/api/events",
        media_type="text/event-stream",
        responses={
            **READS,
            200: ResponseSpec(
                str,
                description="`id` and `event` of each frame are the version and the type of a journal event; `stream`,"
                " `response`, `mma_state_update`, `mma_spawn_approval`, `mma_step_approval` come without an id",
                media_type="text/event-stream",  # pyright: ignore[reportArgumentType]  any text will do
                generate_examples=False,
            ),
        },
        summary="Follow everything",
        sync_to_thread=False,
    )
    def events(
        after: Annotated[int | None, QueryParameter(ge=0, le=2**53, description="begin after this version")] = None,
        last_event_id: Annotated[
            str | None, HeaderParameter(name="Last-Event-ID", description="the same, as browsers send it on reconnect")
        ] = None,
    ) -> Stream:
        """Server-Sent Events. From now on, or without gap or repeat after a version; texts so far, then deltas."""
        begin = _version(last_event_id) if last_event_id else after
        if begin is not None and begin > bridge.front.state.version:
            raise BadValue(f"this journal ends at {bridge.front.state.version}: {begin} is another's")
        return Followed(
            live,
            begin,
            lambda follower: frames(
                live,
                follower,
                lambda version: bridge.over(bridge.backstage.records(version)),
                lambda: bridge.front.state,
                picture,
            ),
        )

    return [discussions, begin, one, say, stop, tell, journal, usage, text, events]


def _version(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise BadValue("Last-Event-ID is the version of a journal event")
    return int(text)


def _row(found: Discussion) -> dict[str, Any]:
    state: Literal["quiet", "answering", "waiting"] = "answering"
    if isinstance(found.stage, Quiet):
        state = "quiet"
    elif isinstance(found.stage, Waiting | Unsure):
        state = "waiting"
    return {
        "id": found.id,
        "title": found.title,
        "state": state,
        "turns": found.turns,
        "error": found.stage.error if isinstance(found.stage, Quiet) else "",
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }
