"""Merging to a track's branch, one ticket at a time per track.

A lasting effect: after a crash the branch itself tells whether it happened (the commit with the
ticket's trailer), so nothing is merged twice and nothing is asked.
"""

import asyncio
from collections.abc import Awaitable, Callable

from interlock.domain.commands import Command, FinishMerge, RedoAttempt, ReportGate
from interlock.domain.gate_messages import bounce_back
from interlock.domain.tickets import Merging, Ticket
from interlock.ports import Combined, Conflict, GateRunner, Receipt, Workspaces

MOST = 3_000
"""Characters of a conflict that a new attempt is told: enough to see it, little enough for an event."""

Send = Callable[[Command], Awaitable[Receipt]]


class MergeQueue:
    """First come, first merged; tracks do not wait for one another."""

    def __init__(self, workspaces: Workspaces, gates: GateRunner, send: Send) -> None:
        self._workspaces = workspaces
        self._gates = gates
        self._send = send
        self._turn: dict[str, asyncio.Future[None]] = {}

    async def merge(self, ticket: Ticket) -> Command:
        """The command that tells what came of it. Waits for the ticket's turn first."""
        before = self._turn.get(ticket.track)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turn[ticket.track] = mine
        try:
            if before is not None:
                await asyncio.wait((before,))
            return await self._merge(ticket)
        finally:
            mine.set_result(None)
            if self._turn.get(ticket.track) is mine:
                del self._turn[ticket.track]

    async def _merge(self, ticket: Ticket) -> Command:
        stage = ticket.stage
        assert isinstance(stage, Merging)
        name = (ticket.track, ticket.id, ticket.attempts)
        spaces = self._workspaces
        while True:
            if there := await spaces.merged_commit(ticket.track, ticket.id):
                return FinishMerge(*name, there)
            combined = await spaces.combine(ticket.track, ticket.id, stage.saved, commit_message(ticket))
            if isinstance(combined, Conflict):
                return RedoAttempt(*name, _conflict_text(combined))
            if combined.tree != stage.saved.tree and not stage.unverified:
                failure = await self._verify_again(ticket, combined)
                if failure is not None:
                    return RedoAttempt(*name, failure)
            if await spaces.publish(ticket.track, combined):
                return FinishMerge(*name, combined.commit)

    async def _verify_again(self, ticket: Ticket, combined: Combined) -> str | None:
        """The track moved on since the gates passed: they must pass on the tree that will be merged."""
        for number, _ in enumerate(ticket.spec.verify):
            result = await self._gates.run(ticket.track, ticket.spec, number, combined.commit)
            report = ReportGate(ticket.track, ticket.id, ticket.attempts, number, result, tree=combined.tree)
            await self._send(report)
            if not result.passed:
                return f"After merging with the other tickets' work:\n\n{bounce_back(result, 1, 1)}"
        return None


def commit_message(ticket: Ticket) -> str:
    """Subject and body of the ticket's one commit; the trailer is added where commits are made."""
    subject, _, rest = ticket.spec.description.strip().partition("\n")
    subject = subject.strip() or f"Ticket {ticket.id}"
    if len(subject) > 72:
        subject, rest = subject[:69] + "...", ticket.spec.description.strip()
    return f"{subject}\n\n{rest.strip()}\n" if rest.strip() else f"{subject}\n"


def _conflict_text(conflict: Conflict) -> str:
    paths = ", ".join(conflict.paths[:20]) + (" …" if len(conflict.paths) > 20 else "")
    text = conflict.text if len(conflict.text) <= MOST else conflict.text[:MOST] + "\n[… cut]"
    return f"The work conflicts with what was merged meanwhile, in {paths}:\n\n{text}"
