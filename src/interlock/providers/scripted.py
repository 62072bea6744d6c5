"""The scripted model: deterministic answers by rules from a file."""

import asyncio
import re
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, ModelRequest, OnText, Reply, ToolCall, ignore_text


class CallRule(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    args: Any = {}  # any value, so that mistakes of a model can be simulated


class UsageRule(Struct, frozen=True, forbid_unknown_fields=True):
    input: int = 0
    output: int = 0


class ScriptedRule(Struct, frozen=True, forbid_unknown_fields=True):
    """The first matching rule answers. `match` is a substring of the last message, or a /regex/."""

    match: str
    tier: str | None = None
    ticket: str | None = None
    model: str | None = None
    reply: str = ""
    tool_calls: tuple[CallRule, ...] = ()
    delay_s: float = 0
    usage: UsageRule = UsageRule()
    fault: Literal[429, 500, "429", "500", "timeout", "garbage", "cut"] | None = None
    times: int | None = None


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens; 0 unless the script sets a price."""

    input: float = 0
    output: float = 0

    def of(self, usage: UsageRule) -> Micros:
        return ceil(usage.input * self.input + usage.output * self.output)


FREE = Price()


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules with a price, to test budgets. A plain list of rules is a script too."""

    rules: list[ScriptedRule]
    price: Price = Price()


_FAULTS: dict[str, tuple[str, bool]] = {
    "429": ("429: too many requests", False),
    "500": ("500: the server failed", False),
    "timeout": ("no answer in time", True),
    "garbage": ("its answer cannot be read", True),
    "cut": ("its answer broke off in the middle", True),
}
"""The message of each fault, and whether tokens may have been used before it."""

_PIECES = 8  # pieces of a streamed answer


class ScriptedModel:
    def __init__(self, rules: Sequence[ScriptedRule], price: Price = FREE) -> None:
        self._rules = tuple(rules)
        self._price = price
        self._left = [rule.times for rule in rules]
        self._calls = 0

    @property
    def name(self) -> str:
        return "scripted"

    def quote(self, request: ModelRequest) -> Micros:
        """The price of the most expensive rule that could answer."""
        last = request.messages[-1].text
        return max((self._price.of(rule.usage) for rule in self._rules if _fits(rule, request, last)), default=0)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        last = request.messages[-1].text
        rule = self._take(request, last)
        await self._stream_text(rule, on_text)
        if rule.fault is not None:
            message, may_cost = _FAULTS[str(rule.fault)]
            raise Unavailable(f"the scripted model failed by rule: {message}", may_cost=may_cost)
        calls: list[ToolCall] = []
        for call in rule.tool_calls:
            self._calls += 1
            calls.append(_call(f"call-{self._calls}", call))
        message = Message("assistant", rule.reply, tuple(calls))
        usage = Usage(rule.usage.input, rule.usage.output, cost=self._price.of(rule.usage))
        return Reply(message, usage, request.model or "scripted", "tools" if calls else "end")

    async def _stream_text(self, rule: ScriptedRule, on_text: OnText) -> None:
        """Streams the answer in pieces over its delay. A cut answer ends in the middle."""
        size = max(1, -(-len(rule.reply) // _PIECES))
        pieces = [rule.reply[start : start + size] for start in range(0, len(rule.reply), size)] or [""]
        if rule.fault is not None:
            pieces = pieces[: len(pieces) // 2] if rule.fault in ("cut", "garbage") else []
        for piece in pieces:
            await asyncio.sleep(rule.delay_s / len(pieces))
            on_text(piece)
        if not pieces:
            await asyncio.sleep(rule.delay_s)

    def _take(self, request: ModelRequest, last: str) -> ScriptedRule:
        for number, rule in enumerate(self._rules):
            left = self._left[number]
            if left == 0 or not _fits(rule, request, last):
                continue
            if left is not None:
                self._left[number] = left - 1
            return rule
        raise Misconfigured(f"no rule of the script answers this message: {last[:300]!r}")


def load_script(path: Path) -> ScriptedModel:
    try:
        script = msgspec.json.decode(path.read_bytes(), type=list[ScriptedRule] | Script)
        return ScriptedModel(script.rules, script.price) if isinstance(script, Script) else ScriptedModel(script)
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise Misconfigured(f"{path}: {error}") from error


def _call(name: str, rule: CallRule) -> ToolCall:
    if isinstance(rule.args, dict):
        return ToolCall(name, rule.name, cast("dict[str, Any]", rule.args))
    return ToolCall(name, rule.name, {}, msgspec.json.encode(rule.args).decode())


def _fits(rule: ScriptedRule, request: ModelRequest, last: str) -> bool:
    if rule.tier is not None and rule.tier != request.tier:
        return False
    if rule.ticket is not None and rule.ticket != request.ticket:
        return False
    if rule.model is not None and rule.model != (request.model or "scripted"):
        return False
    if len(rule.match) > 1 and rule.match.startswith("/") and rule.match.endswith("/"):
        try:
            return re.search(rule.match[1:-1], last) is not None
        except re.error as error:
            raise Misconfigured(f"the rule {rule.match!r} is not a regular expression: {error}") from error
    return rule.match in last
