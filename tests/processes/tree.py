"""Processes as /proc shows them: parents, descendants, states."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def ancestors_up_to_launcher(pid: int) -> list[int]:
    """The process and its ancestors; the last one is the launcher of the sandbox."""
    chain = [pid]
    while b"\0launcher\0" not in command_line(chain[-1]) or b"\0launcher\0" in command_line(parent(chain[-1])):
        chain.append(parent(chain[-1]))
        assert chain[-1] > 1, f"no launcher started process {pid}"
    return chain


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def running(words: bytes) -> list[int]:
    """The processes with these words in their command line, without this one."""
    found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in found if pid != os.getpid() and words in command_line(pid)]


def catches(pid: int, number: int) -> bool:
    """Whether the process has a handler for this signal."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Polls: the kernel sends no notification about other processes."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        threading.Event().wait(0.01)


def stop(pid: int) -> None:
    """Stops a process, and waits until all of its threads stand still: the signal alone returns earlier.

    A process that has ended meanwhile is left alone.
    """
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(state in "TtZX" for state in _thread_states(pid)), f"process {pid} is stopped")


def _thread_states(pid: int) -> str:
    states = ""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):
            states += stat.read_text().rpartition(")")[2].split()[0]
    return states
