"""Waiting tickets are verified together, once, on their combined tree; each gets its own commit, in order."""

import asyncio

from interlock.domain.messages.commands.attempt_commands import FailWork, FinishMerge, RedoAttempt, ReportGate
from interlock.domain.messages.commands.command import Command
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Merging, Saved, Ticket, TicketSpec
from interlock.engine.effects.merge_queue import MergeQueue
from interlock.errors import OverBudget
from interlock.ports.front import Receipt
from tests.engine.world import FakeGates, FakeWorkspaces

ALL = Gate("make test")


def verified(name: str, *gates: Gate, base: str = "tip0") -> Ticket:
    saved = Saved(base, f"{name}@1", f"tree-of-{name}")
    stage = Merging(saved, unverified=not gates)
    return Ticket(track="t", spec=TicketSpec(id=name, verify=gates), stage=stage, attempts=1, created_at="")


class Queue:
    def __init__(self) -> None:
        self.spaces = FakeWorkspaces()
        self.gates = FakeGates()
        self.reports: list[ReportGate] = []
        self.queue = MergeQueue(self.spaces, self.gates, self.send)

    async def send(self, command: Command) -> Receipt:
        assert isinstance(command, ReportGate)
        self.reports.append(command)
        return Receipt(0, ())

    def merge(self, *tickets: Ticket) -> list[Command]:
        async def together() -> list[Command]:
            return list(await asyncio.gather(*(self.queue.merge(ticket) for ticket in tickets)))

        return asyncio.run(together())


def test_a_gate_that_waiting_tickets_share_runs_once_on_the_tree_of_them_all() -> None:
    queue = Queue()
    outcomes = queue.merge(*(verified(name, ALL) for name in "abcd"))
    assert outcomes == [FinishMerge("t", name, 1, f"merge-of-{name}") for name in "abcd"]
    assert queue.spaces.published == ["a", "b", "c", "d"]
    assert len(queue.gates.runs) == 1, "the first was verified on its own tree already; the others together"
    assert [(r.ticket, r.result.passed) for r in queue.reports] == [("b", True), ("c", True), ("d", True)]
    assert len({r.tree for r in queue.reports}) == 1


def test_gates_of_their_own_all_run_on_that_tree() -> None:
    queue = Queue()
    queue.merge(verified("a", ALL), verified("b", ALL, Gate("b")), verified("c", Gate("c")), verified("d"))
    assert sorted(command for command, *_ in queue.gates.runs) == ["b", "c", "make test"]
    assert queue.spaces.published == ["a", "b", "c", "d"]


def test_a_ticket_that_conflicts_is_left_out_and_tried_again_alone() -> None:
    queue = Queue()
    queue.spaces.conflicts["c"] = 2  # in the batch, and alone
    outcomes = queue.merge(*(verified(name, ALL) for name in "abcd"))
    assert [type(outcome) for outcome in outcomes] == [FinishMerge, FinishMerge, RedoAttempt, FinishMerge]
    assert queue.spaces.published == ["a", "b", "d"]


def test_a_failure_of_the_whole_batch_falls_back_to_single_merges() -> None:
    queue = Queue()
    queue.gates.failures["make test"] = 1  # on the combined tree only
    outcomes = queue.merge(*(verified(name, ALL) for name in "abc"))
    assert [type(outcome) for outcome in outcomes] == [FinishMerge] * 3
    assert queue.spaces.published == ["a", "b", "c"]
    assert not [report for report in queue.reports if not report.result.passed], "a failed batch counts for no ticket"


def test_without_budget_for_a_judge_each_ticket_gets_the_reason_and_none_is_done_again() -> None:
    queue = Queue()

    def broke() -> None:
        raise OverBudget("over budget")

    queue.gates.on_run = broke
    outcomes = queue.merge(*(verified(name, ALL) for name in "abc"))
    assert outcomes == [
        FinishMerge("t", "a", 1, "merge-of-a"),
        FailWork("t", "b", 1, "over budget", budget=True),
        FailWork("t", "c", 1, "over budget", budget=True),
    ]


def test_a_ticket_cancelled_meanwhile_is_not_merged() -> None:
    queue = Queue()

    async def story() -> None:
        tasks = [asyncio.ensure_future(queue.queue.merge(verified(name, ALL))) for name in "abc"]
        queue.gates.on_run = lambda: tasks[2].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(outcomes[2], asyncio.CancelledError)

    asyncio.run(story())
    assert queue.spaces.published == ["a", "b"]
