"""Model calls: the cost is reserved first, the text is streamed, failures are retried and recorded.

Every call is disposable: an interrupted call is made again, and its cost counts as spent until it is known.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.events.call_events import CallReserved
from interlock.domain.values.budgets import Usage
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.activity import Activity, RequestStart, ResponseReceived
from interlock.engine.models.pacing import Gateway
from interlock.engine.models.streams import AnswerWriter, Streams
from interlock.errors import Misconfigured, NothingSaid, OutOfTime, OverBudget, Unavailable
from interlock.ports.front import Receipt
from interlock.ports.model import Message, Model, ModelRequest, Reply, close_model, fixes_history, model_name

RETRIES = 5
PAUSE_S, LONGEST_S = 0.5, 8.0  # before the first retry; doubled for each retry, up to the longest

PIECES = 8  # the most calls for one answer that is cut at its length limit again and again
GO_ON = (
    "Your answer was cut off at the limit of its length. Go on exactly where it stopped, without repeating anything and"
    " without a remark about it."
)
STILL_CUT = (
    "its answer was cut at the limit of its length {} times and has no end; ask for less at a time, or raise [provider]"
    " max_output_tokens"
)
ONLY_THOUGHT = (
    "its answer reached the limit of its length before anything was said; raise [provider] max_output_tokens, or use a"
    " model that thinks less"
)

Wait = Callable[[float], Awaitable[None]]
Submit = Callable[[Command], Awaitable[Receipt]]
"""Raises Rejected for a call that a budget does not allow."""

LogMessage = Callable[[str, str, str, str, dict[str, Any]], None]
"""Takes direction, kind, provider, model and payload of every message to or from a model. For the log only."""


def no_log(direction: str, kind: str, provider: str, model: str, payload: dict[str, Any]) -> None:
    pass


class Booked(Struct, frozen=True):
    """A reply, and the reservation against which its cost is to be settled."""

    reply: Reply
    call: str


class Observers(Struct, frozen=True):
    """The listeners of calls: streamed text, status, and messages for the log."""

    streams: Streams
    activity: Activity = msgspec.field(default_factory=Activity)
    log: LogMessage = no_log


class Timing(Struct, frozen=True):
    """Clock, pauses and randomness of retries. `jitter` returns a number from 0 to 1."""

    jitter: Callable[[], float]
    wait: Wait = asyncio.sleep
    now: Callable[[], float] = time.monotonic


class CallLimits(Struct, frozen=True):
    """Limits of each provider. `requests_per_minute` 0 means no limit."""

    max_in_flight: int = 16
    requests_per_minute: int = 0


_DEFAULT_LIMITS = CallLimits()


class ModelCalls:
    def __init__(
        self,
        model: Model,
        submit: Submit,
        observers: Observers,
        timing: Timing,
        limits: CallLimits = _DEFAULT_LIMITS,
        tier_models: Mapping[str, str] | None = None,
    ) -> None:
        self._model = model
        self._before: list[Model] = []
        self._submit = submit
        self._streams = observers.streams
        self.activity = observers.activity
        self.log = observers.log
        self._timing = timing
        self._limits = limits
        self._gateways: dict[str, Gateway] = {}  # by provider: one keeps its limits while another one is chosen
        self._tier_models = dict(tier_models or {})

    def use(self, model: Model) -> None:
        """Uses this model from the next call on."""
        self._before.append(self._model)
        self._model = model

    async def close(self) -> None:
        """Closes every model that was used: some keep resources at their provider."""
        await asyncio.gather(*(close_model(model) for model in (*self._before, self._model)))

    @property
    def provider(self) -> str:
        return self._model.name

    def default_model(self, tier: str) -> str:
        """The model of this tier where a request names none."""
        return self._tier_models.get(tier, model_name(self._model))

    def fixes_history(self, tier: str, model: str | None) -> bool:
        """Whether this model requires every message exactly as it was sent first."""
        return fixes_history(self._model, model or self._tier_models.get(tier))

    async def ask(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        """The whole answer: one that was cut at its length limit is continued.

        Raises OverBudget if a budget does not allow the call, Unavailable if the model does not answer or if its answer
        stays cut.
        """
        tier = request.tier
        self.activity.publish(RequestStart(key, tier, self.provider, request.model or self.default_model(tier)))
        try:
            booked = await self._whole_answer(party, key, request)
        except (OverBudget, Unavailable, Misconfigured) as error:
            self.activity.publish(ResponseReceived(key, tier, error=str(error)))
            raise
        except asyncio.CancelledError:
            self.activity.withdrawn(key)
            raise
        message = booked.reply.message
        self.activity.publish(ResponseReceived(key, tier, message.text, len(message.calls)))
        return booked

    async def reserve(self, party: CallOwner, tier: str, model: str) -> str:
        """Reserves a call whose cost has no known limit; returns its id. Raises OverBudget if a budget forbids it."""
        return await self._reserve(ReserveCall(party, tier, model, None))

    async def _reserve(self, command: ReserveCall) -> str:
        receipt = await self._submit(command)
        return next(r.event.call for r in receipt.records if isinstance(r.event, CallReserved))

    async def settle(self, call: str, usage: Usage | None, error: str) -> None:
        """Records the end of a reserved call that failed; its cost may be unknown."""
        await self._submit(EndCall(call, usage, error))

    def writer(self, key: str) -> AnswerWriter:
        """Adds a new answer to a stream."""
        self._streams.part(key)
        return AnswerWriter(self._streams, key)

    def show(self, key: str, line: str) -> None:
        """Adds a line about a tool to a stream."""
        self._streams.add(key, line)

    async def consult(self, party: CallOwner, key: str, request: ModelRequest) -> Reply:
        """A call whose cost is settled immediately: the caller records nothing else about it."""
        booked = await self.ask(party, key, request)
        await self._submit(EndCall(booked.call, booked.reply.usage, ""))
        return booked.reply

    async def _whole_answer(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        """Asks for the rest of a cut answer. Calls that were cut are left to the caller: the model is told of them."""
        said = ""
        for left in range(PIECES - 1, -1, -1):
            booked = await self._with_retries(party, key, request)
            message = booked.reply.message
            whole = replace(booked, reply=replace(booked.reply, message=replace(message, text=said + message.text)))
            if booked.reply.stop != "length" or (message.calls and request.tools):
                return whole if said else booked
            said += message.text
            await self._submit(EndCall(booked.call, booked.reply.usage, "" if left else STILL_CUT.format(PIECES)))
            part = replace(message, calls=())
            request = replace(request, messages=(*request.messages, part, Message("user", GO_ON)))
        raise Unavailable(STILL_CUT.format(PIECES))

    async def _with_retries(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        pause = PAUSE_S
        for left in range(RETRIES, -1, -1):
            try:
                return await self._in_slot(party, key, request)
            except (NothingSaid, OutOfTime):
                raise
            except Unavailable as error:
                if not left:
                    raise Unavailable(f"{error} (tried {RETRIES + 1} times)") from error
                jittered = pause * (0.5 + self._timing.jitter() / 2)
                await self._timing.wait(jittered if error.retry_after_secs is None else error.retry_after_secs)
                pause = min(pause * 2, LONGEST_S)
        raise AssertionError("the last try returns or raises")

    async def _in_slot(self, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        model = self._model  # the same for the whole call, even if another one is chosen meanwhile
        if (gateway := self._gateways.get(model.name)) is None:
            limits, timing = self._limits, self._timing
            gateway = Gateway(limits.max_in_flight, limits.requests_per_minute, timing.wait, timing.now)
            self._gateways[model.name] = gateway
        async with gateway.slot():
            return await self._call(model, party, key, request)

    async def _call(self, model: Model, party: CallOwner, key: str, request: ModelRequest) -> Booked:
        if request.model is None and request.tier in self._tier_models:
            request = replace(request, model=self._tier_models[request.tier])
        name = request.model or model_name(model)
        call = await self._reserve(ReserveCall(party, request.tier, name, model.quote(request)))
        about = (model.name, name)
        self.log(
            "OUT",
            "request",
            *about,
            {"call": call, "tier": request.tier, "key": key, "attempt": party.attempt, "request": request},
        )
        self._streams.part(key)
        writer = AnswerWriter(self._streams, key)
        try:
            reply = await model.complete(request, writer.text, writer.reasoning)
        except Unavailable as error:
            self.log("IN", "response", *about, {"call": call, "error": str(error)})
            await self._submit(EndCall(call, None if error.may_cost else Usage(), str(error)))
            raise
        except Misconfigured as error:
            await self._submit(EndCall(call, Usage(), str(error)))
            raise
        self.log(
            "IN", "response", *about, {"call": call, "message": reply.message, "usage": reply.usage, "stop": reply.stop}
        )
        if not reply.message.text.strip() and not reply.message.calls:
            if reply.stop == "length":  # another try would think as long and cost as much
                await self._submit(EndCall(call, reply.usage, ONLY_THOUGHT))
                raise NothingSaid(ONLY_THOUGHT)
            await self._submit(EndCall(call, reply.usage, "its answer is empty"))
            raise Unavailable("its answer is empty")
        return Booked(reply, call)
