"""The machine of the measurements, and its other load."""

import os
import platform
import resource
import sqlite3
import time
from pathlib import Path
from statistics import median

from benchmarks.samples import Data, folder


def describe() -> Data:
    cores = len(os.sched_getaffinity(0))
    disk, sync = _disk()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    text = (
        f"{cores} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}, {python},"
        f" SQLite {sqlite3.sqlite_version}, {disk}, one fsync {sync * 1000:.2f} ms"
    )
    return {"text": text, "cores": cores, "python": python, "file_system": disk, "fsync_s": sync}


class Contention:
    """The share of the machine that other processes used, from the constructor to `others`: 0 to 1."""

    def __init__(self) -> None:
        self._busy, self._all = _cpu()
        self._own = _own()

    def others(self) -> float:
        busy, everything = _cpu()
        passed = everything - self._all
        return max(0.0, (busy - self._busy - (_own() - self._own)) / passed) if passed else 0.0


def _cpu() -> tuple[float, float]:
    """Busy seconds and total seconds of all cores."""
    numbers = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    tick = os.sysconf("SC_CLK_TCK")
    return (sum(numbers) - numbers[3] - numbers[4]) / tick, sum(numbers) / tick


def _own() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _disk() -> tuple[str, float]:
    with folder() as place:
        kind = max(
            (line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()),
            key=lambda mount: len(mount[0]) if Path(place).is_relative_to(mount[0]) else -1,
        )[1]
        took: list[float] = []
        fd = os.open(Path(place) / "probe", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            for _ in range(30):
                os.write(fd, b"x" * 4096)
                begun = time.perf_counter()
                os.fsync(fd)
                took.append(time.perf_counter() - begun)
        finally:
            os.close(fd)
    return kind, median(took)
