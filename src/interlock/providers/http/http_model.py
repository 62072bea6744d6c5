"""The common part of all providers over HTTP: send a request, read a stream of events, assemble the answer.

A vendor is a `Dialect`: it writes requests and reads events. Keys, limits, errors and prices are handled here and in
`channel`.
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
_OWN_WORDS = 2_000  # tokens that a vendor may add for tools and roles
_PICTURE_MOST = 5_000  # most tokens of one picture
REFUSED = "(The provider refused to answer this.)"
CUT_CALL = "cut off at the limit of {:,} tokens for one answer; do it in smaller pieces. It began: {}"


class TokenLimits(Struct, frozen=True):
    """Limits of a model."""

    context: int = 200_000  # tokens of request and answer together
    output: int = 8_192
    temperature: float | None = 0.0  # None: the model accepts none
    thinking: int | Literal["adaptive"] = 0  # tokens for reasoning, or "auto"; 0: the default of the model
    fixed_history: bool = False  # what was sent once must be sent unchanged


LimitsOf = Callable[[str], TokenLimits]
PriceOf = Callable[[str, Usage], Micros]
"""The price of a usage with this model. The `cost` of the usage is ignored."""


class AsksContext(Protocol):
    """The context size that a server states itself."""

    def known(self, model: str) -> int | None: ...
    async def of(self, model: str) -> int | None: ...


def generic_limits(model: str) -> TokenLimits:
    return TokenLimits()


def no_price(model: str, usage: Usage) -> Micros:
    return 0


class HttpAnswer(Struct, frozen=True):
    """A complete answer."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    stop: Stop
    session: str = ""  # state that the provider needs back


class AnswerReader(Protocol):
    """Reads one answer event by event. Raises Garbled for invalid data, Unavailable for errors of the provider."""

    def take(self, event: SseEvent) -> bool:
        """True if this was the last event."""
        ...

    def answer(self) -> HttpAnswer:
        """The answer. Raises Garbled if it is incomplete."""
        ...


class Dialect(Protocol):
    def path(self, model: str) -> str: ...
    def headers(self, key: str) -> Mapping[str, str]: ...

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        """The body: the same bytes for the same request. Raises Misconfigured if the request cannot fit."""
        ...

    def reading(self, model: str, sent: bytes, on_text: OnText, on_reasoning: OnText) -> AnswerReader:
        """`sent`: the body of the request."""
        ...


class HttpModel:
    """Implements the port `Model`. `model` is the default model."""

    def __init__(
        self,
        dialect: Dialect,
        channel: Channel,
        *,
        model: str = "",
        limits: LimitsOf = generic_limits,
        price: PriceOf = no_price,
        count: Count = estimated_tokens,
        context: AsksContext | None = None,
    ) -> None:
        self._context = context
        self._dialect = dialect
        self._channel = channel
        self._model = model
        self._limits = limits
        self._price = price
        self._count = count

    @property
    def name(self) -> str:
        return self._channel.endpoint.provider

    def fixes_history(self, model: str | None) -> bool:
        return self._limits(model or self._model).fixed_history

    def quote(self, request: ModelRequest) -> Micros:
        """A token has at least one byte, so there are at most as many tokens as bytes."""
        model = self._chosen(request)
        limits = self._limits_within(model, self._context.known(model) if self._context else None)
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
        limits = self._limits_within(model, await self._context.of(model) if self._context else None)
        body = self._dialect.body(request, model, limits, self._count)
        reading = self._dialect.reading(model, body, on_text, on_reasoning)
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

    def _limits_within(self, model: str, stated: int | None) -> TokenLimits:
        """The limits of a model whose server states its context size. Half of a small context is for the request."""
        limits = self._limits(model)
        context = stated or limits.context
        return replace(limits, context=context, output=min(limits.output, context // 2))

    def _chosen(self, request: ModelRequest) -> str:
        if model := request.model or self._model:
            return model
        raise Misconfigured(f"{self.name} needs a model: use --model, or set [provider] model")

    def _reply(self, answer: HttpAnswer, model: str, limits: TokenLimits) -> Reply:
        calls, stop = answer.calls, answer.stop
        if stop == "length":
            # The missing rest belongs to the last call, and possibly to earlier ones.
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
    """A call whose arguments came as text. Invalid JSON is reported to the model."""
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
        raise Garbled(f"an event has a wrong format: {error}") from None


def safe_name(name: str, most: int) -> str:
    """A name with the characters that vendors accept. Histories contain names from other providers and wrong names of
    models; two different names stay different.
    """
    plain = _ODD.sub("_", name)
    if plain == name and 0 < len(name) <= most:
        return name
    return f"{plain[: most - 9]}_{sha256(name.encode(errors='replace')).hexdigest()[:8]}"


def schema_of(spec: ToolSpec) -> dict[str, Any]:
    """Arguments as a JSON object; vendors require an object."""
    return {"type": "object", **spec.schema}


def clean(text: str) -> str:
    """The text without lone surrogates, which cannot be sent; a damaged file may contain some."""
    return text.encode(errors="replace").decode()


def _cut(call: ToolCall, most: int) -> ToolCall:
    began = call.unread or msgspec.json.encode(call.args).decode()
    return replace(call, args={}, unread=CUT_CALL.format(most, began))
