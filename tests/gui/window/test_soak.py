"""A long run of the window: its memory does not grow. `make soak`"""

from pathlib import Path

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.tickets import TicketSpec
from tests.gui.bench import Bench, windowed

ROUNDS, WARM = 3_000, 1_000


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4_096 / 1_000_000


def round_of(bench: Bench, number: int) -> None:
    """Streams, panel changes and answers, as in a working day."""
    for stream in range(4):
        lines = f"round {number}: {'word ' * 40}\n" * 100  # a stream is full after 400 rounds
        bench.window.feed.text(f"Tier 3 (Worker): T-{stream}", lines)
    tabs = (
        "graph",
        "timeline",
        "tests",
        "usage",
        "diagnostics",
        "streams",
        "message",
        "provider",
        "dashboard",
        "inbox",
    )
    bench.show(tabs[number % len(tabs)])
    if number % 20 == 0:
        name = f"track-{number}"
        ticket = TicketSpec(id="T-1", assigned_to="shell", script="true")
        bench.submit(AddTrack(name, f"Round {number}", "", (ticket,)))
        bench.submit(StartTrack(name))
        for approval in bench.state.pending_approvals():
            bench.submit(AnswerApproval(approval.id, "reject", message="not today"))
    bench.draw(6)


@pytest.mark.soak
def test_memory_is_flat_over_a_long_time() -> None:
    with windowed() as bench:
        bench.submit(StartConductor(workers=4))
        for number in range(WARM):
            round_of(bench, number)
        before = resident_mb()
        for number in range(WARM, ROUNDS):
            round_of(bench, number)
        after = resident_mb()
        assert bench.window.broken_panels() == {}
        # The journal of this test is in memory and grows: a few kilobytes for each of 120 tracks.
        assert after - before < 30, f"{before:.0f} MB, then {after:.0f} MB"
