"""A model call: limited in parallel, written to the log, and streamed."""

import asyncio
from typing import Any, cast

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.values.approvals import SpawnPayload
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.bench.workbench import Workbench
from interlock.engine.models.calls import CallLimits, ModelCalls, Observers, Timing
from interlock.engine.models.streams import KEYS, MOST, Streams
from interlock.ports.model import Model, ModelRequest, OnText, Reply, ignore_text
from interlock.providers.scripted import ScriptedModel
from tests.engine.world import ANN, World


class Counting:
    """A model that records the largest number of parallel calls."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.now = self.most = 0

    @property
    def name(self) -> str:
        return self._model.name

    def quote(self, request: ModelRequest) -> int | None:
        return self._model.quote(request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.001)
            return await self._model.complete(request, on_text, on_reasoning)
        finally:
            self.now -= 1


class Narrow(World):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, str, str, str]] = []
        self.counting: Counting | None = None
        self.tier_models: dict[str, str] = {}

    def calls(self, workbench: Workbench, model: Model) -> ModelCalls:
        self.counting = self.counting or Counting(model)

        def record(direction: str, kind: str, provider: str, model: str, payload: dict[str, Any]) -> None:
            self.log.append((direction, kind, provider, model))

        return ModelCalls(
            self.counting,
            lambda command: workbench.submit(SYSTEM, command),
            Observers(self.streams, log=record),
            Timing(lambda: 1.0),
            CallLimits(max_in_flight=2),
            self.tier_models,
        )


def test_parallel_calls_stay_within_the_limit_and_each_is_logged() -> None:
    async def story() -> None:
        world = Narrow()
        world.rules = [{"match": "", "reply": "done"}]
        async with world.process(approve_all=True, workers=6) as process:
            await process.run(*(TicketSpec(id=f"T-{n}") for n in range(6)))
            await process.until_status("done")
        assert world.counting is not None
        assert world.counting.most == 2
        kinds = [kind for _, kind, _, _ in world.log]
        assert (kinds.count("request"), kinds.count("response")) == (6, 6)
        assert {(d, p, m) for d, k, p, m in world.log if k == "request"} == {("OUT", "scripted", "scripted")}

    asyncio.run(story())


def test_each_tier_is_asked_with_its_own_model() -> None:
    async def story() -> None:
        world = Narrow()
        world.tier_models = {"Tier 3": "strong", "Tier 1": "wise"}
        world.rules = [{"match": "", "reply": "done"}]
        async with world.process() as process:
            await process.run(TicketSpec(id="one"), TicketSpec(id="two", model_override="mine"))
            await process.until(lambda state: len(state.pending) == 2)
            models = [a.payload.model for a in process.state.pending_approvals() if isinstance(a.payload, SpawnPayload)]
            assert sorted(models) == ["mine", "strong"], "shown before the worker starts"
            for approval in process.state.pending_approvals():
                await process.workbench.submit(ANN, AnswerApproval(approval.id, "approve"))
            await process.until_status("done")
        assert sorted(m for _, kind, _, m in world.log if kind == "request") == ["mine", "strong"]

    asyncio.run(story())


def test_a_call_that_failed_is_ended_before_the_next_is_reserved() -> None:
    async def story() -> None:
        world = World()
        world.rules = [{"match": "", "fault": 429, "times": 1}, {"match": "", "reply": "done"}]
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            await process.until_status("done")
        events = [r.event for r in world.journal.read() if isinstance(r.event, CallReserved | CallEnded)]
        assert [type(event).__name__ for event in events] == ["CallReserved", "CallEnded", "CallReserved"]

    asyncio.run(story())


class Leaving(Counting):
    """A model that keeps a resource at its provider."""

    closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_at_the_end_every_used_model_removes_its_resources() -> None:
    async def story() -> None:
        first, second = Leaving(ScriptedModel([])), Leaving(ScriptedModel([]))
        calls = ModelCalls(first, cast("Any", None), Observers(Streams()), Timing(lambda: 1.0))
        calls.use(ScriptedModel([]))
        calls.use(second)
        await calls.close()
        assert (first.closed, second.closed) == (1, 1)

    asyncio.run(story())


def test_streams_keep_the_end_of_long_texts_and_the_latest_keys() -> None:
    streams = Streams()
    received: list[tuple[str, str]] = []
    end = streams.listen(lambda key, piece: received.append((key, piece)))
    streams.add("a", "")
    for number in range(5_000):
        streams.add("a", f"{number % 10}" * 100)
    end()
    assert len(streams.text("a")) == MOST
    assert streams.text("a").endswith("9" * 100)
    assert len(received) == 5_000
    for number in range(KEYS):
        streams.add(f"k{number}", "x")
    assert streams.text("a") == ""
    assert len(streams.all()) == KEYS
    streams.clear()
    assert streams.all() == {}
