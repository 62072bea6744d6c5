"""Merges tickets to their track's branch: one commit per ticket, in order; waiting tickets are verified together.

Merging is a lasting effect. After a crash the branch shows whether it happened: the commit has the ticket's trailer.
So no ticket is merged twice, and no person is asked.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from interlock.domain.checks.gate_messages import bounce_back
from interlock.domain.messages.commands.attempt_commands import FailWork, FinishMerge, RedoAttempt, ReportGate
from interlock.domain.messages.commands.command import Command
from interlock.domain.values.gates import GateResult
from interlock.domain.values.tickets import Merging, Ticket
from interlock.errors import OverBudget
from interlock.ports.front import Receipt
from interlock.ports.work import GateRunner
from interlock.ports.workspaces import Combined, Conflict, Workspaces

MOST = 3_000
"""Characters of a conflict in the message to the new attempt: an event stores them."""

BATCH = 32
"""The most tickets that are merged together."""

Send = Callable[[Command], Awaitable[Receipt]]


class _Entry:
    """A ticket in the queue. `outcome` is set if an earlier entry merged it too."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.outcome: Command | None = None


class MergeQueue:
    """One queue for each track, first in first out."""

    def __init__(self, workspaces: Workspaces, gates: GateRunner, send: Send) -> None:
        self._workspaces = workspaces
        self._gates = gates
        self._send = send
        self._turn: dict[str, asyncio.Future[None]] = {}
        self._waiting: dict[str, list[_Entry]] = {}

    async def merge(self, ticket: Ticket) -> Command:
        """Waits for the ticket's turn, merges it, and returns the command that reports the outcome."""
        before = self._turn.get(ticket.track)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turn[ticket.track] = done
        entry, waiting = _Entry(ticket), self._waiting.setdefault(ticket.track, [])
        waiting.append(entry)
        try:
            if before is not None:
                await asyncio.wait((before,))
            if entry.outcome is None and sum(other.outcome is None for other in waiting) > 1:
                await self._merge_together(waiting)
            return await self._merge(ticket) if entry.outcome is None else entry.outcome
        finally:
            waiting.remove(entry)
            done.set_result(None)
            if self._turn.get(ticket.track) is done:
                del self._turn[ticket.track], self._waiting[ticket.track]

    async def _merge_together(self, waiting: list[_Entry]) -> None:
        """Verifies the waiting tickets once, on their combined tree, and publishes them together.

        If that fails, nothing has changed, and each ticket is merged in its own turn.
        """
        chain = await self._chain([entry for entry in waiting if entry.outcome is None][:BATCH])
        if len(chain) < 2:
            return
        first, last = chain[0][1], chain[-1][1]
        if not await self._verified([entry.ticket for entry, _ in chain], last):
            return
        if any(entry not in waiting for entry, _ in chain):  # a ticket was cancelled meanwhile
            return
        if await self._workspaces.publish(chain[0][0].ticket.track, Combined(first.tip, last.commit, last.tree)):
            for entry, combined in chain:
                ticket = entry.ticket
                entry.outcome = FinishMerge(ticket.track, ticket.id, ticket.attempts, _commit_of(combined))

    async def _chain(self, entries: list[_Entry]) -> list[tuple[_Entry, Combined]]:
        """Commits stacked on one another; tickets with conflicts or already merged are left out."""
        chain: list[tuple[_Entry, Combined]] = []
        for entry in entries:
            ticket = entry.ticket
            stage = ticket.stage
            if not isinstance(stage, Merging) or await self._workspaces.merged_commit(ticket.track, ticket.id):
                continue
            onto = chain[-1][1].commit if chain else None
            combined = await self._workspaces.combine(
                ticket.track, ticket.id, stage.saved, commit_message(ticket), onto
            )
            if isinstance(combined, Combined):
                chain.append((entry, combined))
            if len(chain) == 1 and _is_verified_on(chain[0][0].ticket, chain[0][1].tree):
                return chain  # needs no gate run: merging it alone is faster than verifying all
        return chain

    async def _verified(self, tickets: list[Ticket], combined: Combined) -> bool:
        """Whether every gate passes on the combined tree; a gate that several tickets share runs once."""
        results: dict[bytes, GateResult] = {}
        for ticket in tickets:
            if _is_verified_on(ticket, combined.tree):
                continue
            for number, gate in enumerate(ticket.spec.verify):
                key = msgspec.json.encode(gate)
                if key not in results:
                    try:
                        results[key] = await self._gates.run(ticket.track, ticket.spec, number, combined.commit)
                    except OverBudget:
                        return False  # merging one by one reports it for each ticket
                if not results[key].passed:
                    return False
        for ticket in tickets:
            for number, gate in enumerate(ticket.spec.verify):
                if (result := results.get(msgspec.json.encode(gate))) is not None:
                    name = (ticket.track, ticket.id, ticket.attempts)
                    await self._send(ReportGate(*name, number, result, tree=combined.tree))
        return True

    async def _merge(self, ticket: Ticket) -> Command:
        stage = ticket.stage
        assert isinstance(stage, Merging)
        name = (ticket.track, ticket.id, ticket.attempts)
        spaces = self._workspaces
        while True:
            if commit := await spaces.merged_commit(ticket.track, ticket.id):
                return FinishMerge(*name, commit)
            combined = await spaces.combine(ticket.track, ticket.id, stage.saved, commit_message(ticket))
            if isinstance(combined, Conflict):
                return RedoAttempt(*name, _conflict_text(combined))
            if not _is_verified_on(ticket, combined.tree):
                try:
                    failure = await self._verify_again(ticket, combined)
                except OverBudget as error:
                    return FailWork(*name, str(error), budget=True)
                if failure is not None:
                    return RedoAttempt(*name, failure)
            if await spaces.publish(ticket.track, combined):
                return FinishMerge(*name, _commit_of(combined))

    async def _verify_again(self, ticket: Ticket, combined: Combined) -> str | None:
        """Runs the gates again: the branch has moved since they passed. Returns the failure, or None."""
        for number, _ in enumerate(ticket.spec.verify):
            result = await self._gates.run(ticket.track, ticket.spec, number, combined.commit)
            report = ReportGate(ticket.track, ticket.id, ticket.attempts, number, result, tree=combined.tree)
            await self._send(report)
            if not result.passed:
                return f"After merging with the other tickets' work:\n\n{bounce_back(result, 1, 1)}"
        return None


def _commit_of(combined: Combined) -> str | None:
    return None if combined.empty else combined.commit


def _is_verified_on(ticket: Ticket, tree: str) -> bool:
    """Whether the ticket needs no gate run: its gates passed on this tree, or it is unverified."""
    stage = ticket.stage
    return isinstance(stage, Merging) and (stage.unverified or stage.saved.tree == tree)


def commit_message(ticket: Ticket) -> str:
    """Subject and body of the ticket's commit; workspaces add the trailer."""
    subject, _, rest = ticket.spec.description.strip().partition("\n")
    subject = subject.strip() or f"Ticket {ticket.id}"
    if len(subject) > 72:
        subject, rest = subject[:69] + "...", ticket.spec.description.strip()
    return f"{subject}\n\n{rest.strip()}\n" if rest.strip() else f"{subject}\n"


def _conflict_text(conflict: Conflict) -> str:
    paths = ", ".join(conflict.paths[:20]) + (" …" if len(conflict.paths) > 20 else "")
    text = conflict.text if len(conflict.text) <= MOST else conflict.text[:MOST] + "\n[… cut]"
    return f"The work conflicts with what was merged meanwhile, in {paths}:\n\n{text}"
