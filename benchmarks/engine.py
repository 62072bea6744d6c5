"""The real engine and journal with no-op work: this measures the cost of scheduling."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.samples import Data, Watch
from interlock.assembly.build import RandomIds, SystemClock, tune_process
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.engine.effects.conductor import Conductor
from interlock.journal.sqlite import SqliteJournal
from interlock.ports.work import Assignment, Crew, Done, Failed, LastCheck, PolicyVerdict, Prepared

WORKERS = 128
WIDTH = 100
ACTOR = "human:bench"


class NoGit:
    """The part of workspaces that the conductor uses when tickets change nothing."""

    async def start_track(self, track: str) -> str:
        return "base"

    async def merged_tickets(self, track: str) -> frozenset[str]:
        return frozenset()

    async def sweep(self, live: frozenset[tuple[str, str]]) -> None:
        pass

    async def close(self) -> None:
        pass


class Idle:
    """A crew whose work ends immediately."""

    _terms = ScriptPayload("true", "/", (), "off")

    def prepare(self, assignment: Assignment) -> Prepared:
        return Prepared(self._terms, self._run)

    async def make_ready(self, assignment: Assignment) -> Failed | None:
        return None

    async def _run(self, approved: str, last_check: LastCheck | None) -> Done:
        return Done(None)


class FixedPolicy:
    def __init__(self, verdict: str) -> None:
        self._verdict = PolicyVerdict(verdict, "", "")

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        return self._verdict

    def tool(self, name: str) -> PolicyVerdict:
        return self._verdict


@asynccontextmanager
async def opened(folder: str, *, workers: int, policy: FixedPolicy, crew: Crew | None = None):
    """A workbench with a conductor, built as the application builds it."""
    tune_process()
    clock = SystemClock()
    journal = SqliteJournal(Path(folder) / ".interlock")
    workbench = Workbench(journal, clock, RandomIds(), load_state(journal))
    conductor = Conductor(workbench, NoGit(), crew or Idle(), None, policy, clock)
    await conductor.start(StartConductor(workers=workers, auto_queue=True))
    try:
        yield workbench
    finally:
        await conductor.stop("the benchmark is over")
        await workbench.close()


async def until(workbench: Workbench, holds: Callable[[], bool]) -> None:
    following = workbench.follow(workbench.state.version)
    while not holds():
        await following.next()
    following.close()


def why_blocked(workbench: Workbench, track: str) -> str:
    reasons = (ticket.blocked_reason for ticket in workbench.state.tracks[track].tickets.values())
    return next((reason for reason in reasons if reason), "the track is not done")


def layers(count: int, width: int = WIDTH) -> list[list[int]]:
    """For each ticket up to three tickets of the previous layer; the same for Interlock and every peer."""
    rng = random.Random(count)
    return [
        sorted({(number // width - 1) * width + rng.randrange(width) for _ in range(3)}) if number >= width else []
        for number in range(count)
    ]


def specs(count: int) -> tuple[TicketSpec, ...]:
    ids = [f"T-{number:06d}" for number in range(count)]
    return tuple(
        TicketSpec(id=ids[number], assigned_to="shell", script="true", depends_on=tuple(ids[other] for other in needs))
        for number, needs in enumerate(layers(count))
    )


# ── in a separate process ────────────────────────────────────────────────────────────────


def run(folder: str, count: int, tracks: int = 1, workers: int = WORKERS) -> Data:
    """Import and run `tracks` tracks of `count` no-op tickets, one after the other."""
    return asyncio.run(_run(folder, count, tracks, workers))


async def _run(folder: str, count: int, tracks: int, workers: int) -> Data:
    tickets = specs(count)
    imported, ran = {"wall": 0.0, "cpu": 0.0}, {"wall": 0.0, "cpu": 0.0}
    async with opened(folder, workers=workers, policy=FixedPolicy("allow")) as workbench:
        for number in range(tracks):
            name = f"track-{number}"
            watch = Watch()
            await workbench.submit(ACTOR, AddTrack(name, name, "", tickets))
            _add(imported, watch.read())
            watch = Watch()
            await workbench.submit(ACTOR, StartTrack(name))
            await until(workbench, lambda: workbench.state.tracks[name].status != "running")  # noqa: B023  used at once
            if workbench.state.tracks[name].status != "done":
                raise AssertionError(why_blocked(workbench, name))
            _add(ran, watch.read())
        version = workbench.state.version
        watch = Watch()
    closed = watch.read()
    total = count * tracks
    return {
        "import_wall": imported["wall"] / total,
        "import_cpu": imported["cpu"] / total,
        "run_wall": ran["wall"] / total,
        "run_cpu": ran["cpu"] / total,
        "rate": total / ran["wall"],
        "close_wall": closed["wall"],
        "events": version,
    }


def open_again(folder: str, checkpoint: bool) -> Data:
    """Opens the journal for writing and loads its state, like every start."""
    watch = Watch()
    journal = SqliteJournal(Path(folder) / ".interlock")
    state = load_state(journal, use_checkpoint=checkpoint)
    took = watch.read()
    tickets = sum(track.total for track in state.tracks.values())
    journal.close()
    return {**took, "events": state.version, "tickets": tickets}


def die(folder: str, count: int, after: int) -> Data:
    """Runs a process that kills itself after `after` completed tickets."""
    pid = os.fork()
    if not pid:
        asyncio.run(_die(folder, count, after))
    _, status = os.waitpid(pid, 0)
    return {"code": os.waitstatus_to_exitcode(status)}


async def _die(folder: str, count: int, after: int) -> None:
    async with opened(folder, workers=WORKERS, policy=FixedPolicy("allow")) as workbench:
        await workbench.submit(ACTOR, AddTrack("cut", "cut", "", specs(count)))
        await workbench.submit(ACTOR, StartTrack("cut"))
        await until(workbench, lambda: workbench.state.tracks["cut"].counts.completed >= after)
        os.kill(os.getpid(), signal.SIGKILL)


def recover(folder: str) -> Data:
    """Measures from opening the journal until the conductor runs again."""
    return asyncio.run(_recover(folder))


async def _recover(folder: str) -> Data:
    watch = Watch()
    async with opened(folder, workers=WORKERS, policy=FixedPolicy("allow")) as workbench:
        took = watch.read()
        begun = time.perf_counter()
        completed = workbench.state.tracks["cut"].counts.completed
        await until(workbench, lambda: workbench.state.tracks["cut"].counts.completed > completed)
        first = time.perf_counter() - begun
    return {**took, "first": took["wall"] + first}


def _add(total: dict[str, float], more: Data) -> None:
    for key in total:
        total[key] += more[key]
