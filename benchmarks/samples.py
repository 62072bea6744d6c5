"""Each measurement runs in its own process, so that no heap, cache or thread of another one disturbs it.

`take("benchmarks.dag:contest", count=…)` runs that function in a new interpreter and returns its plain data. A failure
or a timeout raises Unavailable with the reason.
"""

import contextlib
import importlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"

Data = dict[str, Any]


class Unavailable(Exception):
    """A measurement that is not possible on this machine; the text is the reason."""


class MissingTool(Unavailable):
    """A program that the measurement needs is not installed: nothing of ours is missed."""


def take(target: str, *, limit_s: float = 600, **arguments: Any) -> Data:
    read_end, write_end = os.pipe()
    with tempfile.TemporaryFile() as output, os.fdopen(read_end, "rb") as answers:
        try:
            child = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.samples", target, json.dumps(arguments), str(write_end)],
                cwd=HERE.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(write_end,),
                start_new_session=True,
            )
        finally:
            os.close(write_end)
        try:
            answer = _read_all(answers.fileno(), limit_s)
            code = child.wait(timeout=30)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise Unavailable(f"not finished after {limit_s:.0f} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # including the processes it left behind
            child.wait()
        if not answer:
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
            raise Unavailable(lines[-1] if lines else f"the process ended with {code}")
    return json.loads(answer)


def alternating(
    takes: Mapping[str, Callable[[], Data]], times: int, *, quietly: bool = False
) -> dict[str, list[Data] | Unavailable]:
    """Takes each sample `times` times, in alternating order; a failed one is not repeated."""
    results: dict[str, list[Data] | Unavailable] = {name: [] for name in takes}
    for turn in range(times):
        for name in list(takes) if turn % 2 == 0 else reversed(list(takes)):
            got = results[name]
            if isinstance(got, Unavailable):
                continue
            if not quietly:
                say(f"  {name}, {turn + 1} of {times}")
            try:
                got.append(takes[name]())
            except Unavailable as why:
                say(f"    not available: {why}")
                results[name] = why
    return results


def middle(samples: list[Data] | Unavailable, key: str) -> float:
    if isinstance(samples, Unavailable):
        raise samples
    return median(one[key] for one in samples)


class Watch:
    """Wall and CPU time of this process (all threads) from the constructor to `read`."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Data:
        return {"wall": time.perf_counter() - self._wall, "cpu": time.process_time() - self._cpu}


class Memory:
    """Peak memory of this process from the constructor to `read`, above the memory at the start."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        self._before = _status("VmRSS")

    def read(self) -> Data:
        return {"mb": (_status("VmHWM") - self._before) / 1024}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder on the repository's disk: in memory an fsync would be free."""
    RESULTS.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="work-", dir=RESULTS, ignore_cleanup_errors=True)


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _read_all(fd: int, limit_s: float) -> bytes:
    end = time.monotonic() + limit_s
    answer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while True:
            if not selector.select(max(end - time.monotonic(), 0)):
                raise TimeoutError
            if not (chunk := os.read(fd, 65536)):
                return answer
            answer += chunk


def _main(target: str, arguments: str, fd: str) -> None:
    os.set_inheritable(int(fd), False)
    module, _, function = target.partition(":")
    try:
        answer = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    except ImportError as missing:
        sys.exit(f"{missing}")
    with os.fdopen(int(fd), "w") as answers:
        json.dump(answer, answers)


if __name__ == "__main__":
    _main(*sys.argv[1:])
