"""A discussion: its own history, its own approvals, and changes that a crash never repeats silently."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered, ScriptPayload, UnknownPayload
from interlock.domain.values.budgets import Caps, Usage
from interlock.domain.values.discussions import Quiet, Waiting
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.chat import ROUNDS, say_command
from interlock.engine.agents.conversation import UNKNOWN
from interlock.engine.blobs import KeptTexts
from interlock.errors import JournalError, Rejected
from interlock.ports.model import Message
from interlock.providers.scripted import Price
from tests.engine.world import ANN, Process, Rules, Stricter, World

LOOK = {"match": "What", "tool_calls": [{"name": "look", "args": {}}], "usage": {"input": 10}}
TELL = {"match": "look done", "reply": "It is blue.", "usage": {"input": 20, "output": 5}}
CHANGE = {"match": "Change", "tool_calls": [{"name": "change", "args": {"to": "red"}}], "usage": {"input": 1}}
CHANGED = {"match": "change done", "reply": "Now it is red."}
LOST = {"match": "unknown whether", "reply": "I shall look."}
NO = {"match": "REJECTED", "reply": "As you wish."}
RULES: list[dict[str, Any]] = [LOOK, TELL, CHANGE, CHANGED, LOST, NO]


def make_world(*rules: dict[str, Any]) -> World:
    world = World()
    world.rules = list(rules or RULES)
    return world


async def begin(process: Process, text: str) -> None:
    await process.workbench.submit(ANN, StartDiscussion("a chat"))
    await process.say(text)


def quiet(state: State) -> bool:
    return isinstance(state.discussions["D-1"].stage, Quiet)


def messages_of(world: World, state: State, name: str = "D-1") -> list[Message]:
    messages = state.discussions[name].messages
    return [msgspec.json.decode(world.journal.get_blob(blob.sha256), type=Message) for blob in messages]


def test_a_turn_reads_freely_answers_and_remembers() -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await begin(process, "What colour is it?")
            state = await process.until(quiet)
            assert [m.text for m in messages_of(world, state) if m.role == "assistant"] == ["", "It is blue."]
            assert dict(state.usage) == {"Discussion": Usage(30, 5)}
            assert world.streams.text("Discussion: D-1") == "It is blue."
            assert "about the project" in world.requests[0].system_text
            await process.say("What else?")
            await process.until(quiet)
        assert [m.role for m in world.requests[2].messages] == ["user", "assistant", "tool", "assistant", "user"]
        assert world.workspaces.branch == [], "no worktree, no branch: it is about the user's own files"

    asyncio.run(story())


@pytest.mark.parametrize("base_dir", ["/", "/etc", "/project/..", "/project-x", "relative"])
def test_a_turn_about_a_folder_outside_the_project_ends_without_a_call(base_dir: str) -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await process.workbench.submit(ANN, StartDiscussion("a chat"))
            texts = KeptTexts(process.workbench.keep, world.journal.get_blob)
            discussion = process.state.discussion("D-1")
            await process.workbench.submit(ANN, await say_command(texts, discussion, "Change it", "", base_dir))
            state = await process.until(quiet)
            stage = state.discussions["D-1"].stage
            assert isinstance(stage, Quiet)
            assert "not a folder of this project" in stage.error
        assert (world.requests, world.tools.ran) == ([], [])

    asyncio.run(story())


def test_no_change_is_made_if_the_project_does_not_count_any_more() -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await begin(process, "Change it")
            await process.until(lambda s: isinstance(s.discussions["D-1"].stage, Waiting))
            world.counts = False
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            state = await process.until(quiet)
            stage = state.discussions["D-1"].stage
            assert isinstance(stage, Quiet)
            assert stage.error == "the project does not count any more"
        assert world.tools.ran == []

    asyncio.run(story())


@pytest.mark.parametrize(("decision", "last"), [("approve", "Now it is red."), ("reject", "As you wish.")])
def test_a_change_asks_and_the_answer_goes_back_to_the_model(decision: Any, last: str) -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await begin(process, "Change it")
            state = await process.until(lambda s: isinstance(s.discussions["D-1"].stage, Waiting))
            assert world.tools.ran == []
            await process.workbench.submit(ANN, AnswerApproval("A-1", decision))
            state = await process.until(quiet)
            assert messages_of(world, state)[-1].text == last
        assert len(world.tools.ran) == (decision == "approve")

    asyncio.run(story())


def test_an_endless_turn_is_ended_and_one_over_budget_too() -> None:
    async def story() -> None:
        world = make_world({"match": "", "tool_calls": [{"name": "look", "args": {}}]})
        async with world.process() as process:
            await begin(process, "What?")
            state = await process.until(quiet)
            assert state.discussions["D-1"].stage == Quiet(f"the limit of {ROUNDS} tool rounds was reached")
        assert len(world.requests) == ROUNDS + 1
        world = make_world()
        world.price = Price(input=1)
        async with world.process(caps=Caps(tiers=(("Discussion", 25),))) as process:
            await begin(process, "What?")
            state = await process.until(quiet)
            stage = state.discussions["D-1"].stage
            assert isinstance(stage, Quiet)
            assert stage.error.startswith("over budget: tier 'Discussion' may spend $0.000025")

    asyncio.run(story())


def test_a_turn_can_be_stopped_while_the_model_thinks() -> None:
    async def story() -> None:
        world = make_world({"match": "", "reply": "later", "delay_s": 600})
        async with world.process() as process:
            await begin(process, "What?")
            await process.until(lambda s: bool(s.calls))
            await process.workbench.submit(ANN, StopTurn("D-1"))
            assert (quiet(process.state), len(process.state.calls)) == (True, 0)

    asyncio.run(story())


def test_without_a_model_the_turn_says_so() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await begin(process, "What?")
            state = await process.until(quiet)
            stage = state.discussions["D-1"].stage
            assert isinstance(stage, Quiet)
            assert stage.error.startswith("no model is configured to talk with")
            with pytest.raises(Rejected, match="the message is empty"):
                await process.say(" ")

    asyncio.run(story())


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=5, max_size=5), st.randoms(use_true_random=False))
def test_a_chat_and_four_workers_at_once_all_advance_and_never_see_one_another(rounds: list[int], random: Any) -> None:
    """Every text of a session has its tag; no request and no stream holds the tag of another session."""
    names = ["w0", "w1", "w2", "w3", "chat"]
    rules: list[dict[str, Any]] = []
    for name, count in zip(names, rounds, strict=True):
        start = f"TAG-{name}-begin"
        for number in range(count):
            match = start if number == 0 else f"TAG-{name}-{number}-"
            call = {"name": "look", "args": {"note": f"TAG-{name}-{number + 1}-"}}
            rules.append({"match": match, "tool_calls": [call], "delay_s": random.choice([0, 0.001, 0.003])})
        rules.append({"match": f"TAG-{name}-{count}-", "reply": f"TAG-{name}-done"})

    async def story() -> None:
        world = make_world(*rules)
        tickets = [TicketSpec(id=name, description=f"TAG-{name}-begin") for name in names[:4]]
        async with world.process(approve_all=True, workers=4) as process:
            await begin(process, "TAG-chat-begin")
            await process.run(*tickets)
            state = await process.until(
                lambda s: quiet(s) and "a" in s.tracks and s.tracks["a"].status in ("done", "blocked")
            )
            assert state.tracks["a"].status == "done"
            assert [state.ticket("a", name).result for name in names[:4]] == [f"TAG-{name}-done" for name in names[:4]]
            chat = messages_of(world, state)
            assert [m.role for m in chat] == ["user", *["assistant", "tool"] * rounds[4], "assistant"]
            assert chat[-1].text == "TAG-chat-done"
        for request in world.requests:
            whole = msgspec.json.encode(request).decode()
            assert len([name for name in names if f"TAG-{name}-" in whole]) == 1
        for key, text in world.streams.all().items():
            assert text == f"TAG-{'chat' if key.startswith('Discussion') else key[-2:]}-done"

    asyncio.run(story())


# ── a crash at every event ───────────────────────────────────────────────────────────────


async def live(world: World) -> None:
    async with world.process() as process:
        if "D-1" not in process.state.discussions:
            await process.workbench.submit(ANN, StartDiscussion("a chat"))
        discussion = process.state.discussion("D-1")
        if discussion.turns == 0:
            await process.say("Change it")
        while True:
            state = await process.until(lambda s: bool(s.pending) or (quiet(s) and s.discussions["D-1"].turns == 1))
            if not state.pending:
                return
            for approval in state.pending_approvals():
                unknown = isinstance(approval.payload, UnknownPayload)
                await process.workbench.submit(ANN, AnswerApproval(approval.id, "skip" if unknown else "approve"))


def length() -> int:
    world = make_world()
    asyncio.run(live(world))
    return world.journal.head().version


@pytest.mark.parametrize("after_writing", [False, True], ids=["before-the-commit", "after-the-commit"])
@pytest.mark.parametrize("at", range(1, length() + 1))
def test_a_crash_while_chatting_loses_nothing_and_changes_nothing_twice(at: int, *, after_writing: bool) -> None:
    async def lives() -> tuple[World, State]:
        world = make_world()
        world.journal.at, world.journal.after_writing = at, after_writing
        try:
            await live(world)
        except JournalError:
            world.journal.at = None
            await live(world)
        async with world.process() as process:
            return world, process.state

    world, state = asyncio.run(lives())
    assert len(world.tools.ran) <= 1, "a change is never silently made again"
    questions = [a for a in state.approvals.values() if a.kind == "tool"]
    assert len(questions) == 1
    assert all(isinstance(a.state, Answered) for a in state.approvals.values())
    last = [m for m in messages_of(world, state) if m.role == "tool"][-1].text
    known = last.startswith("change done")
    assert known or last == UNKNOWN
    assert len(world.tools.ran) == 1 or not known


RUN = {"match": "Run it", "tool_calls": [{"name": "run_shell", "args": {"script": "make"}}]}
RAN = {"match": "run_shell done", "reply": "It ran."}


def test_a_script_that_a_rule_allows_is_recorded_runs_and_the_turn_goes_on() -> None:
    async def story() -> None:
        world = make_world(RUN, RAN)
        world.call_policy = Rules(("GIT_PAGER", "cat"))
        async with world.process() as process:
            await begin(process, "Run it")
            state = await process.until(quiet)
            assert messages_of(world, state)[-1].text == "It ran."
            answered = state.approvals["A-1"].state
            assert isinstance(answered, Answered)
            assert (answered.by, answered.decision) == ("policy:make-is-fine", "approve")
            payload = state.approvals["A-1"].payload
            assert isinstance(payload, ScriptPayload)
            assert "GIT_PAGER" in payload.env_names
        assert ([call[0] for call in world.tools.ran], world.tools.envs) == (["run_shell"], [(("GIT_PAGER", "cat"),)])

    asyncio.run(story())


@pytest.mark.parametrize("verdict", ["ask", "deny"])
def test_a_script_that_a_rule_no_longer_allows_does_not_run(verdict: Any) -> None:
    async def story() -> None:
        world = make_world(RUN, RAN, {"match": "DENIED", "reply": "It may not."})
        world.call_policy = Stricter(1, verdict)
        async with world.process() as process:
            await begin(process, "Run it")
            state = await process.until(lambda s: quiet(s) or bool(s.pending))
            assert bool(state.pending) == (verdict == "ask")
            if verdict == "ask":
                asked = state.pending_approvals()[0]
                assert asked.why.startswith("a rule allowed it before, but: ")
        assert world.tools.ran == []

    asyncio.run(story())
