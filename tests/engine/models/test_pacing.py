"""Calls of a provider stay within its limits, and no call waits longer than necessary."""

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.messages.commands.call_commands import ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.call_events import CallReserved
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.calls import CallLimits, ModelCalls, Observers, Timing
from interlock.engine.models.pacing import MINUTE_S, per_minute
from interlock.engine.models.streams import Streams
from interlock.ports.front import Receipt
from interlock.ports.model import Message, Model, ModelRequest, OnText, Reply, ignore_text
from interlock.providers.scripted import ScriptedModel, ScriptedRule

REQUEST = ModelRequest("Tier 3", None, None, "", (Message("user", "go"),), ())


@given(st.integers(1, 200), st.lists(st.floats(0, 30), max_size=300))
def test_no_minute_has_more_calls_than_the_limit(calls: int, pauses: list[float]) -> None:
    pace, now, begun = per_minute(calls), 0.0, list[float]()
    for pause in pauses:
        now += pause
        begin, pace = pace.next(now)
        assert begin >= now
        begun.append(begin)
    for first, last in zip(begun, begun[calls:], strict=False):
        assert last - first >= MINUTE_S - 1e-6


@given(st.integers(1, 200))
def test_after_a_quiet_minute_no_call_waits_and_a_burst_may_begin_at_once(calls: int) -> None:
    pace = per_minute(calls)
    for now in (0.0, 60.0, 120.0):
        for _ in range(max(1, calls // 4)):
            begin, pace = pace.next(now)
            assert begin == pytest.approx(now)


class Slow:
    """A provider that answers when released, and counts its running calls."""

    def __init__(self, name: str, answer: asyncio.Event) -> None:
        self.name = name
        self._answer = answer
        self._model = ScriptedModel(msgspec.convert([{"match": "", "reply": "ok"}], list[ScriptedRule]))
        self.under_way = self.most = self.asked = 0

    def quote(self, request: ModelRequest) -> int | None:
        return self._model.quote(request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        self.asked += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self._answer.wait()
        self.under_way -= 1
        return await self._model.complete(request, on_text, on_reasoning)


async def _submit(command: Command) -> Receipt:
    if not isinstance(command, ReserveCall):
        return Receipt(1, ())
    reserved = CallReserved("C-1", command.party, command.tier, command.model, command.amount or 0)
    return Receipt(1, (Recorded(1, "", "", "", reserved),))


async def _settled() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_each_provider_has_its_own_places_also_when_another_is_chosen_in_between() -> None:
    async def story() -> None:
        answer = asyncio.Event()
        one, two = Slow("one", answer), Slow("two", answer)
        calls = ModelCalls(one, _submit, Observers(Streams()), Timing(lambda: 1.0), CallLimits(max_in_flight=2))
        asking = [asyncio.create_task(calls.ask(CallOwner(epic="E-1"), "a", REQUEST)) for _ in range(3)]
        await _settled()
        calls.use(two)
        asking += [asyncio.create_task(calls.ask(CallOwner(epic="E-1"), "b", REQUEST)) for _ in range(3)]
        await _settled()
        again: Model = Slow("one", answer)
        calls.use(again)
        asking.append(asyncio.create_task(calls.ask(CallOwner(epic="E-1"), "c", REQUEST)))
        await _settled()
        assert (one.under_way, two.under_way, again.under_way) == (2, 2, 0)
        answer.set()
        await asyncio.gather(*asking)
        assert (one.asked, one.most, two.asked, two.most, again.asked) == (3, 2, 3, 2, 1)

    asyncio.run(story())


def test_a_call_over_the_limit_waits_once_until_its_start_time() -> None:
    async def story() -> list[float]:
        waits, clock = list[float](), [0.0]

        async def wait(seconds: float) -> None:
            waits.append(seconds)
            clock[0] += seconds

        answer = asyncio.Event()
        answer.set()
        timing, limits = Timing(lambda: 1.0, wait, lambda: clock[0]), CallLimits(requests_per_minute=4)
        calls = ModelCalls(Slow("one", answer), _submit, Observers(Streams()), timing, limits)
        for _ in range(5):
            await calls.ask(CallOwner(epic="E-1"), "a", REQUEST)
        return waits

    assert asyncio.run(story()) == [15.0] * 4
