"""What the state calls for is done: one effect per ticket at most, started when its stage says so,
cancelled when the stage has moved on for another reason.

Effects are compared with the state after every durable batch, for the tickets it touched. That is
why a restart needs nothing special: the same comparison, over all tickets, starts what is missing.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.event_base import OfApproval, OfTicket
from interlock.domain.state.state import State
from interlock.domain.values.tickets import Blocked, Cancelled, Completed, Merging, Ticket, Verifying, Working

Token = tuple[object, ...]

CLEAN = "clean"
"""The effect that removes a ticket's folder: short, and better finished than cancelled."""


class Running:
    """An effect under way. `reporting`: it has its outcome and is handing it in."""

    def __init__(self, token: Token) -> None:
        self.token = token
        self.reporting = False
        self.task: asyncio.Task[None] | None = None


Effect = Callable[[Running], Coroutine[object, object, None]]


class Effects:
    """Named effects with at most one of each name at a time; a next one waits until the last is gone."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def want(self, name: str, token: Token | None, effect: Effect) -> None:
        """Make it so that the effect for `name` is the one with `token` (None: none at all)."""
        now = self._running.get(name)
        if now is not None and now.token == token:
            return
        before: asyncio.Task[None] | None = None
        if now is not None:
            del self._running[name]
            before = now.task
            if before is not None and not now.reporting:
                before.cancel()
        if token is None:
            return
        running = Running(token)
        self._running[name] = running
        task = asyncio.ensure_future(self._run(name, running, before, effect))
        running.task = task
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _run(
        self,
        name: str,
        running: Running,
        before: "asyncio.Task[None] | None",
        effect: Effect,
    ) -> None:
        try:
            if before is not None and not before.done():
                await asyncio.wait((before,))
            await effect(running)
        finally:
            if self._running.get(name) is running:
                del self._running[name]

    async def stop(self) -> None:
        """Cancel everything (but let cleaning finish) and wait until it is gone."""
        cleaning = {running.task for running in self._running.values() if running.token[0] == CLEAN}
        self._running.clear()
        ending = tuple(self._ending)
        for task in ending:
            if task not in cleaning:
                task.cancel()
        if ending:
            await asyncio.wait(ending)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._running)


def token_of(ticket: Ticket) -> Token | None:
    """What this ticket's stage calls for; equal tokens are the same piece of work."""
    stage = ticket.stage
    match stage:
        case Working():
            # With the count of resumes: asking and being answered may fall into one batch, and then it begins anew.
            return ("work", ticket.attempts, ticket.resumes)
        case Verifying():
            return ("gate", ticket.attempts, stage.gate, stage.attempt_count, stage.saved.commit)
        case Merging():
            return ("merge", ticket.attempts)
        case Completed(commit) if commit is not None or ticket.spec.assigned_to == "tier4-qa":
            return (CLEAN, ticket.attempts)
        case Blocked() | Cancelled() if ticket.attempts:
            return (CLEAN, ticket.attempts)
        case _:
            return None


def touched(records: Sequence[Recorded], state: State) -> list[Ticket]:
    """The tickets these records are about, each once, as they stand now."""
    seen: dict[tuple[str, str], None] = {}
    for recorded in records:
        event = recorded.event
        if isinstance(event, OfTicket):
            seen[(event.track, event.ticket)] = None
        elif isinstance(event, OfApproval):
            approval = state.approvals[event.approval]
            if approval.ticket is not None:
                seen[(approval.track, approval.ticket)] = None
    return [state.tracks[track].tickets[ticket] for track, ticket in seen]
