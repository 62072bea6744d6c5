"""Merging exactly once: what is reported as merged is on the branch, and nothing is merged twice."""

import asyncio

from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import FinishMerge, RedoAttempt
from interlock.domain.messages.commands.command import Command
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Merging
from interlock.engine.effects.merge_queue import commit_message
from interlock.ports.workspaces import Combined
from tests.engine.effects.test_merge_queue import ALL, Queue, verified
from tests.engine.world import FakeWorkspaces


class Moving(FakeWorkspaces):
    """Somebody else moves the branch right before it would be moved, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def publish(self, track: str, combined: Combined) -> bool:
        if self.times:
            self.times -= 1
            self.branch.append(f"other{self.times}")
            return False
        return await super().publish(track, combined)


def moving(times: int) -> Queue:
    queue = Queue()
    queue.spaces = queue.queue._workspaces = Moving(times)
    return queue


def test_a_merge_that_did_not_happen_is_tried_again_and_not_reported() -> None:
    queue = moving(2)
    assert queue.merge(verified("a")) == [FinishMerge("t", "a", 1, "merge-of-a")]
    assert queue.spaces.published == ["a"]


def test_a_batch_that_could_not_be_published_is_merged_one_by_one() -> None:
    queue = moving(1)
    outcomes = queue.merge(*(verified(name, ALL, base="older") for name in "abc"))
    assert [type(outcome) for outcome in outcomes] == [FinishMerge] * 3
    assert queue.spaces.published == ["a", "b", "c"]


def test_a_ticket_that_is_merged_already_is_reported_and_not_merged_again() -> None:
    queue = Queue()
    queue.spaces.branch.append("b")
    outcomes = queue.merge(*(verified(name, ALL, base="older") for name in "abc"))
    assert outcomes == [FinishMerge("t", name, 1, f"merge-of-{name}") for name in "abc"]
    assert queue.spaces.published == ["a", "c"]


def test_a_batch_is_not_published_if_one_of_its_tickets_was_cancelled_meanwhile() -> None:
    async def story() -> list[Command | BaseException]:
        queue = Queue()
        tasks = [asyncio.ensure_future(queue.queue.merge(verified(name, ALL, base="older"))) for name in "abc"]
        while not queue.gates.runs:  # noqa: ASYNC110  every turn of the loop lets the queue go on
            await asyncio.sleep(0)
        tasks[2].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert "c" not in queue.spaces.published
        return list(outcomes)

    outcomes = asyncio.run(story())
    assert [type(outcome) for outcome in outcomes] == [FinishMerge, FinishMerge, asyncio.CancelledError]


def test_a_gate_that_fails_on_the_combined_tree_merges_nothing_of_it() -> None:
    queue = Queue()
    queue.gates.failures["bad"] = 9
    outcomes = queue.merge(verified("a", ALL, base="older"), verified("b", Gate("bad"), base="older"))
    assert [type(outcome) for outcome in outcomes] == [FinishMerge, RedoAttempt]
    assert queue.spaces.published == ["a"]


def test_work_is_verified_on_the_tree_that_is_merged() -> None:
    queue = Queue()
    queue.merge(verified("a", ALL, base="older"))
    assert [run[-1] for run in queue.gates.runs] == ["merge-of-a"]


def test_unverified_work_runs_no_gate_and_an_empty_result_has_no_commit() -> None:
    class Empty(FakeWorkspaces):
        async def combine(self, *args: object, **more: object) -> Combined:
            return Combined("tip0", "tip0", "tree", empty=True)

        async def publish(self, track: str, combined: Combined) -> bool:
            return True

    queue = Queue()
    queue.queue._workspaces = Empty()
    ticket = verified("a", ALL, base="older")
    assert isinstance(ticket.stage, Merging)
    assert queue.merge(verified("a")) == [FinishMerge("t", "a", 1, None)]
    assert queue.gates.runs == []


def test_a_subject_has_at_most_72_characters() -> None:
    def subject(length: int) -> str:
        ticket = verified("a")
        spec = replace(ticket.spec, description="x" * length)
        return commit_message(replace(ticket, spec=spec)).partition("\n")[0]

    assert [len(subject(length)) for length in (72, 73)] == [72, 72]
    assert subject(73).endswith("...")
