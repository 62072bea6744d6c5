"""What an ACP agent sends while it works: text, reasoning, tool calls, and requests for permission.

All of it comes from a hostile program: sizes and counts are bounded, and a shape that is not known is ignored.
"""

import asyncio
import json
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct

from interlock.cli_workers.acp_shapes import object_of, objects_in
from interlock.domain.values.budgets import Usage
from interlock.views.display import one_line, safe

MOST_TEXT = 2_000_000
"""Characters of answer and of reasoning; the rest is dropped."""

MOST_CALLS = 2_000
"""Tool calls that are remembered: the latest."""

MOST_DETAIL = 4_000
MOST_ARGS = 1_000_000  # bytes of a permission request as JSON; a longer one cannot be shown, so it is denied
MOST_WAITING = 32  # permission requests at once; more are denied
MOST_ITEMS = 200  # diffs, locations or blocks of one call
CUT = "\n[… cut: the agent sent more than {:,} characters]"


class PermissionRequest(Struct, frozen=True):
    """What the agent wants to do."""

    tool: str  # the agent's title or tool name, on one line
    kind: str  # ACP's ToolKind: edit, execute, delete, move, fetch, read …
    args: dict[str, Any]  # the raw input, with `diffs` and `locations` of the call
    call_id: str


class Decision(Struct, frozen=True):
    allow: bool
    message: str = ""


class AcpEvents(Protocol):
    """The receiver of an agent's work."""

    def text(self, piece: str) -> None: ...
    def reasoning(self, piece: str) -> None: ...
    def tool(self, call_id: str, title: str, kind: str, status: str, detail: str) -> None: ...
    async def permission(self, request: PermissionRequest) -> Decision: ...


def plain(text: str, most: int) -> str:
    """The first line, printable and cut."""
    return one_line(text[: 4 * most], most)


class _Call(Struct):
    """What is known of one tool call so far."""

    title: str = ""
    kind: str = "other"
    status: str = "pending"
    raw: Any = None
    content: list[Any] = []
    locations: list[Any] = []

    def take(self, update: dict[str, Any]) -> None:
        for name, field in (("title", "title"), ("kind", "kind"), ("status", "status")):
            if isinstance(update.get(name), str):
                setattr(self, field, plain(update[name], 200 if name == "title" else 20))
        if update.get("rawInput") is not None:
            self.raw = update["rawInput"]
        if isinstance(update.get("content"), list):
            self.content = update["content"][:MOST_ITEMS]
        if isinstance(update.get("locations"), list):
            self.locations = update["locations"][:MOST_ITEMS]

    def args(self) -> dict[str, Any]:
        """The raw input with `diffs` and `locations`; a field of the input under such a name is kept as `raw_…`."""
        raw = object_of(self.raw)
        if not raw and self.raw not in (None, {}):
            raw = {"input": self.raw}
        own: dict[str, Any] = {}
        if diffs := [_diff(one) for one in objects_in(self.content) if one.get("type") == "diff"]:
            own["diffs"] = diffs
        if places := [{"path": one.get("path"), "line": one.get("line")} for one in objects_in(self.locations)]:
            own["locations"] = places
        return {(f"raw_{name}" if name in ("diffs", "locations") else name): value for name, value in raw.items()} | own

    def detail(self) -> str:
        texts = [
            str(one["content"].get("text", ""))
            for one in objects_in(self.content)
            if isinstance(one.get("content"), dict)
        ]
        paths = [f"changes {one.get('path')}" for one in objects_in(self.content) if one.get("type") == "diff"]
        return safe("\n".join((*paths, *texts))[:MOST_DETAIL])


class Conversation:
    """Handles the messages of one agent. `failed` gets the error of a receiver that raised."""

    def __init__(self, events: AcpEvents) -> None:
        self._events = events
        self._session: str | None = None
        self._calls: dict[str, _Call] = {}
        self._pieces: list[str] = []
        self._sizes = {"text": 0, "reasoning": 0}
        self._waiting = 0
        self._cost: float | None = None
        self._over = asyncio.Event()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def text(self) -> str:
        """The agent's whole answer, or its beginning."""
        return "".join(self._pieces)

    def begin(self, session: str) -> None:
        """From now on updates count: those before are the history of a session that was loaded."""
        self._session = session

    def end(self) -> None:
        """Nothing counts any more; open permission requests are answered as cancelled."""
        self._over.set()
        if not self.failed.cancel() and not self.failed.cancelled():
            self.failed.exception()  # counts as retrieved

    def usage(self, reported: object) -> Usage | None:
        """The usage of the prompt, if the agent reports one."""
        given = object_of(reported)
        if not given and self._cost is None:
            return None
        counts = [
            _count(given.get(name)) for name in ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens")
        ]
        return Usage(*counts, cost=round((self._cost or 0) * 1_000_000))

    async def handle(self, method: str, params: Any, is_notification: bool) -> Any:
        """The SDK's handler of incoming messages."""
        from acp import RequestError

        given = object_of(params)
        if is_notification:
            if method == "session/update" and given.get("update"):
                self._take(given.get("sessionId"), object_of(given["update"]))
            return None
        if method == "session/request_permission":
            return await self._permit(given)
        raise RequestError.method_not_found(plain(str(method), 60))

    # ── updates ──────────────────────────────────────────────────────────────────────────

    def _take(self, session: object, update: dict[str, Any]) -> None:
        if session != self._session or self._over.is_set():
            return
        try:
            match update.get("sessionUpdate"):
                case "agent_message_chunk":
                    self._take_text("text", update.get("content"))
                case "agent_thought_chunk":
                    self._take_text("reasoning", update.get("content"))
                case "tool_call" | "tool_call_update":
                    self._take_call(update)
                case "usage_update" if isinstance(update.get("cost"), dict):
                    cost = update["cost"]
                    if cost.get("currency") == "USD" and isinstance(cost.get("amount"), int | float):
                        self._cost = min(max(float(cost["amount"]), 0), 1_000_000)
                case _:
                    pass
        except Exception as error:  # noqa: BLE001  # a receiver failed: the prompt ends with its error
            self._fail(error)

    def _take_text(self, where: str, content: object) -> None:
        text = object_of(content).get("text")
        room = MOST_TEXT - self._sizes[where]
        if not isinstance(text, str) or not text or room <= 0:
            return
        self._sizes[where] += len(text)
        piece = text if len(text) <= room else text[:room] + CUT.format(MOST_TEXT)
        if where == "text":
            self._pieces.append(piece)
            self._events.text(piece)
        else:
            self._events.reasoning(piece)

    def _take_call(self, update: dict[str, Any]) -> None:
        name, call = self._call(update)
        if name:
            self._events.tool(name, call.title or "a tool", call.kind, call.status, call.detail())

    def _call(self, update: dict[str, Any]) -> tuple[str, _Call]:
        """The call's id, empty if it has none, and all that is known of it, with this update."""
        name = update.get("toolCallId")
        if not isinstance(name, str) or not 0 < len(name) <= 200:
            return "", _Call()
        call = self._calls.setdefault(name, _Call())
        call.take(update)
        if len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        return safe(name), call

    # ── permission ───────────────────────────────────────────────────────────────────────

    async def _permit(self, params: dict[str, Any]) -> dict[str, Any]:
        options = objects_in(params.get("options"))
        allowed = await self._decide(params) if params.get("sessionId") == self._session else False
        if allowed is None:
            return {"outcome": {"outcome": "cancelled"}}
        wanted = "allow_once" if allowed else "reject_once"
        chosen = [
            one["optionId"] for one in options if one.get("kind") == wanted and isinstance(one.get("optionId"), str)
        ]
        if not chosen:  # only "always" is offered, or nothing
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen[0]}}

    async def _decide(self, params: dict[str, Any]) -> bool | None:
        """None if the turn ended first. A request that cannot be shown whole is denied."""
        name, call = self._call(object_of(params.get("toolCall")))
        if self._over.is_set():
            return None
        if not name or self._waiting >= MOST_WAITING:
            return False
        args = call.args()
        try:
            if len(json.dumps(args)) > MOST_ARGS:
                return False
        except (ValueError, RecursionError):
            return False
        request = PermissionRequest(call.title or call.kind, call.kind, args, name)
        return await self._asked(request)

    async def _asked(self, request: PermissionRequest) -> bool | None:
        self._waiting += 1
        asking = asyncio.ensure_future(self._events.permission(request))
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((asking, over), return_when=asyncio.FIRST_COMPLETED)
            return asking.result().allow if asking.done() else None
        except asyncio.CancelledError:
            if asking.cancelled():
                return None
            raise
        except Exception as error:  # noqa: BLE001  # the same; the call is denied
            self._fail(error)
            return False
        finally:
            self._waiting -= 1
            asking.cancel()
            over.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await asyncio.gather(asking, over, return_exceptions=True)

    def _fail(self, error: Exception) -> None:
        if not self.failed.done():
            self.failed.set_exception(error)


def _diff(content: dict[str, Any]) -> dict[str, Any]:
    return {"path": content.get("path"), "old": content.get("oldText"), "new": content.get("newText")}


def _count(value: object) -> int:
    return min(value, 10**12) if isinstance(value, int) and value > 0 else 0
