"""Gemini as a model: requests refer to a server-side cache, or are sent whole without one."""

import time
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from interlock.domain.values.budgets import Micros
from interlock.ports.model import ModelRequest, OnText, Reply, ignore_text
from interlock.providers.gemini.cache import LEAST, Held, ServerCaches
from interlock.providers.gemini.request import Gemini, stable_content
from interlock.providers.http.channel import Channel
from interlock.providers.http.errors import NotThere
from interlock.providers.http.http_model import HttpModel, LimitsOf, PriceOf, generic_limits, no_price
from interlock.providers.http.trimming import Count, estimated_tokens


class GeminiModel:
    """Implements the port `Model`. `model` is the default model."""

    def __init__(
        self,
        channel: Channel,
        *,
        model: str = "",
        limits: LimitsOf = generic_limits,
        price: PriceOf = no_price,
        count: Count = estimated_tokens,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._channel = channel
        self._model = model
        self._limits = limits
        self._price = price
        self._count = count
        self._caches = ServerCaches(channel, now)

    @property
    def name(self) -> str:
        return self._channel.endpoint.provider

    def quote(self, request: ModelRequest) -> Micros:
        return self._http_model(None).quote(request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        """If the vendor has lost the cache, it is created again once; then the request is sent without it."""
        for _ in range(2):
            held = await self._cache(request, on_reasoning)
            if held is None:
                break
            try:
                reply = await self._http_model(held).complete(request, on_text, on_reasoning)
            except NotThere:
                self._caches.lost(held)
                continue
            return self._with_cache(reply, held)
        return await self._http_model(None).complete(request, on_text, on_reasoning)

    async def close(self) -> None:
        await self._caches.close()

    def _http_model(self, held: Held | None) -> HttpModel:
        return HttpModel(
            Gemini(held.name if held else ""),
            self._channel,
            model=self._model,
            limits=self._limits,
            price=self._price,
            count=self._count,
        )

    async def _cache(self, request: ModelRequest, note: OnText) -> Held | None:
        """Tools that may not be called are not cached: a request with a cache cannot forbid them."""
        model = request.model or self._model
        if not model or (request.withdrawn and not request.tools):
            return None
        content = stable_content(request)
        if self._count(msgspec.json.encode(content).decode()) < LEAST:
            return None
        session = f"{request.tier} {request.ticket}" if request.ticket else ""
        return await self._caches.get(model, content, session, note)

    def _with_cache(self, reply: Reply, held: Held) -> Reply:
        if not (written := held.take_unbooked()):
            return reply
        usage = replace(reply.usage, cache_write=written)
        return replace(reply, usage=replace(usage, cost=self._price(reply.model, usage)))
