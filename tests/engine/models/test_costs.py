"""What every call costs is recorded: of a broken, an empty and a cut answer, too; and how long retries wait."""

import asyncio

import pytest

from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import SYSTEM, Recorded
from interlock.domain.messages.events.call_events import CallReserved
from interlock.domain.values.budgets import Usage
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.calls import LONGEST_S, RETRIES, CallLimits, ModelCalls, Observers, Timing
from interlock.engine.models.streams import Streams
from interlock.errors import NothingSaid, OutOfTime, Unavailable
from interlock.ports.front import Receipt
from interlock.ports.model import Message, ModelRequest, OnText, Reply, Stop, ignore_text
from tests.domain.given import AT

COST = Usage(10, 5, cost=70)
OWNER = CallOwner(discussion="D-1")
REQUEST = ModelRequest("Discussion", None, None, "", (Message("user", "hello"),), ())


def reply(text: str, stop: Stop = "end") -> Reply:
    return Reply(Message("assistant", text), COST, "m", stop)


class Vendor:
    """A model that gives these answers or errors, in this order."""

    name = "vendor"

    def __init__(self, *answers: Reply | Exception) -> None:
        self._answers = list(answers)
        self.now = self.most = 0

    def quote(self, request: ModelRequest) -> int | None:
        return 100

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Called:
    """Calls of a vendor; keeps what is recorded about them, and how long retries wait."""

    def __init__(self, *answers: Reply | Exception) -> None:
        self.vendor = Vendor(*answers)
        self.commands: list[Command] = []
        self.waits: list[float] = []
        timing = Timing(lambda: 1.0, self._wait, lambda: 0.0)
        self.calls = ModelCalls(self.vendor, self._submit, Observers(Streams()), timing, CallLimits(max_in_flight=1))

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def _submit(self, command: Command) -> Receipt:
        self.commands.append(command)
        if not isinstance(command, ReserveCall):
            return Receipt(1, ())
        name = f"C-{len(self.commands)}"
        event = CallReserved(name, command.party, command.tier, command.model, command.amount or 0)
        return Receipt(1, (Recorded(1, AT, SYSTEM, "c", event),))

    def ask(self) -> str:
        return asyncio.run(self.calls.ask(OWNER, "key", REQUEST)).reply.message.text

    @property
    def ended(self) -> list[Usage | None]:
        return [command.usage for command in self.commands if isinstance(command, EndCall)]

    @property
    def reserved(self) -> list[int | None]:
        return [command.amount for command in self.commands if isinstance(command, ReserveCall)]


def test_a_broken_off_answer_keeps_its_reservation_and_a_refused_call_costs_nothing() -> None:
    called = Called(Unavailable("broken", may_cost=True), Unavailable("refused"), reply("hi"))
    assert called.ask() == "hi"
    assert called.ended == [None, Usage()]
    assert called.reserved == [100, 100, 100]


def test_an_empty_answer_costs_what_it_cost_and_is_asked_for_again() -> None:
    called = Called(reply(" "), reply("hi"))
    assert called.ask() == "hi"
    assert called.ended == [COST]


def test_an_answer_of_thoughts_only_costs_and_is_not_asked_for_again() -> None:
    called = Called(reply("", "length"), reply("never asked"))
    with pytest.raises(NothingSaid):
        called.ask()
    assert (called.ended, called.waits) == ([COST], [])


def test_a_call_that_used_its_whole_time_limit_may_cost_and_is_not_made_again() -> None:
    called = Called(OutOfTime("no answer within 600 s", may_cost=True), reply("never asked"))
    with pytest.raises(OutOfTime):
        called.ask()
    assert (called.ended, called.waits) == ([None], [])


def test_the_pieces_of_a_cut_answer_are_joined_and_each_costs() -> None:
    called = Called(reply("one, ", "length"), reply("two, ", "length"), reply("three"))
    assert called.ask() == "one, two, three"
    assert called.ended == [COST, COST]


def test_a_consultation_is_settled_at_once() -> None:
    called = Called(reply("hi"))
    asyncio.run(called.calls.consult(OWNER, "key", REQUEST))
    assert called.ended == [COST]


def test_the_vendor_says_how_long_to_wait_and_otherwise_pauses_grow_up_to_a_limit() -> None:
    called = Called(Unavailable("busy", 33.0), *[Unavailable("busy")] * RETRIES)
    with pytest.raises(Unavailable, match=f"tried {RETRIES + 1} times"):
        called.ask()
    assert called.waits == [33.0, 1.0, 2.0, 4.0, 8.0]
    assert max(called.waits[1:]) == LONGEST_S


def test_calls_of_one_vendor_share_its_limit() -> None:
    called = Called(*[reply("hi")] * 3)

    async def together() -> None:
        await asyncio.gather(*(called.calls.ask(OWNER, "key", REQUEST) for _ in range(3)))

    asyncio.run(together())
    assert called.vendor.most == 1
