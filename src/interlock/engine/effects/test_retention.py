"""Forgets test executions beyond the configured limits and removes their screenshots. The journal keeps its rows.

Forgetting is an event, not a rule of the state: settings may change, but a replay must give the same state.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.test_history_commands import ForgetTests
from interlock.domain.messages.envelopes import SYSTEM, Actor, Recorded
from interlock.domain.messages.events.test_history_events import TestExecuted
from interlock.domain.state.state import State
from interlock.domain.values.test_history import History
from interlock.errors import InterlockError
from interlock.ports.front import Receipt
from interlock.ports.journal import Clock

_SLACK = 100  # forgets in batches: only when the limit is exceeded by a hundredth


class RetentionWorkbench(Protocol):
    @property
    def state(self) -> State: ...

    async def submit(self, actor: Actor, command: Command) -> Receipt: ...


class Retention:
    def __init__(
        self,
        bench: RetentionWorkbench,
        clock: Clock,
        keep: int,
        keep_days: int,
        remove: Callable[[tuple[str, ...]], None],
    ) -> None:
        """`remove` deletes the artefacts at these paths and outdated ones; it runs in a thread."""
        self._bench = bench
        self._clock = clock
        self._keep = keep
        self._days = timedelta(days=keep_days)
        self._remove = remove
        self._known = bench.state.tests
        self._forgetting = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Forgets executions that exceeded a limit while no process ran."""
        await self._forget(0)
        self._in_background(asyncio.to_thread(self._remove, ()))

    async def close(self) -> None:
        """Waits at most a second for deletions: a disk may hang."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                while self._tasks:
                    await asyncio.wait(tuple(self._tasks))

    def react(self, records: Sequence[Recorded], state: State) -> None:
        """Called after each durable batch."""
        before, self._known = self._known, state.tests
        if before is state.tests:
            return
        if gone := _forgotten_screenshots(before, records, state.tests):
            self._in_background(asyncio.to_thread(self._remove, gone))
        if not self._forgetting and self._due(state.tests, self._keep // _SLACK):
            self._forgetting = True
            self._in_background(self._forget(self._keep // _SLACK))

    async def _forget(self, slack: int) -> None:
        try:
            if self._due(self._bench.state.tests, slack):
                await self._bench.submit(SYSTEM, ForgetTests(self._keep, self._oldest_moment()))
        except InterlockError:  # the journal cannot be written: the next command reports it
            return
        finally:
            self._forgetting = False

    def _due(self, tests: History, slack: int) -> bool:
        oldest = tests.kept.get(tests.oldest)
        return oldest is not None and (len(tests.kept) > self._keep + slack or oldest.at < self._oldest_moment())

    def _oldest_moment(self) -> str:
        moment = datetime.fromisoformat(self._clock.now()) - self._days
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _forgotten_screenshots(before: History, records: Sequence[Recorded], after: History) -> tuple[str, ...]:
    """Screenshots of executions that were kept before, or are new in these records, and are forgotten now."""
    numbers = range(before.oldest, min(before.count + 1, after.oldest))
    forgotten = [before.kept[number].execution for number in numbers]
    forgotten += [
        recorded.event.execution
        for recorded in records
        if isinstance(recorded.event, TestExecuted) and after.ids[recorded.event.execution.test_id] < after.oldest
    ]
    return tuple(execution.screenshot_path for execution in forgotten if execution.screenshot_path)
