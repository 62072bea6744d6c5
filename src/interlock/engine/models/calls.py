"""A model call as it must be made: its cost set aside first, its text streamed, its failures retried and booked.

Every call is disposable: one that broke off in the middle is made again, and counts as spent until known (SPEC P7, P8).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.events.call_events import CallReserved
from interlock.domain.values.budgets import Usage
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.activity import Activity, RequestStart, ResponseReceived
from interlock.engine.models.pacing import Gateway
from interlock.engine.models.streams import Streams, Voice
from interlock.errors import Misconfigured, OverBudget, Unavailable
from interlock.ports.front import Receipt
from interlock.ports.model import Model, ModelRequest, Reply, close_model, model_name

RETRIES = 5
PAUSE_S, LONGEST_S = 0.5, 8.0  # before the first retry; doubling up to the longest

Wait = Callable[[float], Awaitable[None]]
Submit = Callable[[Command], Awaitable[Receipt]]
"""Raises Rejected: a call that may not be made is not made."""


Comms = Callable[[str, str, str, str, dict[str, Any]], None]
"""Hears what goes out and comes in: direction, kind, provider, model, payload (SPEC P9). For the log, nothing else."""


def unheard(direction: str, kind: str, provider: str, model: str, payload: dict[str, Any]) -> None:
    pass


class Booked(Struct, frozen=True):
    """An answer, and the reservation that its cost is still to be settled against."""

    reply: Reply
    call: str


class ModelCalls:
    def __init__(
        self,
        model: Model,
        submit: Submit,
        streams: Streams,
        jitter: Callable[[], float],
        wait: Wait = asyncio.sleep,
        comms: Comms = unheard,
        max_in_flight: int = 16,
        usual: Mapping[str, str] | None = None,
        activity: Activity | None = None,
        requests_per_minute: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._before: list[Model] = []
        self._submit = submit
        self._streams = streams
        self._jitter = jitter
        self._wait = wait
        self.comms = comms
        self._gateways: dict[str, Gateway] = {}  # by provider: each has limits of its own, also while it is not asked
        self._new_gateway = lambda: Gateway(max_in_flight, requests_per_minute, wait, now)
        self._usual = dict(usual or {})
        self.activity = activity or Activity()

    def use(self, model: Model) -> None:
        """From the next call on this one is asked."""
        self._before.append(self._model)
        self._model = model

    async def close(self) -> None:
        """Nobody asks any more: what was left at the providers' is taken away."""
        await asyncio.gather(*(close_model(model) for model in (*self._before, self._model)))

    @property
    def provider(self) -> str:
        return self._model.name

    def usual(self, tier: str) -> str:
        """The model that this tier is asked with where nobody says otherwise."""
        return self._usual.get(tier, model_name(self._model))

    async def ask(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        """Raises OverBudget when it may not be made, Unavailable when it cannot."""
        tier = request.tier
        self.activity.tell(RequestStart(key, tier, self.provider, request.model or self.usual(tier)))
        try:
            booked = await self._insistently(party, key, request)
        except (OverBudget, Unavailable, Misconfigured) as error:
            self.activity.tell(ResponseReceived(key, tier, error=str(error)))
            raise
        except asyncio.CancelledError:
            self.activity.withdrawn(key)
            raise
        said = booked.reply.message
        self.activity.tell(ResponseReceived(key, tier, said.text, len(said.calls)))
        return booked

    async def _insistently(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        pause = PAUSE_S
        for left in range(RETRIES, -1, -1):
            try:
                return await self._once(party, key, request)
            except Unavailable as error:
                if not left:
                    raise Unavailable(f"{error} (tried {RETRIES + 1} times)") from error
                wait = pause * (0.5 + self._jitter() / 2) if error.retry_after_secs is None else error.retry_after_secs
                await self._wait(wait)
                pause = min(pause * 2, LONGEST_S)
        raise AssertionError("the last try returns or raises")

    async def consult(self, party: CallOwner, key: str, request: ModelRequest) -> Reply:
        """A question in passing: its cost is settled at once, and what becomes of the answer is the asker's affair."""
        booked = await self.ask(party, key, request)
        await self._submit(EndCall(booked.call, booked.reply.usage, ""))
        return booked.reply

    async def _once(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        asked = self._model  # one for the whole call, whatever is chosen meanwhile
        if (gateway := self._gateways.get(asked.name)) is None:
            gateway = self._gateways[asked.name] = self._new_gateway()
        async with gateway.passing():
            return await self._made(asked, party, key, request)

    async def _made(self, asked: Model, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        if request.model is None and request.tier in self._usual:
            request = replace(request, model=self._usual[request.tier])
        model = request.model or model_name(asked)
        receipt = await self._submit(ReserveCall(party, request.tier, model, asked.quote(request)))
        call = next(r.event.call for r in receipt.records if isinstance(r.event, CallReserved))
        about = (asked.name, model)
        self.comms(
            "OUT",
            "request",
            *about,
            {"call": call, "tier": request.tier, "key": key, "attempt": party.attempt, "request": request},
        )
        self._streams.part(key)
        voice = Voice(self._streams, key)
        try:
            reply = await asked.complete(request, voice.said, voice.thought)
        except Unavailable as error:
            self.comms("IN", "response", *about, {"call": call, "error": str(error)})
            await self._submit(EndCall(call, None if error.may_cost else Usage(), str(error)))
            raise
        except Misconfigured as error:
            await self._submit(EndCall(call, Usage(), str(error)))
            raise
        self.comms(
            "IN", "response", *about, {"call": call, "message": reply.message, "usage": reply.usage, "stop": reply.stop}
        )
        if not reply.message.text.strip() and not reply.message.calls:
            await self._submit(EndCall(call, reply.usage, "its answer is empty"))
            raise Unavailable("its answer is empty")
        return Booked(reply, call)
