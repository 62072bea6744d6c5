"""`/api/discussions` and `/api/tell`: discussions and notes over HTTP."""

from typing import Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import (
    FINDS,
    READS,
    WRITES,
    Asking,
    Limit,
    Offset,
    authority_of,
    next_offset,
    raw,
    submit,
)
from interlock.api.schemas.basics import Done, Reason
from interlock.api.schemas.discussions import (
    Discussions,
    DiscussionShape,
    NewDiscussion,
    Telling,
    WholeDiscussion,
    Words,
)
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.values.discussions import Discussion, Quiet, Unsure, Waiting
from interlock.ports.model import Message


def discussion_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    return [*_listing(bridge), *_message_routes(bridge)]


def _listing(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get(
        "/api/discussions",
        operation_id="ApiDiscussionsDiscussions",
        responses=READS,
        summary="List discussions",
        sync_to_thread=False,
    )
    def list_discussions(offset: Offset = 0, limit: Limit = 100) -> Response[Discussions]:
        """Oldest first."""
        discussions = bridge.front.state.discussions_in_order()
        page = [_row(discussion) for discussion in discussions[offset : offset + limit]]
        after = next_offset(offset, len(page), len(discussions))
        return raw(wire.encode({"discussions": page, "total": len(discussions), "next_offset": after}))

    @get(
        "/api/discussions/{discussion:str}",
        operation_id="ApiDiscussionsOne",
        responses=FINDS,
        summary="Show a discussion",
    )
    async def show_discussion(discussion: FromPath[str]) -> Response[WholeDiscussion]:
        """Shows a discussion with all its messages."""
        state = bridge.front.state.discussion(discussion)
        messages: list[dict[str, Any]] = []
        for blob in state.messages:
            text = await bridge.run_on_engine(bridge.backstage.kept_text(blob.sha256))
            if text is not None:
                message = msgspec.json.decode(text, type=Message)
                calls = [call.name for call in message.calls]
                row = {"role": message.role, "text": message.text, "calls": calls, "reasoning": message.reasoning}
                messages.append(row)
        return raw(wire.encode({**_row(state), "messages": messages}))

    return [list_discussions, show_discussion]


def _message_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @post(
        "/api/discussions",
        operation_id="ApiDiscussionsBegin",
        status_code=200,
        responses=WRITES,
        summary="Start a discussion",
    )
    async def start_discussion(request: Asking, data: JSONBody[NewDiscussion]) -> Response[DiscussionShape]:
        """Creates an empty discussion; no model is called."""
        receipt = await submit(bridge, request, StartDiscussion(data.title))
        name = next(r.event.discussion for r in receipt.records if isinstance(r.event, DiscussionStarted))
        return raw(wire.encode(_row(bridge.front.state.discussion(name))))

    @post(
        "/api/discussions/{discussion:str}/messages",
        operation_id="ApiDiscussionsMessagesSay",
        status_code=200,
        responses=WRITES,
        summary="Send a message to a discussion",
    )
    async def send_message(request: Asking, discussion: FromPath[str], data: JSONBody[Words]) -> Done:
        """Starts an answer, which streams under the key `Discussion: <id>`. Changes request an approval first."""
        actor = authority_of(bridge, request).actor
        receipt = await bridge.run_on_engine(bridge.front.say(actor, discussion, data.text))
        return Done("ok", {"discussion": discussion, "version": receipt.version})

    @post(
        "/api/discussions/{discussion:str}/stop",
        operation_id="ApiDiscussionsStopStop",
        status_code=200,
        responses=WRITES,
        summary="Stop the current answer of a discussion",
    )
    async def stop_turn(request: Asking, discussion: FromPath[str], data: JSONBody[Reason]) -> Done:
        """Stops the current answer; its messages stay."""
        await submit(bridge, request, StopTurn(discussion, data.reason or "stopped"))
        return Done("ok", {"discussion": discussion})

    @post(
        "/api/tell",
        operation_id="ApiTellTell",
        status_code=200,
        responses=WRITES,
        summary="Send a note to a running worker or discussion",
    )
    async def send_note(request: Asking, data: JSONBody[Telling]) -> Done:
        """Records a note at once. The conversation includes it before the next model call."""
        receipt = await submit(bridge, request, Tell(data.text, data.track, data.ticket, data.discussion))
        whom = data.discussion or f"{data.track}/{data.ticket}"
        return Done("ok", {"told": whom, "version": receipt.version})

    return [start_discussion, send_message, stop_turn, send_note]


def _row(discussion: Discussion) -> dict[str, Any]:
    state: Literal["quiet", "answering", "waiting"] = "answering"
    if isinstance(discussion.stage, Quiet):
        state = "quiet"
    elif isinstance(discussion.stage, Waiting | Unsure):
        state = "waiting"
    return {
        "id": discussion.id,
        "title": discussion.title,
        "state": state,
        "turns": discussion.turns,
        "error": discussion.stage.error if isinstance(discussion.stage, Quiet) else "",
        "created_at": discussion.created_at,
        "updated_at": discussion.updated_at,
    }
