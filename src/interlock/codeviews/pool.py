"""Processes that make views: the parser holds Python's lock, so threads would not help.

The one place outside `sandbox` that starts processes (docs/decisions/0005): they run our own code on bytes, start no
program, and end with us.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Self

from interlock.codeviews.view import Kind
from interlock.codeviews.walk import Found

if TYPE_CHECKING:
    from interlock.codeviews.one import Skipped, Viewed

_PR_SET_PDEATHSIG = 1


class Pool:
    """Started when it is first needed, and anew after a crash."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None
        self._works: bool | None = None

    def works(self) -> bool:
        """Can processes be started here at all? Not from a script that does not expect it, for example."""
        if self._works is None:
            try:
                self._works = self._running().submit(os.getpid).result() > 0
            except (BrokenProcessPool, OSError):
                self._works = False
                self._close()
        return self._works

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def run(
        self, kind: Kind, folder: str | None, chunks: Sequence[Sequence[Found]]
    ) -> "Iterator[list[Viewed | Skipped] | None]":
        """What each chunk came to, in order; None for one that was not done when a process died."""
        futures = [self._submit(kind, folder, chunk) for chunk in chunks]
        for number in range(len(chunks)):
            try:
                done = futures[number].result()
            except BrokenProcessPool:
                self._close()
                done = None
            yield done
            if done is None:
                futures[number + 1 :] = [
                    future if _is_done(future) else self._submit(kind, folder, chunk)
                    for chunk, future in zip(chunks[number + 1 :], futures[number + 1 :], strict=True)
                ]

    def run_alone(self, kind: Kind, folder: str | None, found: Found) -> "Viewed | Skipped | None":
        """None when its process died."""
        try:
            return self._submit(kind, folder, [found]).result()[0]
        except BrokenProcessPool:
            self._close()
            return None

    def _submit(self, kind: Kind, folder: str | None, chunk: Sequence[Found]) -> "Future[list[Viewed | Skipped]]":
        try:
            return self._running().submit(_work, kind, folder, list(chunk))
        except BrokenProcessPool:
            self._close()
            return self._running().submit(_work, kind, folder, list(chunk))

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            # Not forked: this process may have threads, and holds the terminal.
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._workers, context, _begin, (os.getpid(),))
        return self._executor

    def _close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None


def _is_done(future: "Future[list[Viewed | Skipped]]") -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _begin(parent: int) -> None:
    """Die with the one that started us, also when that is killed; leave Ctrl-C to it."""
    import ctypes

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _work(kind: Kind, folder: str | None, chunk: list[Found]) -> "list[Viewed | Skipped]":
    from interlock.codeviews.cache import Cache
    from interlock.codeviews.one import make

    cache = Cache(Path(folder)) if folder is not None else None
    return [make(kind, found, cache) for found in chunk]
