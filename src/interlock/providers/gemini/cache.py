"""What Gemini keeps for us between requests: system prompt, context and tools, as `cachedContents` (SPEC P5).

A cache is known by what it holds and for which model, so sessions that share that share it. It is made when it is first
needed, made anew before it ends, and deleted when nobody can need it any more: when a ticket's content has changed, and
when we end. What a crash leaves behind ends by itself, an hour after it was made.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from interlock.errors import InterlockError, Misconfigured
from interlock.providers.gemini.request import VERSION, headers, model_name
from interlock.providers.http.channel import Channel

LEAST = 2_048  # tokens; what is less is sent with each request
TTL_S = 3_600
ANEW_S = TTL_S * 0.9
CLOSING_S = 1.5  # for all deletions at the end together
DELETING_S = 5.0
MAKING_S = 60.0  # a turn does not wait longer for it than that
_AGAIN_S = 60.0  # after a failure that may pass
_PATH = f"/{VERSION}/cachedContents"


class _Usage(Struct, frozen=True, rename="camel"):
    total_token_count: int = 0


class _Created(Struct, frozen=True, rename="camel"):
    name: str
    usage_metadata: _Usage = _Usage()


_created = msgspec.json.Decoder(_Created)


class Held:
    """One cache while there is one. `unbooked` are tokens that nobody has been charged for."""

    def __init__(self, name: str, made_at: float, tokens: int) -> None:
        self.name = name
        self.made_at = made_at
        self.unbooked = tokens

    def booked(self) -> int:
        tokens, self.unbooked = self.unbooked, 0
        return tokens


class ServerCaches:
    def __init__(self, channel: Channel, now: Callable[[], float], making_s: float = MAKING_S) -> None:
        self._channel = channel
        self._making_s = making_s
        self._now = now
        self._held: dict[str, Held] = {}  # by content
        self._not_before: dict[str, float] = {}  # where making one has failed
        self._making: dict[str, asyncio.Lock] = {}
        self._alive: dict[str, float] = {}  # every cache that may be there, and when it was made
        self._asked_by: dict[str, str] = {}  # a ticket's session, and the content it asked with last
        self._closed = False

    async def get(self, model: str, content: dict[str, Any], session: str, note: Callable[[str], None]) -> Held | None:
        """None where there can be none; `note` hears why, once. `session` is empty where several may be meant."""
        key = sha256(msgspec.json.encode([model, content])).hexdigest()
        async with self._making.setdefault(key, asyncio.Lock()):
            await self._superseded(session, key)
            held = self._held.get(key)
            if held is not None and self._now() - held.made_at < ANEW_S:
                return held
            if self._closed or self._now() < self._not_before.get(key, 0.0):
                return None
            try:
                async with asyncio.timeout(self._making_s):
                    self._held[key] = await self._make(model, content)
            except (InterlockError, TimeoutError) as error:
                lasting = isinstance(error, Misconfigured)
                self._not_before[key] = self._now() + (TTL_S if lasting else _AGAIN_S)
                self._held.pop(key, None)
                why = str(error) or "it took too long"
                note(f"[the system prompt is sent whole, because no cache could be made: {why}]\n")
                return None
            return self._held[key]

    def lost(self, held: Held) -> None:
        """The vendor does not know it any more."""
        self._alive.pop(held.name, None)
        self._held = {key: other for key, other in self._held.items() if other is not held}

    async def close(self) -> None:
        """Deletes what there may still be, in little time: what does not go ends by itself."""
        self._closed = True
        left = [name for name, made_at in self._alive.items() if self._now() - made_at < TTL_S]
        self._held.clear()
        self._alive.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await asyncio.gather(*map(self._delete, left))

    async def _make(self, model: str, content: dict[str, Any]) -> Held:
        body = msgspec.json.encode({"model": f"models/{model_name(model)}", **content, "ttl": f"{TTL_S}s"})
        made_at = self._now()  # rather too early than too late
        answer = await self._channel.call("POST", _PATH, body, headers, model)
        try:
            created = _created.decode(answer)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise Misconfigured("its answer cannot be read") from None
        if not created.name.startswith("cachedContents/") or "/" in created.name.partition("/")[2]:
            raise Misconfigured(f"it has an odd name: {created.name[:100]!r}")
        self._alive = {name: at for name, at in self._alive.items() if made_at - at < TTL_S}
        self._alive[created.name] = made_at
        return Held(created.name, made_at, created.usage_metadata.total_token_count)

    async def _superseded(self, session: str, key: str) -> None:
        """A ticket has one content at a time; what it had before is worth nothing, and keeping it costs."""
        before = self._asked_by.get(session) if session else None
        if session:
            self._asked_by[session] = key
        if before is None or before == key or before in self._asked_by.values():
            return
        if (old := self._held.pop(before, None)) is not None:
            self._alive.pop(old.name, None)
            with suppress(TimeoutError):
                async with asyncio.timeout(DELETING_S):
                    await self._delete(old.name)

    async def _delete(self, name: str) -> None:
        with suppress(InterlockError):  # gone already, or it ends by itself
            await self._channel.call("DELETE", f"/{VERSION}/{name}", b"", headers, "")
