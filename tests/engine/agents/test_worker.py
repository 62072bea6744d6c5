"""A worker: one model, its tools, one ticket; nothing changes before its approval, and nothing is asked twice."""

import asyncio
from typing import Any

import pytest

from interlock.domain.checks.test_tampering import ChangedFile
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.ticket_commands import KillWorker, RetryTicket
from interlock.domain.messages.commands.track_commands import StartTrack
from interlock.domain.messages.events.attempt_events import ToolFinished, TurnFinished
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Again, Change, GatePayload, ScriptPayload, SpawnPayload, ToolPayload
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.worker import Options
from interlock.errors import BadValue
from tests.engine.world import ANN, Process, World

TICKET = TicketSpec(
    id="one", description="Make it blue", target_file="a.py", verify=(Gate("make check", max_attempts=3),)
)
START = {"match": "# Ticket one", "tool_calls": [{"name": "look", "args": {"path": "a.py"}}], "usage": {"input": 10}}
CHANGE = {"match": "look done", "tool_calls": [{"name": "change", "args": {"to": "blue"}}], "usage": {"input": 20}}
DONE = {"match": "change done", "reply": "It is blue now.", "usage": {"output": 5}}
FIX = {"match": "Verification FAILED", "tool_calls": [{"name": "change", "args": {"to": "bluer"}}]}
RULES: list[dict[str, Any]] = [START, CHANGE, DONE, FIX]


def make_world(*rules: dict[str, Any]) -> World:
    world = World()
    world.rules = list(rules or RULES)
    return world


async def answer(process: Process, number: int, decision: str = "approve", **more: Any) -> None:
    await process.until(lambda state: f"A-{number}" in state.approvals)
    await process.workbench.submit(ANN, AnswerApproval(f"A-{number}", decision, **more))  # pyright: ignore[reportArgumentType]


def last_texts(world: World) -> list[str]:
    return [request.messages[-1].text for request in world.requests]


def test_a_worker_asks_to_start_reads_freely_asks_to_change_and_submits_its_work() -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await process.run(TICKET)
            await process.until(lambda state: bool(state.pending))
            assert world.requests == []
            payload = process.state.approvals["A-1"].payload
            assert isinstance(payload, SpawnPayload)
            assert "Make it blue" in payload.prompt
            assert "- make check" in payload.prompt
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
            assert world.tools.ran == [("look", {"path": "a.py"}, None)]
            payload = process.state.approvals["A-2"].payload
            assert isinstance(payload, ToolPayload)
            assert (payload.tool, payload.arguments, payload.hunks) == ("change", '{"to": "blue"}', 2)
            assert "@@ -1 +1 @@" in payload.diff
            await answer(process, 2)
            state = await process.until_status("done")
            assert state.ticket("a", "one").result == "It is blue now."
            assert dict(state.usage) == {"Tier 3": Usage(30, 5)}
        assert world.tools.ran[1:] == [("change", {"to": "blue"}, None)]
        assert [event.by for event in events(world, ToolFinished)] == ["policy:reading", "A-2"]

    asyncio.run(story())


def events(world: World, kind: type[Any]) -> list[Any]:
    return [recorded.event for recorded in world.journal.read() if isinstance(recorded.event, kind)]


def test_a_request_holds_only_this_tickets_conversation() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "# Ticket one", "reply": "SECRET-ONE"},
            {"match": "# Ticket two", "reply": "SECRET-TWO"},
        )
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"), TicketSpec(id="two"))
            await process.until_status("done")
        for request in world.requests:
            everything = request.system + "".join(message.text for message in request.messages)
            other = "two" if request.ticket == "one" else "one"
            assert f"# Ticket {other}" not in everything
            assert "SECRET" not in everything

    asyncio.run(story())


def test_a_worker_is_shown_its_files_the_instructions_and_nothing_else() -> None:
    async def story() -> None:
        world = make_world({"match": "# Ticket one", "reply": "ok"})
        world.workspaces.files = {
            "AGENTS.md": b"Be kind.",
            "CLAUDE.md": b"not this one too",
            "target.py": b"the target",
            "first.py": b"the first",
            "second.py": b"the ``` second",
            "other.py": b"OTHER",
            ".env": b"SECRET",
        }
        needs = ("first.py", "second.py", "gone.py", ".env")
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one", target_file="target.py", context_requirements=needs))
            await process.until_status("done")
        text = world.requests[0].messages[0].text
        for part in ("Be kind.", "\nthe target\n", "\nthe first\n", "\n````\nskeleton of the ``` second\n````"):
            assert part in text
        assert "## gone.py\n\n(does not exist yet)" in text
        assert "## .env\n\n(not shown: it may hold secrets)" in text
        assert not any(part in text for part in ("OTHER", "SECRET", "not this one too"))

    asyncio.run(story())


def test_a_failed_gate_goes_back_to_the_same_worker_with_the_failure() -> None:
    async def story() -> None:
        world = make_world()
        world.gates.failures["make check"] = 1
        async with world.process(approve_all=True) as process:
            await process.run(TICKET)
            state = await process.until_status("done")
            assert state.ticket("a", "one").attempts == 1
        failures = [text for text in last_texts(world) if "Verification FAILED" in text]
        assert len(failures) == 1
        assert failures[0].startswith("## Shell Verification FAILED (Attempt 1/3)")
        assert [call[1] for call in world.tools.ran if call[0] == "change"] == [{"to": "blue"}, {"to": "bluer"}]
        assert len(world.gates.runs) == 2

    asyncio.run(story())


def test_from_the_fourth_attempt_at_a_gate_a_fresh_session_gets_a_brief() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "# Ticket one", "reply": "done", "times": 1},
            {"match": "Attempt 3/6", "reply": "done anew"},
            {"match": "Verification FAILED", "reply": "done again"},
        )
        world.gates.failures["make check"] = 4
        async with world.process(approve_all=True, gates=GateDefaults(stuck_after=0)) as process:
            await process.run(TicketSpec(id="one", description="Be blue", verify=(Gate("make check", max_attempts=6),)))
            state = await process.until_status("done")
            assert (state.ticket("a", "one").attempts, state.ticket("a", "one").result) == (1, "done again")
        assert [len(request.messages) for request in world.requests] == [1, 3, 5, 1, 1]
        brief = world.requests[3].messages[0].text
        assert brief.startswith("# Ticket one\n\nBe blue\n\n## The story so far")
        assert "- Attempt 1: exit code 1: no\n- Attempt 2: exit code 1: no\n- Attempt 3: exit code 1: no\n" in brief
        assert "\n a.py | 2 +- of one@1 on tip0\n" in brief
        assert "## Shell Verification FAILED (Attempt 3/6)" in brief
        assert "- Attempt 4: exit code 1: no\n" in world.requests[4].messages[0].text

    asyncio.run(story())


def test_a_gate_that_never_passes_escalates_after_its_attempts() -> None:
    async def story() -> None:
        world = make_world()
        world.gates.failures["make check"] = 99
        async with world.process() as process:
            await process.run(TICKET)
            while True:
                state = await process.until(lambda s: bool(s.pending))
                waiting = state.pending_approvals()[0]
                if waiting.kind == "gate":
                    break
                await process.workbench.submit(ANN, AnswerApproval(waiting.id, "approve"))
            assert waiting.why == "the gate failed 3 of 3 times"
        assert len(world.gates.runs) == 3

    asyncio.run(story())


def test_a_rejected_call_goes_back_to_the_worker_and_did_not_run() -> None:
    async def story() -> None:
        world = make_world(START, CHANGE, {"match": "REJECTED", "reply": "BLOCKED: I may not change it"})
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await answer(process, 2, "reject", message="not in this file")
            state = await process.until_status("blocked")
            assert state.ticket("a", "one").blocked_reason == "I may not change it"
        assert last_texts(world)[-1] == "REJECTED by the human: not in this file. It did not run."
        rejected = [event for event in events(world, ToolFinished) if event.refused]
        assert [(event.tool, event.by, event.refused) for event in rejected] == [("change", "A-2", "rejected")]
        assert [call[0] for call in world.tools.ran] == ["look"]

    asyncio.run(story())


def test_edits_and_chosen_hunks_are_run_and_reported_to_the_model() -> None:
    async def story() -> None:
        world = make_world()
        world.gates.failures["make check"] = 1
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1, edited="# Ticket one\nMake it green instead")
            await answer(process, 2, hunks=(2,))
            await answer(process, 3, edited='{"to": "green"}')
            await process.until_status("done")
        assert world.requests[0].messages[0].text.startswith("# Ticket one\nMake it green instead")
        changes = [call for call in world.tools.ran if call[0] == "change"]
        assert changes == [("change", {"to": "blue"}, (2,)), ("change", {"to": "green"}, None)]
        texts = "\n".join(last_texts(world))
        assert "The human allowed only hunks 2." in texts
        assert 'The human changed the arguments to:\n{"to": "green"}' in texts

    asyncio.run(story())


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"edited_context": "Only this."}, "ORIGINAL\n\nOnly this.\n\n[A person changed the context above before you"),
        ({"edited_context": ""}, "ORIGINAL\n\n[A person changed the context above before you"),
        (
            {"edited": "Be green.", "edited_context": "Only this."},
            "Be green.\n\nOnly this.\n\n[A person changed the prompt and the context above before you",
        ),
    ],
)
def test_an_edited_prompt_and_context_are_exactly_what_the_worker_gets(edits: dict[str, str], message: str) -> None:
    async def story() -> None:
        world = make_world({"match": "", "reply": "never", "delay_s": 60})
        world.workspaces.files = {"a.py": b"x = 1\n" * 2_000}
        async with world.process() as process:
            await process.run(TicketSpec(id="one", target_file="a.py"))
            state = await process.until(lambda s: "A-1" in s.approvals)
            payload = state.approvals["A-1"].payload
            assert isinstance(payload, SpawnPayload)
            assert payload.context_blob is not None
            await answer(process, 1, **edits)
            await process.until(lambda state: bool(state.calls))
        world.rules = [{"match": "", "reply": "done"}]
        async with world.process() as process:
            state = await process.until_status("done")
            assert (len(state.approvals), state.ticket("a", "one").attempts) == (1, 2)
        expected = message.replace("ORIGINAL", payload.prompt) + " began.]"
        assert [request.messages[0].text for request in world.requests] == [expected] * 2

    asyncio.run(story())


@pytest.mark.parametrize("edited", ["no json", "[1]"])
def test_an_edit_that_is_no_arguments_is_refused_at_once_and_the_question_stays(edited: str) -> None:
    async def story() -> None:
        world = make_world(START, CHANGE, {"match": "REJECTED", "reply": "BLOCKED"})
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
            with pytest.raises(BadValue, match="the edited arguments must be a JSON object"):
                await process.workbench.submit(ANN, AnswerApproval("A-2", "approve", edited=edited))
            await answer(process, 2, "reject")
            await process.until_status("blocked")
        assert [call[0] for call in world.tools.ran] == ["look"]

    asyncio.run(story())


def test_a_call_whose_effect_changed_meanwhile_is_asked_about_again() -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
            world.tools.hunks = 3
            await answer(process, 2)
            state = await process.until(lambda s: "A-3" in s.approvals)
            asked = state.approvals["A-3"]
            assert asked.why == "what it would do has changed since A-2 was answered"
            assert asked.again
            assert [change.field for change in asked.again.changes] == ["hunks", "change"]
            assert [call[0] for call in world.tools.ran] == ["look"]

    asyncio.run(story())


@pytest.mark.parametrize("second", [None, '{"to": "red"}'])
def test_an_edit_of_a_call_stays_when_its_effect_changed_before_it_ran(second: str | None) -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
            world.tools.hunks = 3
            await answer(process, 2, edited='{"to": "green"}')
            state = await process.until(lambda s: "A-3" in s.approvals)
            payload = state.approvals["A-3"].payload
            assert isinstance(payload, ToolPayload)
            assert (payload.arguments, payload.hunks) == ('{"to": "green"}', 3)
            await answer(process, 3, edited=second)
            await process.until_status("done")
        changes = [call for call in world.tools.ran if call[0] == "change"]
        assert changes == [("change", {"to": "red" if second else "green"}, None)]
        assert "The human changed the arguments to:" in "\n".join(last_texts(world))

    asyncio.run(story())


def test_an_edited_script_of_a_worker_stays_when_the_environment_changed_before_it_ran() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "# Ticket one", "tool_calls": [{"name": "run_shell", "args": {"script": "rm -rf /"}}]},
            {"match": "changed the script", "reply": "done"},
        )
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
            world.sandbox = "off"
            await answer(process, 2, edited="true")
            state = await process.until(lambda s: "A-3" in s.approvals)
            asked = state.approvals["A-3"]
            assert asked.again == Again("A-2", (Change("sandbox", "bubblewrap", "off"),), "true")
            assert isinstance(asked.payload, ScriptPayload)
            assert asked.payload.script == "true"
            await answer(process, 3)
            await process.until_status("done")
        assert world.tools.ran == [("run_shell", {"script": "true"}, None)]

    asyncio.run(story())


def test_an_edited_prompt_stays_when_the_context_changed_before_the_worker_started() -> None:
    async def story() -> None:
        world = make_world({"match": "", "reply": "done"})
        async with world.process() as process:
            await process.run(TicketSpec(id="one", target_file="a.py"))
            await process.until(lambda s: "A-1" in s.approvals)
            world.workspaces.files["a.py"] = b"x = 2"
            await answer(process, 1, edited="Be green.")
            state = await process.until(lambda s: "A-2" in s.approvals)
            asked = state.approvals["A-2"]
            assert asked.why == "what the worker would get has changed since A-1 was answered"
            assert asked.again
            assert ([c.field for c in asked.again.changes], asked.again.edited) == (["context"], "Be green.")
            assert isinstance(asked.payload, SpawnPayload)
            assert (asked.payload.prompt, "x = 2" in asked.payload.context) == ("Be green.", True)
            await answer(process, 2)
            await process.until_status("done")
        assert world.requests[0].messages[0].text.startswith("Be green.\n\n")

    asyncio.run(story())


def test_scripts_ask_but_for_the_tickets_own_gate() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "# Ticket one", "tool_calls": [{"name": "run_shell", "args": {"script": "make check"}}]},
            {"match": "make check", "tool_calls": [{"name": "run_shell", "args": {"script": "rm -rf /"}}]},
            {"match": "rm -rf", "reply": "done"},
            {"match": "changed the script", "reply": "done"},
        )
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
            assert process.state.approvals["A-2"].kind == "script"
            assert world.tools.ran == [("run_shell", {"script": "make check"}, None)]
            await answer(process, 2, edited="true")
            await process.until_status("done")
        assert world.tools.ran[1] == ("run_shell", {"script": "true"}, None)
        assert "The human changed the script to:\ntrue" in last_texts(world)[-1]

    asyncio.run(story())


def test_impossible_calls_fail_without_asking_a_person() -> None:
    async def story() -> None:
        world = make_world(
            {
                "match": "# Ticket one",
                "tool_calls": [{"name": "change", "args": {"impossible": True}}, {"name": "fly", "args": {}}],
            },
            {"match": "There is no tool 'fly'. The nearest: look, change, run_shell.", "reply": "I could not."},
        )
        async with world.process() as process:
            await process.run(TicketSpec(id="one"))
            await answer(process, 1)
            await process.until_status("done")
        assert [(e.tool, e.failed) for e in events(world, ToolFinished)] == [("change", True), ("fly", True)]

    asyncio.run(story())


def test_qa_only_reads_and_its_answer_is_the_result() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "# Ticket one", "tool_calls": [{"name": "change", "args": {}}]},
            {"match": "your role only reads", "reply": "The cause is a typo."},
        )
        async with world.process() as process:
            await process.run(TicketSpec(id="one", assigned_to="tier4-qa"))
            await answer(process, 1)
            state = await process.until_status("done")
            assert state.ticket("a", "one").result == "The cause is a typo."
        assert (world.tools.ran, world.workspaces.published) == ([], [])
        assert [spec.name for spec in world.requests[0].tools] == ["look", "read_tool_output"]

    asyncio.run(story())


def test_faults_are_tried_again_and_then_end_clearly() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "# Ticket one", "fault": 500, "times": 2}, {"match": "# Ticket one", "reply": "ok"}
        )
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            await process.until_status("done")
        assert len(world.requests) == 3
        assert world.waits == [0.5, 1.0]

    asyncio.run(story())


def test_a_model_that_never_answers_blocks_its_ticket() -> None:
    async def story() -> None:
        world = make_world({"match": "# Ticket one", "fault": "timeout"})
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            state = await process.until_status("blocked")
            reason = state.ticket("a", "one").blocked_reason or ""
            why = "the scripted model failed by rule: no answer in time (tried 6 times)"
            assert reason == f"the model does not answer: {why}"
        assert len(world.requests) == 6
        assert world.waits == [0.5, 1.0, 2.0, 4.0, 8.0]

    asyncio.run(story())


def test_without_a_rule_or_a_model_the_ticket_says_so() -> None:
    async def story() -> None:
        world = make_world({"match": "nothing like it"})
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            state = await process.until_status("blocked")
            assert "no rule of the script answers" in (state.ticket("a", "one").blocked_reason or "")
        world = World()
        async with world.process() as process:
            await process.run(TicketSpec(id="one"))
            state = await process.until_status("blocked")
            assert "no model is configured" in (state.ticket("a", "one").blocked_reason or "")

    asyncio.run(story())


def test_the_limit_of_rounds_asks_once_more_without_tools_and_then_blocks() -> None:
    async def story() -> None:
        world = make_world({"match": "", "tool_calls": [{"name": "look", "args": {}}], "reply": "still looking"})
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            state = await process.until_status("blocked")
            reason = "the limit of 50 tool rounds was reached; its last text: still looking"
            assert state.ticket("a", "one").blocked_reason == reason
            assert state.ticket("a", "one").attempts == 1
        assert len(world.tools.ran) == 50
        assert world.requests[-1].tools == ()

    asyncio.run(story())


def test_the_limit_of_rounds_is_an_option() -> None:
    async def story() -> None:
        world = make_world({"match": "", "tool_calls": [{"name": "look", "args": {}}], "reply": "still looking"})
        world.options = Options(max_tool_rounds=3)
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            await process.until_status("blocked")
        assert len(world.tools.ran) == 3

    asyncio.run(story())


def test_a_killed_worker_reports_nothing_more() -> None:
    async def story() -> None:
        world = make_world({"match": "# Ticket one", "reply": "never", "delay_s": 60})
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            await process.until(lambda state: bool(state.ticket("a", "one").session))
            await process.workbench.submit(ANN, KillWorker("a", "one"))
            state = await process.until_status("blocked")
            assert "killed by human:ann" in (state.ticket("a", "one").blocked_reason or "")
        assert events(world, TurnFinished) == []

    asyncio.run(story())


def test_a_question_survives_a_restart_and_the_conversation_goes_on_where_it_was() -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            await process.until(lambda state: "A-2" in state.approvals)
        before = len(world.requests)
        async with world.process() as process:
            await answer(process, 2)
            state = await process.until_status("done")
            assert state.ticket("a", "one").attempts == 1
        assert len(world.requests) == before + 1, "no model call was repeated"
        assert [call[0] for call in world.tools.ran] == ["look", "change"]
        assert ("a", "one") in world.workspaces.swept[1], "its folder was kept"

    asyncio.run(story())


def test_after_failures_the_next_try_uses_a_stronger_model_which_is_shown_first() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "", "model": "scripted", "reply": "BLOCKED too hard"},
            {"match": "", "model": "strong", "reply": "BLOCKED still too hard"},
            {"match": "", "model": "stronger", "reply": "done"},
        )
        world.options = Options(escalation=("strong", "stronger"))
        shown: list[str] = []
        async with world.process() as process:
            await process.run(TicketSpec(id="one"))
            for number in (1, 2, 3):
                state = await process.until(lambda s, a=f"A-{number}": a in s.approvals)
                payload = state.approvals[f"A-{number}"].payload
                assert isinstance(payload, SpawnPayload)
                shown.append(payload.model)
                await answer(process, number)
                state = await process.until(lambda s: s.tracks["a"].status in ("blocked", "done"))
                if state.tracks["a"].status == "blocked":
                    await process.workbench.submit(ANN, RetryTicket("a", "one"))
                    await process.workbench.submit(ANN, StartTrack("a"))
            assert state.ticket("a", "one").result == "done"
        assert shown == ["scripted", "strong", "stronger"]
        assert [request.model for request in world.requests] == [None, "strong", "stronger"]
        assert [event.model for event in events(world, TurnFinished)] == shown

    asyncio.run(story())


def test_a_fresh_session_is_held_by_a_stronger_model() -> None:
    async def story() -> None:
        world = make_world(
            {"match": "", "model": "strong", "reply": "done well"}, {"match": "", "model": "scripted", "reply": "done"}
        )
        world.options = Options(escalation=("strong",))
        world.gates.failures["make check"] = 3
        async with world.process(approve_all=True, gates=GateDefaults(stuck_after=0)) as process:
            await process.run(TicketSpec(id="one", verify=(Gate("make check"),)))
            await process.until_status("done")
        assert [request.model for request in world.requests] == [None, None, None, "strong"]

    asyncio.run(story())


def test_a_worker_that_changes_an_existing_test_stops_before_its_gate() -> None:
    async def story() -> None:
        world = make_world({"match": "", "reply": "done"})
        world.options = Options(test_paths=("tests/**",))
        world.workspaces.changed_files = [
            ChangedFile("changed", "tests/a.py", "5a"),
            ChangedFile("added", "tests/new.py", "5b"),
        ]
        async with world.process() as process:
            await process.run(TICKET)
            await answer(process, 1)
            state = await process.until(lambda s: "A-2" in s.approvals)
            payload = state.approval("A-2").payload
            assert isinstance(payload, GatePayload)
            assert payload.files == ("tests/a.py@5a",)
            assert payload.diff == "+the changes of one@1 on tip0 in tests/a.py"
            assert world.gates.runs == []
            await answer(process, 2, "retry")
            state = await process.until_status("done")
            assert (state.ticket("a", "one").unverified, world.gates.runs) == (False, [("make check", "one@1")])

    asyncio.run(story())


def test_the_same_failure_three_times_asks_early_and_a_restart_changes_nothing() -> None:
    async def story() -> None:
        world = make_world({"match": "", "reply": "done"})
        world.gates.failures["make test"] = 99
        ticket = TicketSpec(id="one", verify=(Gate("make test"),))
        async with world.process() as process:
            await process.run(ticket)
            await answer(process, 1)
            await process.until(lambda s: len(_results(s)) >= 1)
        async with world.process() as process:
            state = await process.until(lambda s: any(a.kind == "gate" for a in s.pending_approvals()))
            (asked,) = state.pending_approvals()
            assert isinstance(asked.payload, GatePayload)
            assert asked.payload.message.startswith("## Shell Verification FAILED - Not Converging (3/5)")
            assert (asked.payload.attempts, len(world.gates.runs)) == (3, 3)

    asyncio.run(story())


def _results(state: State) -> tuple[object, ...]:
    stage = state.ticket("a", "one").stage
    tried = getattr(stage, "tried", None) or getattr(getattr(stage, "then", None), "tried", None)
    return tried.previous_results if tried else getattr(stage, "previous_results", ())


def test_two_gates_are_both_run_and_both_reported() -> None:
    async def story() -> None:
        world = make_world({"match": "", "reply": "done"})
        world.gates.failures = {"make one": 1, "make two": 1}
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one", verify=(Gate("make one"), Gate("make two"), Gate("", criteria="x"))))
            await process.until(lambda s: len(world.requests) == 2)
        message = world.requests[1].messages[-1].text
        assert "**Command:** `make one`" in message
        assert "### The Other Gates\n\n- `make two`: failed, exit code 1: no\n- `x`: not yet" in message
        assert [command for command, _ in world.gates.runs[:2]] == ["make one", "make two"]

    asyncio.run(story())
