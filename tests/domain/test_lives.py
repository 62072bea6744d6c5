"""Random runs of random tracks: invariants under any order of worker reports, answers and crashes."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from interlock import wire
from interlock.domain.state import schedule as scheduling
from interlock.domain.state.priority_heap import Heap, pop
from interlock.domain.state.schedule import Schedule
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.step import replay
from interlock.domain.values.tickets import BUSY
from tests.domain.chaos import Chaos, no_start_before_its_dependencies

ROOT = Path(__file__).parents[2]
SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_no_ticket_starts_before_its_dependencies_and_no_worker_has_two(seed: int) -> None:
    def check(before: State, after: State, event: object) -> None:
        no_start_before_its_dependencies(before, after, event)
        busy = [
            ticket
            for track in after.tracks.values()
            for ticket in track.tickets.values()
            if isinstance(ticket.stage, BUSY)
        ]
        assert after.busy == len(busy) <= chaos.workers

    chaos = Chaos(Random(seed), check)
    chaos.live()


@given(SEEDS)
def test_every_reachable_ticket_ends_and_so_does_the_track(seed: int) -> None:
    chaos = Chaos(Random(seed))
    chaos.live()
    for track in chaos.bench.state.tracks.values():
        completed = {name for name in track.order if track.tickets[name].status == "completed"}
        for name in track.order:
            ticket = track.tickets[name]
            if completed.issuperset(ticket.spec.depends_on):
                assert ticket.status in ("completed", "blocked", "cancelled"), ticket
        if track.status != "aborted":
            assert track.status == ("done" if len(completed) == track.total else "blocked")
    assert chaos.bench.state.busy == 0
    assert chaos.bench.state.pending_approvals() == ()


@given(SEEDS)
def test_a_replay_of_the_records_is_the_live_state_byte_for_byte(seed: int) -> None:
    chaos = Chaos(Random(seed))
    chaos.live()
    live = wire.encode_state(chaos.bench.state)
    assert wire.encode_state(replay(chaos.bench.records)) == live
    assert wire.encode_state(replay(wire.decode_recorded(wire.encode(r)) for r in chaos.bench.records)) == live
    assert wire.encode_state(wire.decode_state(live)) == live


@given(SEEDS, st.integers(0, 60))
def test_a_replay_can_go_on_from_a_checkpoint_anywhere(seed: int, steps: int) -> None:
    chaos = Chaos(Random(seed))
    chaos.live(steps // 2)
    middle = min(steps, len(chaos.bench.records))
    checkpoint = wire.decode_state(wire.encode_state(replay(chaos.bench.records[:middle])))
    gone_on = replay(chaos.bench.records[middle:], checkpoint)
    assert wire.encode_state(gone_on) == wire.encode_state(chaos.bench.state)
    assert derived(gone_on) == derived(chaos.bench.state)


@given(SEEDS)
def test_incrementally_derived_state_equals_a_rebuild(seed: int) -> None:
    seen: list[State] = []
    chaos = Chaos(Random(seed), lambda before, after, event: seen.append(after))
    chaos.live(25)
    for state in seen:
        assert derived(state) == derived(wire.decode_state(wire.encode_state(state)))


def test_two_hash_seeds_give_the_same_bytes() -> None:
    expected = fingerprint()
    for seed in ("1", "4242"):
        code = "from tests.domain.test_lives import fingerprint; print(fingerprint())"
        process = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert process.stdout.strip() == expected


def fingerprint() -> str:
    """A digest of every record and every final state of twenty random runs."""
    total = sha256()
    for seed in range(20):
        chaos = Chaos(Random(seed))
        chaos.live()
        for recorded in chaos.bench.records:
            total.update(wire.encode(recorded))
        total.update(wire.encode_state(chaos.bench.state))
    return total.hexdigest()


def derived(state: State) -> object:
    """All derived state in a comparable form."""
    return (
        state.busy,
        state.running,
        sorted(state.pending.items()),
        state.next_approval_id(),
        [(name, state.tracks[name].counts, _schedule(state.tracks[name])) for name in state.track_order],
    )


def _schedule(track: Track) -> object:
    schedule = scheduling.current(track.schedule, track.order, track.tickets)
    heaps = [_valid(place, getattr(schedule, place), schedule, track) for place in ("ready", "steps", "cleared")]
    return (
        dict(schedule.positions),
        dict(schedule.dependants),
        dict(schedule.waiting),
        schedule.startable,
        heaps,
        [ticket.id for ticket in track.executable()],
    )


def _valid(place: str, heap: Heap, schedule: Schedule, track: Track) -> list[str]:
    """The ids of a heap's current entries in order; the top entry must be current."""
    valid_ids: list[str] = []
    first = True
    while heap is not None:
        ticket = track.tickets[heap[2]]
        holds = scheduling.heap_name(ticket) == place and heap[1] == scheduling.sort_key(schedule, ticket)
        assert holds or not first, "the top of a heap is out of date"
        if holds and ticket.id not in valid_ids:
            assert ticket.id not in schedule.waiting
            valid_ids.append(ticket.id)
        heap, first = pop(heap), False
    return valid_ids
