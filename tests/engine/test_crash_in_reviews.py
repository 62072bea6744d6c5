"""A crash at every event boundary while finished work is reviewed, returned, accepted in parts, and landed."""

import asyncio
from contextlib import suppress

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.track_commands import StartTrack
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.messages.events.track_events import TrackLanded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.domain.values.approvals import Approval, Comment, MergePayload, ReviewPayload
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.effects.landing import ask_landing
from interlock.errors import JournalError, Rejected
from interlock.wire import encode_state
from tests.engine.world import ANN, Ask, Process, World, shell

TICKETS = (shell("one"), TicketSpec(id="two", description="By a worker", verify=(Gate("check two"),)))
WRITE = {"name": "write_file", "args": {"path": "two.py", "text": "two = 2\n"}}
RULES: list[dict[str, object]] = [
    {"match": "# Ticket ", "tool_calls": [WRITE]},
    {"match": "Changes requested", "tool_calls": [WRITE]},
    {"match": "", "reply": "written"},
]


def make_world() -> World:
    world = World(policy=Ask())
    world.rules = RULES
    world.workspaces.more_diff = "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-1\n+2\n"
    return world


def _answer(state: State, approval: Approval) -> AnswerApproval:
    """One round of changes and then parts for the worker's ticket; parts and then changes for the landing."""
    match approval.payload:
        case ReviewPayload(round=1) if approval.ticket == "two":
            return AnswerApproval(approval.id, "changes", comments=(Comment("two.py", "why?"),))
        case ReviewPayload() if approval.ticket == "two":
            return AnswerApproval(approval.id, "approve", hunks=(1,))
        case MergePayload(after="after") if "changes-1" not in state.tracks["a"].tickets:
            return AnswerApproval(approval.id, "changes", message="once more")
        case _:
            return AnswerApproval(approval.id, "approve")


async def _live(world: World) -> None:
    async with world.process(autonomy="review", contained=True) as process:
        if "a" not in process.state.tracks:
            await process.run(*TICKETS)
        elif process.state.tracks["a"].status == "ready":
            await process.workbench.submit(ANN, StartTrack("a"))
        while True:
            state = await process.until(lambda s: bool(s.pending) or _rests(s))
            track = state.tracks["a"]
            if track.landing is not None and track.landing.state == "landed":
                return
            if not state.pending:
                await _ask_landing(process, world)
            for approval in process.state.pending_approvals():
                try:
                    await process.workbench.submit(ANN, _answer(process.state, approval))
                except Rejected:
                    continue


async def _ask_landing(process: Process, world: World) -> None:
    with suppress(Rejected):  # it is asked by itself
        await ask_landing(process.workbench, world.workspaces, ANN, "a", world.gates)


def _rests(state: State) -> bool:
    track = state.tracks["a"]
    under_way = track.landing is not None and track.landing.state in ("started", "parts", "changes")
    return track.status == "done" and not under_way


def _world_after_a_crash(at: int | None, *, after_writing: bool) -> World:
    async def lives() -> World:
        world = make_world()
        world.journal.at, world.journal.after_writing = at, after_writing
        try:
            await _live(world)
        except JournalError:
            world.journal.at = None
            await _live(world)
        return world

    return asyncio.run(lives())


def _events() -> int:
    return _world_after_a_crash(None, after_writing=False).journal.head().version


def _check(world: World) -> None:
    records = list(world.journal.read())
    state = replay(records)
    assert {ticket.status for ticket in state.tracks["a"].tickets.values()} == {"completed"}
    assert sorted(world.workspaces.published) == ["changes-1", "one", "two"], "each merged exactly once"
    assert world.workspaces.landed == ["after"]
    assert sum(isinstance(record.event, TrackLanded) for record in records) == 1
    answered = [record.event.approval for record in records if isinstance(record.event, ApprovalAnswered)]
    assert len(answered) == len(set(answered)), "each approval is answered once"
    two = state.tracks["a"].tickets["two"]
    assert two.taken.endswith("-1"), "only the accepted part was merged"
    kinds = [approval.kind for approval in state.approvals.values() if approval.ticket is None]
    assert kinds.count("merge") in (2, 3)
    assert encode_state(state) == encode_state(replay(world.journal.read()))


def test_without_a_crash_every_answer_is_carried_out() -> None:
    _check(_world_after_a_crash(None, after_writing=False))


@pytest.mark.parametrize("after_writing", [False, True])
def test_a_crash_at_any_event_of_a_review_loses_and_repeats_nothing(after_writing: bool) -> None:
    for at in range(1, _events() + 1):
        _check(_world_after_a_crash(at, after_writing=after_writing))
