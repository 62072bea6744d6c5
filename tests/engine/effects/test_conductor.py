"""The conductor runs each required effect once, and cancels effects that are no longer required."""

import asyncio

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript
from interlock.domain.messages.commands.ticket_commands import CancelTicket, KillWorker, RetryTicket
from interlock.domain.messages.commands.track_commands import AbortTrack
from interlock.domain.messages.events.attempt_events import GateFinished
from interlock.domain.messages.events.ticket_events import TicketCompleted
from interlock.domain.state.state import State
from interlock.domain.state.tracks import TrackLanding
from interlock.domain.values.approvals import Again, Answered, Change, GatePayload, MergePayload, Pending, ScriptPayload
from interlock.domain.values.gates import Gate
from interlock.engine.effects.landing import LandingConductor, ask_landing, finish_landings, needs_finishing
from interlock.errors import BranchMoved, JournalError, Rejected
from tests.engine.world import ANN, Ask, Deny, Rules, Stricter, World, shell


def test_independent_tickets_run_at_once_as_many_as_there_are_workers() -> None:
    async def story() -> None:
        world = World()
        world.crew.release = asyncio.Event()
        async with world.process(workers=3) as process:
            await process.run(*(shell(f"t{number}") for number in range(7)))
            await world.crew.until(lambda: world.crew.running == 3)
            world.crew.release.set()
            await process.until_status("done")
        assert world.crew.most_at_once == 3

    asyncio.run(story())


def test_waiting_for_an_answer_takes_no_worker() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        async with world.process(workers=1) as process:
            await process.run(*(shell(f"t{number}") for number in range(5)))
            state = await process.until(lambda s: len(s.pending) == 5)
            assert state.busy == 0
            await process.workbench.submit(ANN, AnswerApproval("A-4", "approve"))
            await process.until(lambda s: s.tracks["a"].counts.completed == 1)
            assert world.crew.finished == [("t3", 1)]

    asyncio.run(story())


def test_the_edited_script_is_what_runs() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until(lambda s: bool(s.pending))
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve", edited="make it better"))
            await process.until_status("done")
        assert [a.script for a in world.crew.assignments] == ["make it better"]

    asyncio.run(story())


def test_a_script_changed_after_the_answer_is_asked_about_again_and_did_not_run() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        async with world.process(workers=1) as process:
            await process.run(shell("one"))
            await process.until(lambda s: bool(s.pending))
            world.crew.sandbox = "off"
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            state = await process.until(lambda s: "A-2" in s.approvals)
            assert world.crew.started == []
            again = state.approvals["A-2"]
            assert again.why == "what would run has changed since A-1 was answered"
            assert isinstance(again.payload, ScriptPayload)
            assert again.payload.sandbox == "off"
            assert again.again == Again("A-1", (Change("sandbox", "bubblewrap", "off"),))

    asyncio.run(story())


def test_an_edited_script_stays_edited_when_the_environment_changed_before_it_ran() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        async with world.process(workers=1) as process:
            await process.run(shell("one"))
            await process.until(lambda s: bool(s.pending))
            world.crew.sandbox = "off"
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve", edited="make it better"))
            state = await process.until(lambda s: "A-2" in s.approvals)
            again = state.approvals["A-2"]
            assert again.again == Again("A-1", (Change("sandbox", "bubblewrap", "off"),), "make it better")
            assert isinstance(again.payload, ScriptPayload)
            assert again.payload.script == "make it better"
            await process.workbench.submit(ANN, AnswerApproval("A-2", "approve"))
            state = await process.until_status("done")
            answered = state.approvals["A-2"].state
            assert isinstance(answered, Answered)
            assert answered.edited == "make it better"
        assert [a.script for a in world.crew.assignments] == ["make it better"]
        assert set(state.approvals) == {"A-1", "A-2"}

    asyncio.run(story())


def test_a_denied_script_blocks_its_ticket_with_the_rule() -> None:
    async def story() -> None:
        world = World(policy=Deny())
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until_status("blocked")
            assert state.ticket("a", "one").blocked_reason == "denied by no-rm: it removes things"
        assert world.crew.started == []

    asyncio.run(story())


def test_a_failed_script_blocks_at_once_and_the_folder_is_removed() -> None:
    async def story() -> None:
        world = World()
        world.crew.failing.add("one")
        async with world.process() as process:
            await process.run(shell("one"), shell("two", "one"))
            state = await process.until_status("blocked")
            assert state.ticket("a", "one").blocked_reason == "the script failed with exit code 1"
            assert state.ticket("a", "two").status == "todo"
            await process.conductor.stop("end")
        assert world.crew.started == [("one", 1)]
        assert world.workspaces.removed == ["one"]

    asyncio.run(story())


@pytest.mark.parametrize("command", [KillWorker("a", "one"), CancelTicket("a", "one"), AbortTrack("a")])
def test_killing_cancelling_or_aborting_stops_the_work(command: KillWorker | CancelTicket | AbortTrack) -> None:
    async def story() -> None:
        world = World()
        world.crew.release = asyncio.Event()
        async with world.process() as process:
            await process.run(shell("one"))
            await world.crew.until(lambda: bool(world.crew.started))
            await process.workbench.submit(ANN, command)
            await world.crew.until(lambda: bool(world.crew.cancelled))
        assert world.crew.finished == []

    asyncio.run(story())


def test_a_retried_ticket_starts_only_when_the_killed_attempt_is_gone() -> None:
    async def story() -> None:
        world = World()
        world.crew.release = asyncio.Event()
        async with world.process() as process:
            await process.run(shell("one"))
            await world.crew.until(lambda: bool(world.crew.started))
            process.workbench.send(ANN, KillWorker("a", "one"))
            process.workbench.send(ANN, RetryTicket("a", "one"))
            await world.crew.until(lambda: len(world.crew.started) == 2)
            assert (world.crew.cancelled, world.crew.most_at_once) == (["one"], 1)
            world.crew.release.set()
            await process.until_status("done")
        assert world.crew.finished == [("one", 2)]

    asyncio.run(story())


def test_gates_run_on_the_saved_work_and_a_failing_one_escalates_with_the_text_for_a_human() -> None:
    async def story() -> None:
        world = World()
        world.gates.failures["make check"] = 2
        async with world.process() as process:
            await process.run(shell("one", verify=(Gate("make check", max_attempts=2),)))
            state = await process.until(lambda s: bool(s.pending))
            payload = state.approvals["A-1"].payload
            assert isinstance(payload, GatePayload)
            assert payload.message.startswith("## Shell Verification FAILED - Maximum Attempts Reached\n")
            assert "**Attempts:** 2/2" in payload.message
            await process.workbench.submit(ANN, AnswerApproval("A-1", "retry"))
            state = await process.until_status("done")
            assert not state.ticket("a", "one").unverified
        assert world.gates.runs == [("make check", "one@1")] * 3
        assert world.crew.started == [("one", 1)]

    asyncio.run(story())


def test_with_approve_all_a_gate_is_not_answered_and_the_ticket_blocks() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        world.gates.failures["make check"] = 9
        async with world.process(approve_all=True) as process:
            await process.run(shell("one", verify=(Gate("make check", max_attempts=2),)))
            state = await process.until_status("blocked")
            reason = "verification failed: make check (exit 1, attempts 2/2)"
            assert state.ticket("a", "one").blocked_reason == reason
            answered = state.approvals["A-1"].state
            assert isinstance(answered, Answered)
            assert (answered.by, answered.decision) == ("policy:approve-all", "approve")
            assert not state.pending

    asyncio.run(story())


@pytest.mark.parametrize("env", [(), (("GIT_PAGER", "cat"),)])
def test_what_a_rule_allows_is_recorded_as_answered_by_it_before_it_runs(env: tuple[tuple[str, str], ...]) -> None:
    async def story() -> None:
        world = World(policy=Rules(*env))
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until_status("done")
        approval = state.approvals["A-1"]
        assert isinstance(approval.state, Answered)
        assert (approval.state.by, approval.state.decision) == ("policy:make-is-fine", "approve")
        assert (approval.why, approval.digest) == ("make does no harm", approval.state.digest)
        (done,) = world.crew.assignments
        assert (done.env, world.crew.approved) == (env, [approval.digest])

    asyncio.run(story())


def test_work_that_conflicts_is_done_again_with_the_reason() -> None:
    async def story() -> None:
        world = World()
        world.workspaces.conflicts["one"] = 1
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
        why = "The work conflicts with what was merged meanwhile, in a.txt:\n\n<<<<<<<"
        assert [(a.attempt, a.why) for a in world.crew.assignments] == [(1, None), (2, why)]
        assert world.workspaces.published == ["one"]

    asyncio.run(story())


def test_when_the_track_moved_on_the_gates_run_again_on_the_tree_to_be_merged() -> None:
    async def story() -> None:
        world = World()
        world.crew.release = asyncio.Event()
        async with world.process() as process:
            gate = (Gate("make check"),)
            await process.run(shell("one", verify=gate), shell("two", verify=gate))
            await world.crew.until(lambda: world.crew.running == 2)
            world.crew.release.set()
            await process.until_status("done")
        second = world.workspaces.published[1]
        assert ("make check", f"merge-of-{second}") in world.gates.runs
        trees = [
            recorded.event.tree
            for recorded in world.journal.read()
            if isinstance(recorded.event, GateFinished) and recorded.event.ticket == second
        ]
        assert len(set(trees)) == 2

    asyncio.run(story())


def test_a_gate_that_fails_on_the_merged_tree_makes_a_new_attempt() -> None:
    async def story() -> None:
        world = World()
        world.crew.release = asyncio.Event()
        async with world.process() as process:
            world.gates.broken_trees.add("merge-of-two")
            await process.run(shell("one"), shell("two", verify=(Gate("make check"),)))
            await world.crew.until(lambda: world.crew.running == 2)
            world.crew.release.set()
            await process.until(lambda s: s.tracks["a"].tickets["two"].attempts == 2)
            world.gates.broken_trees.clear()
            await process.until_status("done")
        assert world.workspaces.published == ["one", "two"]
        assert world.crew.assignments[-1].attempt == 2
        assert "After merging with the other tickets' work" in (world.crew.assignments[-1].why or "")

    asyncio.run(story())


def test_a_merge_found_on_the_branch_after_a_crash_is_not_made_again() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            world.journal.at = 7  # crashes before the merge is recorded
            with pytest.raises(JournalError):
                await process.run(shell("one"))
                await process.until_status("done")
        world.journal.at = None
        async with world.process() as process:
            state = await process.until_status("done")
            assert state.ticket("a", "one").attempts == 1
        assert world.workspaces.published == ["one"]
        assert world.crew.finished == [("one", 1)]

    asyncio.run(story())


def test_landing_asks_with_the_diff_then_lands_once() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            state = process.state
            payload = state.approvals["A-1"].payload
            assert isinstance(payload, MergePayload)
            assert payload.diff_blob is not None
            assert len(payload.diff) < 4_100
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            await process.until(landed)
        assert world.workspaces.landed == ["after"]

    asyncio.run(story())


def test_a_landing_that_happened_before_a_crash_is_seen_and_not_repeated() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            world.journal.at = process.state.version + 3  # the record of the landing
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            with pytest.raises(JournalError):
                await process.until(landed)
        world.journal.at = None
        async with world.process() as process:
            await process.until(landed)
        assert world.workspaces.landed == ["after"]

    asyncio.run(story())


def test_without_a_conductor_an_approved_landing_happens_before_the_answer_returns() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            await process.conductor.stop("closed")
            landing = LandingConductor(process.workbench, world.workspaces)
            receipt = await landing.submit(ANN, AnswerApproval("A-1", "approve"))
            assert receipt.records
            assert landed(process.state)
        assert world.workspaces.landed == ["after"]

    asyncio.run(story())


def test_a_landing_that_fails_reports_why_and_can_be_requested_again() -> None:
    async def story() -> None:
        world = World()
        world.workspaces.land_error = Rejected("a.txt is modified")
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            state = await process.until(lambda s: _landing(s) == "failed")
            landing = state.tracks["a"].landing
            assert landing is not None
            assert landing.detail == "a.txt is modified"
            await ask_landing(process.workbench, world.workspaces, ANN, "a")

    asyncio.run(story())


def test_a_landing_that_a_killed_process_left_is_finished_before_anything_else() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            await process.conductor.stop("closed")
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            world.workspaces.begun = True
            assert needs_finishing(process.state, world.workspaces)
            assert await finish_landings(process.workbench, world.workspaces) == (
                "the landing of track a was interrupted; it is finished: landed on main",
                "an interrupted landing was taken back",
            )
            assert not needs_finishing(process.state, world.workspaces)
            world.workspaces.begun, world.workspaces.settle_error = True, Rejected("another git command is running")
            (said,) = await finish_landings(process.workbench, world.workspaces)
            assert said.startswith("a landing was interrupted and cannot be taken back yet: another git command")

    asyncio.run(story())


def test_stopping_waits_for_a_landing_instead_of_cutting_it_off() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            world.workspaces.land_release = asyncio.Event()
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            stopping = asyncio.ensure_future(process.conductor.stop("closed"))
            await asyncio.wait([stopping], timeout=0.05)
            assert not stopping.done()
            world.workspaces.land_release.set()
            await stopping
            assert landed(process.state)

    asyncio.run(story())


def test_work_that_could_not_be_saved_is_saved_later_without_doing_it_again() -> None:
    async def story() -> None:
        world = World()
        world.workspaces.full = True
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until_status("blocked")
            reason = state.ticket("a", "one").blocked_reason or ""
            assert reason.startswith(
                "the work is done, but it could not be saved: git write-tree failed: No space left"
            )
            await process.workbench.submit(ANN, RetryTicket("a", "one"))
            await process.until_status("blocked")
        async with world.process() as process:  # still no room
            await process.until_status("blocked")
            assert world.workspaces.removed == []
            assert all(("a", "one") in live for live in world.workspaces.swept[1:])
        world.workspaces.full = False
        async with world.process() as process:
            state = await process.until_status("done")
            assert state.ticket("a", "one").result == "made it"
        assert world.crew.started == [("one", 1)]
        assert world.workspaces.published == ["one"]

    asyncio.run(story())


def _verdict(state: State, approval: str = "A-1") -> tuple[list[tuple[str, str]], object]:
    payload = state.approvals[approval].payload
    assert isinstance(payload, MergePayload) and payload.gates
    return [(one.gate, one.status) for one in payload.gates], payload.unverified


def test_the_gates_run_again_on_what_would_be_landed_each_once() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            test, lint = Gate("make test"), Gate("make lint")
            await process.run(shell("one", verify=(test, lint)), shell("two", "one", verify=(test,)))
            await process.until_status("done")
            world.gates.runs.clear()
            await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)
            assert world.gates.runs == [("make test", "after"), ("make lint", "after")]
            results = [("make test", "passed"), ("make lint", "passed"), ("make test", "passed")]
            assert _verdict(process.state) == (results, "")
            assert sorted(world.workspaces.removed[-1:]) == ["one"]

    asyncio.run(story())


def test_what_the_last_ticket_was_verified_on_needs_no_second_run() -> None:
    async def story() -> None:
        world = World()
        world.workspaces.lands = "merge-of-one"
        async with world.process() as process:
            await process.run(shell("one", verify=(Gate("make test"),)))
            await process.until_status("done")
            world.gates.runs.clear()
            await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)
            assert (world.gates.runs, _verdict(process.state)) == ([], ([("make test", "passed")], ""))

    asyncio.run(story())


def test_a_landing_says_unverified_if_gates_fail_or_cannot_run_or_are_missing() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            criteria = Gate("", criteria="it is good")
            await process.run(shell("one", verify=(Gate("make test"), criteria)), shell("two"))
            await process.until_status("done")
            world.gates.broken_trees.add("after")
            await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)
            results = [("make test", "failed"), ("it is good", "judged")]
            assert _verdict(process.state) == (results, "make test of one: failed")
            await process.workbench.submit(ANN, AnswerApproval("A-1", "reject"))
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            results = [("make test", "not run"), ("it is good", "judged")]
            assert _verdict(process.state, "A-2") == (results, "make test of one: not run")
            await process.workbench.submit(ANN, AnswerApproval("A-2", "reject"))
            world.gates.broken_trees.clear()
            await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)
            assert _verdict(process.state, "A-3")[1] == "two: completed without a passed gate"

    asyncio.run(story())


def test_a_branch_that_moves_after_the_approval_is_asked_about_again() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one", verify=(Gate("make test"),)))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)
            world.workspaces.land_error = BranchMoved("main changed since this landing was prepared")
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            state = await process.until(lambda state: _landing(state) == "failed")
            asked = state.pending_approvals()[0]
            assert (asked.id, asked.kind, asked.asker) == ("A-2", "merge", "system")
            assert asked.why.startswith("the branch moved after the landing of a was approved")
            assert _verdict(state, "A-2")[1] == ""
            assert "waits as approval A-2" in (state.tracks["a"].landing or TrackLanding("", "", "", "asked")).detail

    asyncio.run(story())


def test_without_gates_a_branch_that_moved_is_not_asked_about_unverified() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one", verify=(Gate("make test"),)))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)
            world.workspaces.land_error = BranchMoved("main changed since this landing was prepared")
            await process.conductor.stop("closed")
            landing = LandingConductor(process.workbench, world.workspaces)
            await landing.submit(ANN, AnswerApproval("A-1", "approve"))
            assert process.state.pending_approvals() == ()
            landed = process.state.tracks["a"].landing
            assert landed is not None
            assert (landed.state, landed.detail) == (
                "failed",
                (
                    "main changed since this landing was prepared; 'interlock tracks land a' verifies what would be"
                    " landed now, and asks"
                ),
            )

    asyncio.run(story())


def test_a_branch_that_moved_into_a_conflict_is_not_asked_about_again() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            world.workspaces.land_error = BranchMoved("main changed")
            world.workspaces.plan_error = Rejected("interlock/a conflicts with main in x")
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            state = await process.until(lambda state: _landing(state) == "failed")
            assert state.tracks["a"].landing == TrackLanding(
                "main", "before", "after", "failed", "main changed: interlock/a conflicts with main in x"
            )

    asyncio.run(story())


def test_a_deadline_that_passes_denies() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until(lambda s: bool(s.pending))
            payload = state.approvals["A-1"].payload
            assert isinstance(payload, ScriptPayload)
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            await process.until_status("done")
        # The same request, with a deadline that is already over.
        world = World(policy=Ask())
        world.crew.release = asyncio.Event()
        world.policy = World().policy
        async with world.process() as process:
            await process.run(shell("one"))
            await world.crew.until(lambda: bool(world.crew.started))
            ask = AskScript("a", "one", 1, payload, "why", deadline="2025-12-31T00:00:00Z")
            await process.workbench.submit("system", ask)
            state = await process.until_status("blocked")
            assert "deadline" in (state.ticket("a", "one").blocked_reason or "")

    asyncio.run(story())


def test_a_bug_in_an_effect_ends_as_a_blocked_ticket_and_not_as_silence() -> None:
    async def story() -> None:
        world = World()

        async def broken(track: str) -> str:
            raise ZeroDivisionError("oops")

        world.workspaces.start_track = broken
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until_status("blocked")
            reason = state.ticket("a", "one").blocked_reason or ""
            assert reason.startswith("internal error: ZeroDivisionError: oops")

    asyncio.run(story())


def test_stopping_records_running_attempts_as_lost_and_the_next_start_repeats_them() -> None:
    async def story() -> None:
        world = World()
        world.crew.release = asyncio.Event()
        async with world.process() as process:
            await process.run(shell("one"))
            await world.crew.until(lambda: bool(world.crew.started))
            await process.conductor.stop("closed")
            assert not process.state.conductor.on
            assert process.state.ticket("a", "one").status == "todo"
        world.crew.release.set()
        async with world.process() as process:
            await process.until_status("done")
        assert world.crew.finished == [("one", 2)]
        completed = [r for r in world.journal.read() if isinstance(r.event, TicketCompleted)]
        assert len(completed) == 1

    asyncio.run(story())


def test_pending_approvals_are_still_there_and_answerable_after_a_restart() -> None:
    async def story() -> None:
        world = World(policy=Ask())
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until(lambda s: bool(s.pending))
        async with world.process() as process:
            assert isinstance(process.state.approvals["A-1"].state, Pending)
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            await process.until_status("done")
        assert world.crew.finished == [("one", 1)]

    asyncio.run(story())


def test_a_branch_with_work_that_is_not_in_the_journal_is_refused() -> None:
    async def story() -> None:
        world = World()
        world.workspaces.branch.append("one")
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until_status("blocked")
            reason = state.ticket("a", "one").blocked_reason or ""
            assert reason.startswith("branch interlock/a holds commits for one that are not in this journal")
        assert world.crew.started == []

    asyncio.run(story())


def landed(state: State) -> bool:
    return _landing(state) == "landed"


def _landing(state: State) -> str | None:
    landing = state.tracks["a"].landing
    return landing.state if landing else None


def test_a_script_is_judged_in_its_worktree_before_a_rule_allows_it() -> None:
    async def story() -> None:
        world = World(policy=Stricter(1, "ask"))
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until(lambda state: bool(state.pending))
            assert (world.crew.ready, world.crew.started) == ([("one", 1)], [])
            assert state.approvals["A-1"].why == "a link leads out"

    asyncio.run(story())


@pytest.mark.parametrize("env", [(), (("GIT_PAGER", "cat"),)])
def test_a_script_that_a_rule_allowed_is_judged_again_right_before_it_runs(env: tuple[tuple[str, str], ...]) -> None:
    async def story() -> None:
        world = World(policy=Stricter(3 if env else 2, "ask", *env))
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until(lambda state: bool(state.pending))
            assert world.crew.started == []
            assert state.approvals["A-2"].why == "a rule allowed it before, but: a link leads out"
            await process.workbench.submit(ANN, AnswerApproval("A-2", "approve"))
            await process.until_status("done")
            assert world.crew.started == [("one", 1)]

    asyncio.run(story())


def test_a_script_that_is_denied_right_before_it_runs_blocks_its_ticket() -> None:
    async def story() -> None:
        world = World(policy=Stricter(2, "deny"))
        async with world.process() as process:
            await process.run(shell("one"))
            state = await process.until_status("blocked")
            assert (state.ticket("a", "one").blocked_reason, world.crew.started) == (
                "denied by changed: a link leads out",
                [],
            )

    asyncio.run(story())
