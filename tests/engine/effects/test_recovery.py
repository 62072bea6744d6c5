"""What the next process finds: deadlines, folders that are still needed, interrupted attempts and landings."""

import asyncio

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript, AskWorker, FailWork, ReportGate, StartSession
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.attempt_events import AttemptLost
from interlock.domain.values.approvals import Answered, MergePayload, SpawnPayload
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.tickets import Asking, Blocked, Queued, TicketSpec
from interlock.engine.effects.conductor import _unsaved, _with_workspace
from interlock.engine.effects.landing import needs_finishing
from tests.domain.given import FAIL, SCRIPT, bench
from tests.domain.given import shell as script
from tests.engine.world import ANN, World, shell


async def _interrupted(world: World) -> None:
    """A process ends while its only ticket works."""
    async with world.process() as process:
        await process.run(shell("one"))


def _asked_with(deadline: str, *, approve_all: bool) -> Answered | Blocked | object:
    """How a ticket stands whose question got this deadline before the process ended."""
    found: list[object] = []

    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
        await process.workbench.submit(SYSTEM, AskScript("a", "one", 1, SCRIPT, "why", deadline))
        async with world.process(approve_all=approve_all) as second:
            state = await second.until(lambda s: not s.pending)
            found.append(state.approvals["A-1"].state)

    asyncio.run(story())
    return found[0]


def test_an_overdue_question_is_denied_before_approve_all_could_answer_it() -> None:
    answer = _asked_with("2025-12-31T00:00:00Z", approve_all=True)
    assert isinstance(answer, Answered)
    assert (answer.decision, answer.by) == ("reject", SYSTEM)


def test_a_deadline_that_passes_in_the_next_process_denies_there() -> None:
    answer = _asked_with("2026-01-01T00:00:00.100000Z", approve_all=False)
    assert isinstance(answer, Answered)
    assert (answer.decision, answer.by) == ("reject", SYSTEM)


def test_an_attempt_of_a_process_that_is_gone_is_lost_and_made_again() -> None:
    async def story() -> None:
        world = World()
        await _interrupted(world)
        async with world.process() as process:
            state = await process.until_status("done")
            assert state.ticket("a", "one").attempts == 2
        assert world.workspaces.swept == [frozenset(), frozenset()]
        assert [type(r.event) for r in world.journal.read()].count(AttemptLost) == 1

    asyncio.run(story())


def test_a_landing_that_had_started_is_finished_by_the_next_process() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
        bench_ = process.workbench
        tip = await world.workspaces.landing("a")
        await bench_.submit(ANN, AskLanding("a", MergePayload(tip.branch, tip.before, tip.after, "")))
        await bench_.submit(ANN, AnswerApproval("A-1", "approve"))
        assert needs_finishing(bench_.state, world.workspaces)
        async with world.process() as second:
            await second.until(lambda s: s.tracks["a"].landing is not None and s.tracks["a"].landing.state == "landed")

    asyncio.run(story())


def test_the_folders_of_queued_asking_and_unsaved_tickets_are_still_needed() -> None:
    worker = TicketSpec(id="W")
    project = bench(script("Q", verify=[Gate("true", max_attempts=1)]), script("B"), worker, script("U"), workers=1)
    project.submit("Q")
    project.send(ReportGate("x", "Q", 1, 0, FAIL), SYSTEM)
    project.answer("A-1", "retry")
    assert isinstance(project.ticket("Q").stage, Queued)
    project.send(FailWork("x", "B", 1, "the disk is full", unsaved="done"), SYSTEM)
    assert isinstance(project.ticket("B").stage, Blocked)
    assert _unsaved(project.state) == [("x", "B")]
    assert _with_workspace(project.state) >= {("x", "B")}
    queued = bench(script("Q", verify=[Gate("true", max_attempts=1)]), script("B"), workers=1)
    queued.submit("Q")
    queued.send(ReportGate("x", "Q", 1, 0, FAIL), SYSTEM)
    queued.answer("A-1", "retry")
    assert _with_workspace(queued.state) == {("x", "Q")}


def test_the_folder_of_a_worker_with_a_question_is_needed_only_after_it_began() -> None:
    project = bench(TicketSpec(id="W"))
    project.send(AskWorker("x", "W", 1, SpawnPayload("tier3-worker", "m", "do", ""), "starts"), SYSTEM)
    assert _with_workspace(project.state) == set()
    project.answer("A-1", "approve")
    project.send(StartSession("x", "W", 1, Blob("1" * 64, 1)), SYSTEM)
    project.send(AskScript("x", "W", 1, SCRIPT, "why"), SYSTEM)
    assert isinstance(project.ticket("W").stage, Asking)
    assert _with_workspace(project.state) == {("x", "W")}
