"""The built-in fake: answers by rules from a file, the same every time (SPEC P1b)."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from interlock.domain.budgets import Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.ports import Message, ModelRequest, Reply, ToolCall


class CallRule(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    args: dict[str, Any] = {}


class UsageRule(Struct, frozen=True, forbid_unknown_fields=True):
    input: int = 0
    output: int = 0


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """First come, first answered: `match` is a substring of the last message, or a /regex/."""

    match: str
    tier: str | None = None
    ticket: str | None = None
    reply: str = ""
    tool_calls: tuple[CallRule, ...] = ()
    delay_s: float = 0
    usage: UsageRule = UsageRule()
    fault: Literal[429, 500, "429", "500", "timeout", "garbage", "cut"] | None = None
    times: int | None = None


class ScriptedModel:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._left = [rule.times for rule in rules]
        self._calls = 0

    @property
    def name(self) -> str:
        return "scripted"

    async def complete(self, request: ModelRequest) -> Reply:
        last = request.messages[-1].text
        rule = self._take(request, last)
        await asyncio.sleep(rule.delay_s)  # the time a model would take
        if rule.fault is not None:
            raise Unavailable(f"the scripted model failed as told: {rule.fault}")
        calls: list[ToolCall] = []
        for call in rule.tool_calls:
            self._calls += 1
            calls.append(ToolCall(f"call-{self._calls}", call.name, call.args))
        message = Message("assistant", rule.reply, tuple(calls))
        return Reply(message, Usage(rule.usage.input, rule.usage.output), "scripted")

    def _take(self, request: ModelRequest, last: str) -> Rule:
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
        return ScriptedModel(msgspec.json.decode(path.read_bytes(), type=list[Rule]))
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise Misconfigured(f"{path}: {error}") from error


def _fits(rule: Rule, request: ModelRequest, last: str) -> bool:
    if rule.tier is not None and rule.tier != request.tier:
        return False
    if rule.ticket is not None and rule.ticket != request.ticket:
        return False
    if len(rule.match) > 1 and rule.match.startswith("/") and rule.match.endswith("/"):
        try:
            return re.search(rule.match[1:-1], last) is not None
        except re.error as error:
            raise Misconfigured(f"the rule {rule.match!r} is no regular expression: {error}") from error
    return rule.match in last
