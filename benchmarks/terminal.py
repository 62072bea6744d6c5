"""The terminal workbench: the start, the answer to a key under load, and the memory of a long stream."""

import asyncio
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tracemalloc
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.samples import Data, say, take
from benchmarks.table import Row, at_most, attempt, seconds

GROUP = "terminal"
TICKETS, LINES = 10_000, 1_000_000
KEY_S, FIRST_S = 0.05, 0.6


def rows(*, quick: bool) -> list[Row]:
    tickets, lines, keys = (2_000, 100_000, 20) if quick else (TICKETS, LINES, 60)
    loads = (
        ("board", f"a key on the board, {tickets:,} tickets"),
        ("stream", f"a key beside a stream, {lines:,} lines"),
    )
    made: list[Row] = []
    for load, what in loads:
        say(f"terminal: {what}")
        made += attempt(GROUP, what, lambda load=load, what=what: _key_row(what, load, tickets, lines, keys))
    say("terminal: start to first screen")
    made += attempt(GROUP, "start to first screen", lambda: _first_row(3 if quick else 7))
    return made


def _key_row(what: str, load: str, tickets: int, lines: int, keys: int) -> Row:
    took = take("benchmarks.terminal:answered", load=load, tickets=tickets, lines=lines, keys=keys)
    row = Row(GROUP, what, f"{seconds(took['median'])}, at most {seconds(took['worst'])}")
    row.reach = f"< {seconds(KEY_S)}"
    row.value, row.ok = at_most(KEY_S, took["median"])
    row.note = "CPU time until the screen is drawn, above a key that does nothing"
    if "grown" in took:
        row.note += f"; {took['grown'] / 1e6:+.1f} MB over the second half of the stream"
    return row


def _first_row(times: int) -> Row:
    samples = [take("benchmarks.terminal:first_screen") for _ in range(times)]
    took, cpu = (median(one[key] for one in samples) for key in ("first", "cpu"))
    row = Row(GROUP, "start to first screen", f"{seconds(took)}, {seconds(cpu)} of CPU")
    row.reach = f"< {seconds(FIRST_S)}"
    row.value, row.ok = at_most(FIRST_S, took)
    row.note = f"from the start of the process until the frames of the panels are written, median of {times}"
    return row


# ── in a separate process ────────────────────────────────────────────────────────────────


def answered(load: str, tickets: int, lines: int, keys: int) -> Data:
    return asyncio.run(_answered(load, tickets, lines, keys))


async def _answered(load: str, tickets: int, lines: int, keys: int) -> Data:
    from tests.tui.still import StillBench, shown

    found: Data = {}
    async with shown(StillBench(_state(tickets if load == "board" else 10)), size=(200, 50)) as screen:
        app: Any = screen.app
        if load == "stream":
            key = "Tier 3 (Worker): T-1"
            half = 0
            tracemalloc.start()
            for part in range(lines // 1_000):
                app.feed.text(key, "a line of a log, as long as lines of logs are, with some words in it\n" * 1_000)
                if part % 20 == 0:
                    await screen.pilot.pause()
                if part == lines // 2_000:
                    half = tracemalloc.get_traced_memory()[0]
            while app.feed.has_backlog:
                await screen.pilot.pause()
            found["grown"] = tracemalloc.get_traced_memory()[0] - half
            tracemalloc.stop()
            await screen.press("4", "right_square_bracket", "f")
        else:
            await screen.press("2")
        took: dict[str, list[float]] = {"keys": [], "nothing": []}
        for number in range(2 * keys):  # in turns: a key, and one that does nothing, which is the cost of the pilot
            what = ("keys", "nothing")[number % 2]
            key = ("pagedown", "j", "pageup", "k")[number // 2 % 4] if what == "keys" else "ctrl+y"
            begun = time.process_time()
            await screen.pilot.press(key)
            took[what].append(time.process_time() - begun)
        idle = median(took["nothing"])
        return found | {"median": median(took["keys"]) - idle, "worst": max(took["keys"]) - idle}


def _state(tickets: int) -> Any:
    from immutables import Map

    from interlock.domain.state.schedule import build
    from interlock.domain.state.state import State
    from interlock.domain.state.tracks import Counts, Track
    from interlock.domain.values.tickets import Ticket, TicketSpec

    at = "2026-01-01T00:00:00.000000Z"
    made = {
        f"T-{number}": Ticket(
            track="big",
            spec=TicketSpec(
                id=f"T-{number}",
                description=f"Change number {number}",
                depends_on=(f"T-{number // 3}",) if number else (),
            ),
            created_at=at,
        )
        for number in range(tickets)
    }
    order = tuple(made)
    track = Track(
        id="big",
        title="A big track",
        description="",
        status="running",
        created_at=at,
        updated_at=at,
        order=order,
        tickets=Map(made),
        counts=Counts(todo=tickets),
        schedule=build(order, made),
    )
    return State(version=1, tracks=Map({"big": track}), track_order=("big",), running=("big",))


def first_screen() -> Data:
    """The real program in a pseudo-terminal, until it has drawn the frame of the inbox."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/var/tmp") as place:
        root = Path(place, "project")
        root.mkdir()
        names = {"HOME": place, "XDG_STATE_HOME": f"{place}/state", "XDG_CONFIG_HOME": f"{place}/config"}
        env = {**os.environ, **names, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        words = (sys.executable, "-m", "interlock.cli.main")
        subprocess.run((*words, "init"), cwd=root, env=env, capture_output=True, check=True)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        begun = time.perf_counter()
        process = subprocess.Popen(
            (*words, "tui"), cwd=root, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        seen = b""
        try:
            while "╰".encode() not in seen:
                if not select.select([ours], [], [], 30)[0]:
                    raise TimeoutError("no screen was drawn in 30 s")
                seen += os.read(ours, 65536)
            first = time.perf_counter() - begun
        finally:
            process.kill()
            used = os.wait4(process.pid, 0)[2]
            process.returncode = -9
            os.close(ours)
        return {"first": first, "cpu": used.ru_utime + used.ru_stime}
