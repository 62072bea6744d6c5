"""The merge queue and the landing run no gate again on a tree that has passed it: real git, real sandbox."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from interlock.domain.messages.commands.attempt_commands import FinishMerge, ReportGate
from interlock.domain.messages.commands.command import Command
from interlock.domain.state.tracks import Track
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Completed, Merging, Saved, Ticket, TicketSpec
from interlock.engine.effects.landing import verify_landing
from interlock.engine.effects.merge_queue import MergeQueue
from interlock.ports.front import Receipt
from tests.runners.reuse_bench import NarrowSandbox, ReuseBench
from tests.workspaces.desk import attempt, writes

GATE = Gate("tool && test -e data.txt")


class Bench(ReuseBench):
    """A bench whose merge queue records passes as the journal does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.setup = ""
        self.gate = GATE
        self.sandboxes: list[NarrowSandbox] = []
        self.reports: list[ReportGate] = []

    async def queue(self) -> MergeQueue:
        gates, sandbox = await self.gates()
        assert isinstance(sandbox, NarrowSandbox)
        if sandbox not in self.sandboxes:
            self.sandboxes.append(sandbox)
        return MergeQueue(await self.workspaces(), gates, self.send)

    async def send(self, command: Command) -> Receipt:
        assert isinstance(command, ReportGate)
        self.reports.append(command)
        self.record(command.ticket, command.result)
        return Receipt(0, ())

    @property
    def gate_runs(self) -> int:
        return sum(script == GATE.command for sandbox in self.sandboxes for script in sandbox.runs)


def ticket(name: str, saved: Saved) -> Ticket:
    spec = TicketSpec(id=name, verify=(GATE,))
    return Ticket(track="t", spec=spec, stage=Merging(saved, unverified=False), attempts=1, created_at="")


async def two_attempts(bench: Bench) -> tuple[Ticket, Ticket]:
    store = await bench.workspaces()
    _, first = await attempt(store, "t", "a", writes("a.txt", "a"))
    _, second = await attempt(store, "t", "b", writes("b.txt", "b"))
    return ticket("a", first), ticket("b", second)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_after_a_crash_a_merge_does_not_verify_the_combined_tree_again(tmp_path: Path) -> None:
    async def story() -> None:
        bench = Bench(tmp_path)
        store = await bench.workspaces()
        first, second = await two_attempts(bench)
        await (await bench.queue()).merge(first)

        async def killed(*_: object) -> bool:
            raise KeyboardInterrupt

        queue = await bench.queue()
        publish, store.publish = store.publish, killed  # pyright: ignore[reportAttributeAccessIssue]
        try:
            await queue.merge(second)
        except KeyboardInterrupt:
            store.publish = publish
        assert bench.gate_runs == 1, "the branch had moved: the combined tree was verified"
        outcome = await (await bench.queue()).merge(second)
        assert isinstance(outcome, FinishMerge) and outcome.commit
        assert bench.gate_runs == 1, "the same tree: not verified again"
        assert [bool(report.result.reused) for report in bench.reports] == [False, True]

    run(story())


def test_a_landing_reuses_what_passed_on_the_track_branch_and_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        bench = Bench(tmp_path)
        store = await bench.workspaces()
        first, second = await two_attempts(bench)
        queue = await bench.queue()
        merged = [await queue.merge(one) for one in (first, second)]
        bench.desk.git("commit", "--quiet", "--allow-empty", "--message", "the branch moves, its files do not")
        plan = await store.landing("t")
        done = {
            name: Ticket(track="t", spec=one.spec, stage=Completed(outcome.commit), attempts=1, created_at="")
            for name, one, outcome in zip("ab", (first, second), merged, strict=True)
            if isinstance(outcome, FinishMerge)
        }
        track = Track(
            id="t",
            title="",
            description="",
            created_at="",
            updated_at="",
            order=("a", "b"),
            tickets=done,  # pyright: ignore[reportArgumentType]
        )
        runs = bench.gate_runs
        gates, _ = await bench.gates()
        results, unverified = await verify_landing(track, plan, store, gates)
        assert (unverified, [one.status for one in results]) == ("", ["passed", "passed"])
        assert [one.reused and one.reused.ticket for one in results] == ["b", "b"]
        assert bench.gate_runs == runs
        bench.desk.write({"data.txt": "moved\n"})
        bench.desk.commit("the files move too")
        results, _ = await verify_landing(track, await store.landing("t"), store, gates)
        assert [bool(one.reused) for one in results] == [False, False]
        assert bench.gate_runs == runs + 1

    run(story())


def test_of_20_tickets_those_that_change_nothing_run_no_gate(tmp_path: Path) -> None:
    async def story() -> None:
        bench = Bench(tmp_path)
        store, queue = await bench.workspaces(), await bench.queue()
        gates, _ = await bench.gates()
        for number in range(20):
            name = f"T-{number}"
            changes = writes(f"{number}.txt", "new") if number % 2 == 0 else writes("data.txt", "data\n")
            _, saved = await attempt(store, "t", name, changes)
            result = await gates.run("t", TicketSpec(id=name, verify=(GATE,)), 0, saved.commit)
            bench.record(name, result)
            assert (result.passed, bool(result.reused)) == (True, number % 2 == 1)
            outcome = await queue.merge(ticket(name, saved))
            assert isinstance(outcome, FinishMerge)
        assert bench.gate_runs == 10, "10 runs in the sandbox are spared"

    run(story())
