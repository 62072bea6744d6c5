"""A pool of processes that make views. The parser holds the GIL, so threads would not help.

The only place outside `sandbox` that starts processes (docs/decisions/0005): they run our own code on bytes, start no
program, and end with this process.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, NamedTuple, Self

from interlock.codeviews.views.view import Kind

if TYPE_CHECKING:
    from interlock.codeviews.folders.one import Made, Task

_PR_SET_PDEATHSIG = 1


class Pool:
    """Starts its processes at first use, and again after a crash."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None
        self._works: bool | None = None
        self._apart: Pool | None = None

    def is_usable(self) -> bool:
        """True if processes can be started. They cannot from a script without a main guard, for example."""
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
        if self._apart is not None:
            self._apart._close()

    def run(self, kind: Kind, chunks: "Sequence[Sequence[Task]]") -> "Iterator[list[Made] | None]":
        """The results of the chunks, in order; None for a chunk that was not done when a process died.

        Work begins at once, not when the first result is read.
        """
        return self._outcomes(kind, chunks, [self._submit(kind, chunk) for chunk in chunks])

    def _outcomes(
        self, kind: Kind, chunks: "Sequence[Sequence[Task]]", given: "list[_Given]"
    ) -> "Iterator[list[Made] | None]":
        for number in range(len(chunks)):
            done = self._outcome(given[number])
            yield done
            if done is None:
                given[number + 1 :] = [
                    one if _is_done(one.future) else self._submit(kind, chunk)
                    for chunk, one in zip(chunks[number + 1 :], given[number + 1 :], strict=True)
                ]

    def run_alone(self, kind: Kind, task: "Task") -> "Made | None":
        """The result of one file in a separate process; None if that process died."""
        if self._apart is None:
            self._apart = Pool(1)
        done = self._apart._outcome(self._apart._submit(kind, [task]))
        return done[0] if done is not None else None

    def _outcome(self, given: "_Given") -> "list[Made] | None":
        try:
            return given.future.result()
        except (BrokenProcessPool, CancelledError):
            if self._executor is given.executor:  # else a new executor runs already
                self._close()
            return None

    def _submit(self, kind: Kind, chunk: "Sequence[Task]") -> "_Given":
        executor = self._running()
        try:
            return _Given(executor, executor.submit(_work, kind, list(chunk)))
        except BrokenProcessPool:
            self._close()
            executor = self._running()
            return _Given(executor, executor.submit(_work, kind, list(chunk)))

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            # Fork only without other threads: a fork would keep their locks for ever. Forks have the imports at once.
            alone = _is_single_threaded()
            if alone:
                _prepare()
            context = multiprocessing.get_context("fork" if alone else "spawn")
            self._executor = ProcessPoolExecutor(self._workers, context, _begin, (os.getpid(),))
        return self._executor

    def _close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None


class _Given(NamedTuple):
    """Submitted work and its executor: after a crash there is a new one."""

    executor: ProcessPoolExecutor
    future: "Future[list[Made]]"


def _is_single_threaded() -> bool:
    """By the kernel's count: libraries start threads that Python does not list."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _prepare() -> None:
    """Imports the modules that every process needs, before the fork."""
    import tree_sitter  # noqa: F401  # pyright: ignore[reportUnusedImport]

    from interlock.codeviews.folders import one  # noqa: F401  # pyright: ignore[reportUnusedImport]
    from interlock.codeviews.views import skeleton, tokens  # noqa: F401  # pyright: ignore[reportUnusedImport]

    tokens.load()


def _is_done(future: "Future[list[Made]]") -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _begin(parent: int) -> None:
    """End with the parent, also if it is killed. Leave Ctrl-C to the parent. Collect garbage rarely."""
    import ctypes
    import gc

    gc.freeze()  # trees and views have no cycles
    gc.set_threshold(50_000)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _work(kind: Kind, chunk: "list[Task]") -> "list[Made]":
    from interlock.codeviews.folders.one import make

    return [make(kind, *task) for task in chunk]
