"""Server-side caches of Gemini (`cachedContents`): system prompt, context and tools.

A cache is keyed by content and model, so sessions with equal content share it. It is created at first use, renewed
before its TTL ends, and deleted when it is obsolete: when the content of a ticket changes, and at exit. After a crash
the TTL of one hour removes it.
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

LEAST = 2_048  # tokens; less is sent with each request
TTL_S = 3_600
ANEW_S = TTL_S * 0.9
CLOSING_S = 1.5  # seconds for all deletions at exit
DELETING_S = 5.0
MAKING_S = 60.0  # seconds a turn waits for the creation
_AGAIN_S = 60.0  # seconds after a temporary failure
_PATH = f"/{VERSION}/cachedContents"


class _Usage(Struct, frozen=True, rename="camel"):
    total_token_count: int = 0


class _Created(Struct, frozen=True, rename="camel"):
    name: str
    usage_metadata: _Usage = _Usage()


_created = msgspec.json.Decoder(_Created)


class Held:
    """A cache. `unbooked` counts tokens that are not yet charged to a call."""

    def __init__(self, name: str, made_at: float, tokens: int) -> None:
        self.name = name
        self.made_at = made_at
        self.unbooked = tokens

    def take_unbooked(self) -> int:
        tokens, self.unbooked = self.unbooked, 0
        return tokens


class ServerCaches:
    def __init__(self, channel: Channel, now: Callable[[], float], making_s: float = MAKING_S) -> None:
        self._channel = channel
        self._making_s = making_s
        self._now = now
        self._held: dict[str, Held] = {}  # by content
        self._not_before: dict[str, float] = {}  # contents whose creation failed
        self._making: dict[str, asyncio.Lock] = {}
        self._alive: dict[str, float] = {}  # caches that may exist, with their creation time
        self._asked_by: dict[str, str] = {}  # the last content of each ticket's session
        self._closed = False

    async def get(self, model: str, content: dict[str, Any], session: str, note: Callable[[str], None]) -> Held | None:
        """The cache, or None; `note` gets the reason once. `session` is empty if several sessions share it."""
        key = sha256(msgspec.json.encode([model, content])).hexdigest()
        async with self._making.setdefault(key, asyncio.Lock()):
            await self._drop_superseded(session, key)
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
        """The vendor has lost the cache."""
        self._alive.pop(held.name, None)
        self._held = {key: other for key, other in self._held.items() if other is not held}

    async def close(self) -> None:
        """Deletes all caches within a time limit; the TTL removes the rest."""
        self._closed = True
        left = [name for name, made_at in self._alive.items() if self._now() - made_at < TTL_S]
        self._held.clear()
        self._alive.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await asyncio.gather(*map(self._delete, left))

    async def _make(self, model: str, content: dict[str, Any]) -> Held:
        body = msgspec.json.encode({"model": f"models/{model_name(model)}", **content, "ttl": f"{TTL_S}s"})
        made_at = self._now()  # renew early
        answer = await self._channel.call("POST", _PATH, body, headers, model)
        try:
            created = _created.decode(answer)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise Misconfigured("its answer cannot be read") from None
        if not created.name.startswith("cachedContents/") or "/" in created.name.partition("/")[2]:
            raise Misconfigured(f"it has an invalid name: {created.name[:100]!r}")
        self._alive = {name: at for name, at in self._alive.items() if made_at - at < TTL_S}
        self._alive[created.name] = made_at
        return Held(created.name, made_at, created.usage_metadata.total_token_count)

    async def _drop_superseded(self, session: str, key: str) -> None:
        """A ticket has one content at a time. Its earlier cache is obsolete, and storing it costs money."""
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
        with suppress(InterlockError):  # gone already, or removed by its TTL
            await self._channel.call("DELETE", f"/{VERSION}/{name}", b"", headers, "")
