"""The gRPC harness on the null backend: frames between a click and its assertion, round trips per second, and the delay
of a click while four models stream.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.samples import Data, folder, say, take
from benchmarks.table import Row, at_least, at_most

GROUP = "harness"
FRAMES, TRIPS, LAG_MS = 12, 60.0, 100.0


def rows(*, quick: bool) -> list[Row]:
    say("harness: clicks and what is asserted of them, over gRPC")
    with folder() as place:
        measured = take("benchmarks.harness:driving", folder=place, trips=100 if quick else 600, limit_s=120)
    say("harness: clicks while models stream")
    with folder() as place:
        lag = take("benchmarks.harness:lagging", folder=place, clicks=40 if quick else 200, limit_s=120)
    frames = Row(GROUP, "click → asserted, median", f"{measured['frames']:.0f} frames", reach=f"≤ {FRAMES} frames")
    frames.value, frames.ok = at_most(FRAMES, measured["frames"])
    frames.note = f"p99 {measured['frames_p99']:.0f}; both are tests, recorded with fsync"
    trips = Row(GROUP, "click + assert, one client", f"{measured['trips']:.0f}/s", reach=f"≥ {TRIPS:.0f}/s")
    trips.value, trips.ok = at_least(TRIPS, measured["trips"])
    shown = Row(
        GROUP,
        "4 streams, a model call of 10 s: from a click to what it shows, p99",
        f"{lag['lag_ms']:.1f} ms",
        reach=f"< {LAG_MS:.0f} ms",
    )
    shown.value, shown.ok = at_most(LAG_MS, lag["lag_ms"])
    shown.note = f"median {lag['median_ms']:.1f} ms; real input by the test engine"
    return [frames, trips, shown]


def driving(folder: str, trips: int) -> Data:
    root = Path(folder) / "project"
    root.mkdir()
    words = ("gui", "-C", str(root), "--backend", "null", "--enable-test-harness", "--test-harness-port", "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock.cli.main", *words],
        cwd=root,
        env={**os.environ, "XDG_STATE_HOME": str(Path(folder) / "state")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("test harness at"):
            break
    from interlock.uitest.calls import Calls

    given = json.loads((root / ".interlock" / "run" / "harness.json").read_text())
    ids: list[tuple[str, str]] = []
    with Calls(given["host"], given["port"], given["token"]) as calls:
        for _ in range(10):
            calls.click("window:Inbox", "left", "")
        begun = time.perf_counter()
        for number in range(trips):
            title = "Dashboard" if number % 2 else "Provider"
            clicked = calls.click(f"window:{title}", "left", "")
            held = calls.check(f"window_visible:{title}", "", "")
            assert clicked.success, clicked.message
            assert held.success, held.message
            ids.append((clicked.test_id, held.test_id))
        wall = time.perf_counter() - begun
        frames = [calls.frames(click) + calls.frames(check) for click, check in ids]
    process.terminate()
    process.wait(20)
    return {"trips": trips / wall, "frames": median(frames), "frames_p99": quantiles(frames, n=100)[98]}


def lagging(folder: str, clicks: int) -> Data:
    import asyncio

    from benchmarks.window import _loop, _service, _stream  # pyright: ignore[reportPrivateUsage]
    from interlock.assembly.window import make_window
    from interlock.desk.authority import Authority
    from interlock.uitest.input_driver import InputDriver
    from interlock.uitest.simulated_input import Click
    from interlock.uitest.targets import read_condition, read_target

    service = _service(folder, [{"match": "", "reply": "x " * 2_000, "delay_s": 10}])
    opened = service.open()
    hands = InputDriver()
    window = make_window(service, "human:bench", backend="null", settings=None, hooks=False, driver=hands)
    window.open()
    window.draw_once()
    window.send.set_value("ai_input", "talk")
    window.send.click("btn_gen_send")
    streaming = asyncio.run_coroutine_threadsafe(_stream(opened.streams, 600), service.start(_loop()).result())
    took: list[float] = []
    by = Authority("test:bench_10000000", answers=False, places=False)

    def work() -> None:
        for number in range(clicks):
            title = "Usage" if number % 2 else "Tickets"
            threading.Event().wait(0.02)  # not synchronous with the frames
            begun = time.perf_counter()
            seen: Any = hands.watch(read_condition(f"window_visible:{title}"), 10)
            done: Any = hands.act(Click(read_target(f"window:{title}")), by, lambda: None)
            assert seen.result(20).verdict.holds
            took.append((time.perf_counter() - begun) * 1_000)
            assert done.result(20).success
        window.end()

    worker = threading.Thread(target=work)
    worker.start()
    window.run()
    worker.join()
    streaming.cancel()
    service.stop()
    return {"lag_ms": quantiles(took, n=100)[98], "median_ms": median(took)}
