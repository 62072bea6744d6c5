"""The status of the user's own request, and the activity that listeners receive."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Caps
from interlock.domain.values.discussions import Quiet, Waiting
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.models.activity import Activity, Happening, RequestStart, ResponseReceived, ToolExecution
from interlock.providers.scripted import Price
from tests.engine.world import ANN, Process, World

STATUSES = {
    "idle",
    "sending...",
    "running shell...",
    "shell done, awaiting AI...",
    "fetching url...",
    "searching web...",
    "done",
    "error",
}
CHAT, PLANNER, WORKER = "Discussion", "Tier 1", "Tier 3"


def start(tier: str = CHAT, key: str = "D-1") -> RequestStart:
    return RequestStart(key, tier, "p", "m")


def response(tier: str = CHAT, key: str = "D-1", **more: Any) -> ResponseReceived:
    return ResponseReceived(key, tier, **more)


def tool(name: str, *, ended: bool = False, tier: str = CHAT) -> ToolExecution:
    return ToolExecution("D-1", tier, name, {}, ended=ended)


def statuses(*happenings: Happening) -> list[str]:
    activity = Activity()
    statuses = [activity.ai_status]
    for each in happenings:
        activity.publish(each)
        statuses.append(activity.ai_status)
    return statuses


@pytest.mark.parametrize(
    ("happenings", "expected"),
    [
        ((start(), response(text="Hi.")), ["idle", "sending...", "sending..."]),  # done when the turn is recorded
        ((start(), response(error="429")), ["idle", "sending...", "error"]),
        (
            (
                start(),
                response(calls=1),
                tool("run_shell"),
                tool("run_shell", ended=True),
                start(),
                response(text="Done."),
            ),
            [
                "idle",
                "sending...",
                "sending...",
                "running shell...",
                "shell done, awaiting AI...",
                "sending...",
                "sending...",
            ],
        ),
        ((start(), tool("fetch_url"), tool("fetch_url", ended=True)), ["idle", "sending...", *["fetching url..."] * 2]),
        ((start(), tool("web_search")), ["idle", "sending...", "searching web..."]),
        ((start(), tool("read_file"), tool("read_file", ended=True)), ["idle", *["sending..."] * 3]),
        ((start(PLANNER), response(PLANNER, text="[]")), ["idle", "sending...", "done"]),
        ((start(WORKER), tool("run_shell", tier=WORKER), response(WORKER, text="x")), ["idle"] * 4),
    ],
)
def test_the_status_follows_the_users_own_request(happenings: Sequence[Happening], expected: list[str]) -> None:
    assert statuses(*happenings) == expected


def test_the_latest_answer_is_the_one_to_the_user() -> None:
    activity = Activity()
    activity.publish(response(text="I look.", calls=1))
    activity.publish(response(text="It is blue."))
    activity.publish(response(WORKER, text="not this"))
    activity.publish(response(error="429"))
    assert (activity.ai_response, activity.ai_status) == ("It is blue.", "error")
    activity.reset()
    assert (activity.ai_response, activity.ai_status, activity.status("D-1")) == ("", "idle", "idle")


def test_each_request_has_its_own_status_beside_the_latest() -> None:
    activity = Activity()
    activity.publish(start(key="D-1"))
    activity.publish(start(key="D-2"))
    activity.publish(response(key="D-1", text="Hi."))
    activity.ended("D-1", stopped=False, error="")
    assert (activity.status("D-1"), activity.status("D-2"), activity.ai_status) == ("done", "sending...", "done")
    activity.withdrawn("D-2")
    assert (activity.status("D-2"), activity.ai_status) == ("idle", "idle")
    activity.withdrawn("never heard of")
    for number in range(1_000):
        activity.publish(start(key=f"D-{number}"))
    assert len(activity._statuses) <= 256


def test_every_listener_gets_every_activity_until_it_unsubscribes() -> None:
    activity = Activity()
    received: list[tuple[str, Happening]] = []
    end = activity.listen(lambda happening: received.append((activity.ai_status, happening)))
    activity.publish(start())
    activity.publish(start(WORKER))
    end()
    activity.publish(response())
    assert received == [("sending...", start()), ("sending...", start(WORKER))]


_ANY = st.one_of(
    st.builds(RequestStart, st.text(), st.sampled_from([CHAT, PLANNER, WORKER]), st.text(), st.text()),
    st.builds(ResponseReceived, st.text(), st.sampled_from([CHAT, WORKER]), st.text(), st.integers(0, 3), st.text()),
    st.builds(
        ToolExecution,
        st.text(),
        st.sampled_from([CHAT, WORKER]),
        st.sampled_from(["run_shell", "fetch_url", "web_search", "grep"]),
        st.just({}),
        st.booleans(),
    ),
)


@given(st.lists(_ANY, max_size=20))
def test_the_status_has_no_other_values(happenings: list[Happening]) -> None:
    assert set(statuses(*happenings)) <= STATUSES


# ── in the engine ────────────────────────────────────────────────────────────────────────


class Watched(World):
    """A world that records every status and every activity."""

    def __init__(self, *rules: dict[str, Any]) -> None:
        super().__init__()
        self.rules = list(rules)
        self.seen: list[str] = []
        self.activities: list[Happening] = []
        self.activity.listen(self._record)

    def _record(self, happening: Happening) -> None:
        self.seen.append(self.activity.ai_status)
        self.activities.append(happening)


def quiet(state: State) -> bool:
    return isinstance(state.discussions["D-1"].stage, Quiet)


async def begin(process: Process, text: str) -> None:
    await process.workbench.submit(ANN, StartDiscussion("a chat"))
    await process.say(text)


def test_a_chats_script_moves_the_status_through_the_shell() -> None:
    async def story() -> None:
        world = Watched(
            {"match": "Run", "tool_calls": [{"name": "run_shell", "args": {"script": "ls"}}]},
            {"match": "run_shell done", "reply": "It ran."},
        )
        async with world.process() as process:
            await begin(process, "Run it")
            await process.until(lambda s: isinstance(s.discussions["D-1"].stage, Waiting))
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            await process.until(quiet)
        assert world.seen == [
            "sending...",
            "sending...",
            "running shell...",
            "shell done, awaiting AI...",
            "sending...",
            "sending...",
        ]
        assert world.activity.ai_response == "It ran."
        ended = world.activities[3]
        assert isinstance(ended, ToolExecution)
        assert (ended.tool, ended.args, ended.by, ended.failed) == ("run_shell", {"script": "ls"}, "A-1", False)

    asyncio.run(story())


def test_activity_of_workers_is_published_and_does_not_change_the_status() -> None:
    async def story() -> None:
        world = Watched({"match": "", "reply": "done"})
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            await process.until_status("done")
        assert world.seen == ["idle", "idle"]
        assert [type(each).__name__ for each in world.activities] == ["RequestStart", "ResponseReceived"]

    asyncio.run(story())


def test_a_planner_and_a_call_that_fails_move_it() -> None:
    async def story() -> None:
        world = Watched({"match": "PATH", "reply": '[{"id": "a", "title": "A"}]'})
        async with world.process() as process:
            await process.workbench.submit(ANN, PlanEpic("make it good"))
            await process.until(lambda state: bool(state.pending))
        assert world.seen == ["sending...", "done"]
        broken = Watched({"match": "", "fault": "cut", "usage": {"input": 1}})
        async with broken.process() as process:
            await begin(process, "Hello")
            await process.until(quiet)
        assert broken.seen == ["sending...", "error"], "retries in between are one request"

    asyncio.run(story())


def test_a_turn_that_is_stopped_leaves_nothing_sending() -> None:
    async def story() -> None:
        world = Watched({"match": "", "reply": "late", "delay_s": 1000})
        async with world.process() as process:
            await begin(process, "Hello")
            await process.until(lambda _: world.activity.ai_status == "sending...")
            await process.workbench.submit(ANN, StopTurn("D-1"))
            await process.until(quiet)
        assert world.activity.ai_status == "idle"

    asyncio.run(story())


def test_a_call_over_its_budget_is_an_error() -> None:
    async def story() -> None:
        world = Watched({"match": "", "reply": "dear", "usage": {"input": 100}})
        world.price = Price(input=1)
        async with world.process(caps=Caps(tiers=(("Discussion", 25),))) as process:
            await begin(process, "Hello")
            await process.until(quiet)
        assert world.seen == ["sending...", "error"]

    asyncio.run(story())


def test_a_recorded_turn_is_done_failed_or_idle() -> None:
    activity = Activity()
    for stopped, error, status in ((False, "", "done"), (False, "429", "error"), (True, "stopped", "idle")):
        activity.publish(start())
        activity.ended("D-1", stopped=stopped, error=error)
        assert activity.ai_status == status
