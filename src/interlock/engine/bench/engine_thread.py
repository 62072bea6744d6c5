"""The engine's own thread: one asyncio loop that other threads submit work to."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

ENDING_S = 1.5
"""How long cancelled tasks may clean up at the end."""


class EngineThread:
    """Must outlive the work: a sandbox dies with the thread that started it."""

    def __init__(self) -> None:
        made: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=_run_loop, args=(made,), name="engine", daemon=True)
        self._thread.start()
        self._loop = made.result()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the engine's loop and waits for it. An interrupt cancels it."""
        future = self.start(work)
        try:
            _wait(future)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Cancels all tasks and gives them a moment to clean up."""
        self.call(_settle())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _wait(future: "Future[Any]") -> None:
    """Waits in C. `Future.result` waits on a condition: a signal whose handler raises there can leave its lock released
    and then ends in "cannot release un-acquired lock"."""
    done: SimpleQueue[None] = SimpleQueue()
    future.add_done_callback(lambda _: done.put(None))
    done.get()


def _run_loop(made: "Future[asyncio.AbstractEventLoop]") -> None:
    """Makes the loop in its own thread: a signal interrupts only the main thread, and half a loop cannot be closed."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    made.set_result(loop)
    loop.run_forever()


async def _settle() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=ENDING_S)
