"""What all providers over HTTP have in common: a request in, a stream of events out, the answer put together.

A vendor is a `Dialect`: how a request is written, and how its events are read. Everything else is here and in
`channel`: keys, bounds, failures, prices.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Literal, Protocol, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured
from interlock.ports.model import Message, ModelRequest, OnText, Reply, Stop, ToolCall, ignore_text
from interlock.ports.tools import ToolSpec
from interlock.providers.http.channel import Channel
from interlock.providers.http.sse import Garbled, SseEvent
from interlock.providers.http.trimming import Count, estimated_tokens

Part = TypeVar("Part")

_ODD = re.compile(r"[^a-zA-Z0-9_-]")
_OWN_WORDS = 2_000  # tokens that a vendor may add of its own: for tools, for the roles
_PICTURE_MOST = 5_000  # tokens of one picture, at most
REFUSED = "(The provider refused to answer this.)"
CUT_CALL = "cut off at the limit of {:,} tokens for one answer; do it in smaller pieces. It began: {}"


class TokenLimits(Struct, frozen=True):
    """What a model takes and gives."""

    context: int = 200_000  # tokens, of question and answer together
    output: int = 8_192
    temperature: float | None = 0.0  # None: it takes none
    thinking: int | Literal["adaptive"] = 0  # tokens for thinking aloud, or as it sees fit; 0: as the model is made


LimitsOf = Callable[[str], TokenLimits]
PriceOf = Callable[[str, Usage], Micros]
"""What so many tokens of this model cost; the usage's own `cost` means nothing."""


def generic_limits(model: str) -> TokenLimits:
    return TokenLimits()


def no_price(model: str, usage: Usage) -> Micros:
    return 0


class HttpAnswer(Struct, frozen=True):
    """What has been read, whole."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    stop: Stop
    session: str = ""  # what the provider must get back


class AnswerReader(Protocol):
    """One answer as it comes. Raises Garbled for what does not fit, Unavailable where the provider says so."""

    def take(self, event: SseEvent) -> bool:
        """Whether that was the last."""
        ...

    def answer(self) -> HttpAnswer:
        """Raises Garbled when it is not whole."""
        ...


class Dialect(Protocol):
    def path(self, model: str) -> str: ...
    def headers(self, key: str) -> Mapping[str, str]: ...

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        """The same for the same request, byte by byte. Raises Misconfigured where it cannot be made to fit."""
        ...

    def reading(self, model: str, on_text: OnText, on_reasoning: OnText) -> AnswerReader: ...


class HttpModel:
    """Plays `Model`. `model` is asked where a request names none."""

    def __init__(
        self,
        dialect: Dialect,
        channel: Channel,
        *,
        model: str = "",
        limits: LimitsOf = generic_limits,
        price: PriceOf = no_price,
        count: Count = estimated_tokens,
    ) -> None:
        self._dialect = dialect
        self._channel = channel
        self._model = model
        self._limits = limits
        self._price = price
        self._count = count

    @property
    def name(self) -> str:
        return self._channel.endpoint.provider

    def quote(self, request: ModelRequest) -> Micros:
        """No token is less than a byte, so there cannot be more of them than bytes are sent."""
        model = self._chosen(request)
        limits = self._limits(model)
        blank = replace(request, pictures={})
        size = len(self._dialect.body(blank, model, limits, self._count)) + _OWN_WORDS
        size += _PICTURE_MOST * sum(len(message.images) for message in request.messages)
        most = min(size, limits.context)
        return max(
            self._price(model, Usage(input=most, output=limits.output)),
            self._price(model, Usage(cache_write=most, output=limits.output)),
        )

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        model = self._chosen(request)
        limits = self._limits(model)
        body = self._dialect.body(request, model, limits, self._count)
        reading = self._dialect.reading(model, on_text, on_reasoning)
        answer: list[HttpAnswer] = []

        def take(event: SseEvent) -> bool:
            if reading.take(event):
                answer.append(reading.answer())
            return bool(answer)

        def ended() -> None:
            if not answer:
                answer.append(reading.answer())

        await self._channel.exchange(self._dialect.path(model), body, self._dialect.headers, take, ended, model)
        return self._reply(answer[0], model, limits)

    def _chosen(self, request: ModelRequest) -> str:
        if model := request.model or self._model:
            return model
        raise Misconfigured(f"{self.name} must be told which model to ask: use --model, or set [provider] model")

    def _reply(self, answer: HttpAnswer, model: str, limits: TokenLimits) -> Reply:
        calls, stop = answer.calls, answer.stop
        if stop == "length":
            # What it would still have said belongs to the last call, and perhaps to those before it.
            calls = tuple(_cut(call, limits.output) for call in calls)
        elif stop == "end" and calls:
            stop = "tools"
        text = answer.text
        if stop == "refusal":
            calls, text = (), text if text.strip() else REFUSED
        message = Message("assistant", text, calls, session=answer.session, reasoning=answer.reasoning)
        usage = replace(answer.usage, cost=self._price(model, answer.usage))
        return Reply(message, usage, model, stop)


def read_call(number: int, name: str, tool: str, arguments: str) -> ToolCall:
    """A call whose arguments came as a text; what is no JSON object is told to the model."""
    name = name or f"call-{number}"
    try:
        args: Any = msgspec.json.decode(arguments.strip() or "{}")
    except (msgspec.MsgspecError, RecursionError):
        return ToolCall(name, tool, {}, arguments)
    if not isinstance(args, dict):
        return ToolCall(name, tool, {}, arguments)
    return ToolCall(name, tool, cast("dict[str, Any]", args))


def decoded(data: str, decoder: "msgspec.json.Decoder[Part]") -> Part:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Garbled(f"an event does not have its form: {error}") from None


def safe_name(name: str, most: int) -> str:
    """A name as vendors take it. Histories hold what other providers, and models that err, have called things; two of
    them never become the same.
    """
    plain = _ODD.sub("_", name)
    if plain == name and 0 < len(name) <= most:
        return name
    return f"{plain[: most - 9]}_{sha256(name.encode(errors='replace')).hexdigest()[:8]}"


def schema_of(spec: ToolSpec) -> dict[str, Any]:
    """Arguments are always an object, and vendors want to read that."""
    return {"type": "object", **spec.schema}


def clean(text: str) -> str:
    """As it can be sent: half a character, which a broken file may hold, cannot."""
    return text.encode(errors="replace").decode()


def _cut(call: ToolCall, most: int) -> ToolCall:
    began = call.unread or msgspec.json.encode(call.args).decode()
    return replace(call, args={}, unread=CUT_CALL.format(most, began))
