"""Checks a journal: never more workers than configured, and none idle while a ticket is ready."""

from collections.abc import Iterable
from itertools import groupby

from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State


def most_at_once(records: Iterable[Recorded]) -> int:
    """Checks every batch; returns the largest number of workers that ran at the same time."""
    state, most = State(), 0
    for _, batch in groupby(records, lambda recorded: recorded.cause):
        for recorded in batch:
            state = evolve(state, recorded)
            most = max(most, state.busy)
            if state.conductor.on:
                assert state.busy <= state.conductor.workers, (
                    f"version {recorded.version}: more workers than configured"
                )
        if state.conductor.on and state.busy < state.conductor.workers:
            assert not startable_tickets(state), f"version {state.version}: a worker is idle"
    return most


def startable_tickets(state: State) -> list[str]:
    """Tickets that wait only for a worker."""
    running = [track for track in state.tracks.values() if track.status == "running"]
    heaps = [heap for track in running for heap in (track.schedule.ready, track.schedule.cleared)]
    return [heap[2] for heap in heaps if heap is not None]
