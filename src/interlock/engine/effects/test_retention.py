"""Tests beyond what the settings keep are forgotten, and their pictures removed (SPEC U5). The journal keeps its rows.

Forgetting is an event, not a rule of the state: settings may change, and a replay must not.
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

_SLACK = 100  # a hundredth more than the limit may come before all beyond it go at once


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
        """`remove` deletes the artefacts at these paths, and those that are too old; it runs in a thread."""
        self._bench = bench
        self._clock = clock
        self._keep = keep
        self._days = timedelta(days=keep_days)
        self._remove = remove
        self._known = bench.state.tests
        self._forgetting = False
        self._under_way: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """What came due while nobody was there."""
        await self._forget(0)
        self._soon(asyncio.to_thread(self._remove, ()))

    async def close(self) -> None:
        """What was begun is ended; a disk that hangs is not waited for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                while self._under_way:
                    await asyncio.wait(tuple(self._under_way))

    def react(self, records: Sequence[Recorded], state: State) -> None:
        """After records became durable."""
        before, self._known = self._known, state.tests
        if before is state.tests:
            return
        if gone := _left_behind(before, records, state.tests):
            self._soon(asyncio.to_thread(self._remove, gone))
        if not self._forgetting and self._due(state.tests, self._keep // _SLACK):
            self._forgetting = True
            self._soon(self._forget(self._keep // _SLACK))

    async def _forget(self, slack: int) -> None:
        try:
            if self._due(self._bench.state.tests, slack):
                await self._bench.submit(SYSTEM, ForgetTests(self._keep, self._oldest_moment()))
        except InterlockError:  # the journal cannot be written: whoever writes next is told
            return
        finally:
            self._forgetting = False

    def _due(self, tests: History, slack: int) -> bool:
        oldest = tests.kept.get(tests.oldest)
        return oldest is not None and (len(tests.kept) > self._keep + slack or oldest.at < self._oldest_moment())

    def _oldest_moment(self) -> str:
        moment = datetime.fromisoformat(self._clock.now()) - self._days
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)


def _left_behind(before: History, records: Sequence[Recorded], after: History) -> tuple[str, ...]:
    """Pictures of tests that were there, or came with these records, and are forgotten now."""
    numbers = range(before.oldest, min(before.count + 1, after.oldest))
    gone = [before.kept[number].execution for number in numbers]
    gone += [
        recorded.event.execution
        for recorded in records
        if isinstance(recorded.event, TestExecuted) and after.ids[recorded.event.execution.test_id] < after.oldest
    ]
    return tuple(execution.screenshot_path for execution in gone if execution.screenshot_path)
