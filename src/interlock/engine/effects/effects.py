"""Runs effects: at most one for each name, started when the state requires it, cancelled when it no longer does.

The conductor compares effects with the state after every durable batch, for the tickets that the batch touched. A
restart needs no special case: the same comparison, over all tickets, starts the missing effects.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.event_base import OfApproval, OfTicket
from interlock.domain.state.state import State
from interlock.domain.values.tickets import (
    Blocked,
    Cancelled,
    Completed,
    Merging,
    Reviewing,
    Ticket,
    Verifying,
    Working,
)
from interlock.errors import InterlockError

Token = tuple[object, ...]

CLEAN = "clean"
"""The effect that removes a ticket's folder: short, so it is finished rather than cancelled."""

LAND = "land"
"""The effect that changes the user's files: it is never cancelled half-way."""


class Effect(Struct, frozen=True):
    """Work that the state requires. Effects with equal tokens are the same piece of work."""

    token: Token
    work: Callable[[], Awaitable[Command | None]]  # returns the outcome; None if there is nothing to report
    failed: Callable[[str], Command]  # makes the outcome of a failure from its reason


class _Running:
    """An effect of a name. `reporting`: its outcome is being submitted, so it must not be cancelled."""

    def __init__(self, effect: Effect) -> None:
        self.effect = effect
        self.reporting = False
        self.task: asyncio.Task[None] | None = None
        self.previous: _Running | None = None  # set while it waits for the report of the previous effect
        self.next: _Running | None = None

    @property
    def token(self) -> Token:
        return self.effect.token


class Effects:
    """Effects by name. A new effect of a name waits until the previous one has ended."""

    def __init__(self, report: Callable[[Command], Awaitable[object]]) -> None:
        self._report = report
        self._running: dict[str, _Running] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def require(self, name: str, effect: Effect | None) -> None:
        """Makes `effect` the one that runs under `name`; None cancels the running one."""
        now = self._running.get(name)
        if now is not None and effect is not None and now.token == effect.token:
            return
        running = _Running(effect) if effect is not None else None
        if now is not None:
            del self._running[name]
        if running is not None:
            self._running[name] = running
        reporting = now if now is not None and now.reporting else now.previous if now is not None else None
        if reporting is not None:  # its task goes on with the new effect: a ticket has several, each after a report
            reporting.next = running
            if running is not None:
                running.previous, running.task = reporting, reporting.task
            return
        before = now.task if now is not None else None
        if before is not None:
            before.cancel()
        if running is not None:
            running.task = task = asyncio.ensure_future(self._run(name, running, before))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _run(self, name: str, running: _Running, before: "asyncio.Task[None] | None") -> None:
        following: _Running | None = running
        try:
            if before is not None and not before.done():
                await asyncio.wait((before,))
            while following is not None:
                running = following
                running.previous = None
                await self._perform(running)
                following = running.next
        finally:
            if self._running.get(name) is running:
                del self._running[name]

    async def _perform(self, running: _Running) -> None:
        """Every failure becomes an outcome with a reason: without one the ticket would wait forever."""
        effect = running.effect
        try:
            outcome = await effect.work()
        except InterlockError as error:
            outcome = effect.failed(str(error))
        except Exception as error:  # noqa: BLE001  a bug must end as a recorded failure, too
            outcome = effect.failed(_internal_error(error))
        running.reporting = True
        if outcome is not None:
            await self._report(outcome)

    async def stop(self) -> None:
        """Cancels every effect except landings and the removal of folders, and waits until all have ended."""
        finished = {running.task for running in self._running.values() if running.token[0] in (CLEAN, LAND)}
        self._running.clear()
        ending = tuple(self._ending)
        for task in ending:
            if task not in finished:
                task.cancel()
        if ending:
            await asyncio.wait(ending)


def _internal_error(error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"internal error: {type(error).__name__}: {error} ({where.name}, line {where.lineno})"


def token_of(ticket: Ticket) -> Token | None:
    """Identifies the work that this ticket's stage requires; None if it requires none."""
    stage = ticket.stage
    match stage:
        case Working():
            # Includes the count of resumes: a question and its answer may be in one batch, and then the work restarts.
            return ("work", ticket.attempts, ticket.resumes)
        case Verifying():
            return ("gate", ticket.attempts, stage.gate, stage.attempt_count, stage.saved.commit)
        case Reviewing() if not stage.approval:
            return ("parts" if stage.parts else "review", ticket.attempts, stage.saved.commit)
        case Merging():
            return ("merge", ticket.attempts)
        case Completed() if ticket.attempts:
            return (CLEAN, ticket.attempts)
        case Blocked() if ticket.unsaved is not None:
            return None  # its work is only in its folder
        case Blocked() | Cancelled() if ticket.attempts:
            return (CLEAN, ticket.attempts)
        case _:
            return None


def touched(records: Sequence[Recorded], state: State) -> list[Ticket]:
    """The tickets that these records are about, each once, in their current state."""
    names: dict[tuple[str, str], None] = {}
    for recorded in records:
        event = recorded.event
        if isinstance(event, OfTicket):
            names[(event.track, event.ticket)] = None
        elif isinstance(event, OfApproval):
            approval = state.approvals[event.approval]
            if approval.ticket is not None:
                names[(approval.track, approval.ticket)] = None
    return [state.tracks[track].tickets[ticket] for track, ticket in names]
