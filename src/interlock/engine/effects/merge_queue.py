"""Merging to a track's branch: one commit per ticket, in turn; tickets that wait together are verified together.

A lasting effect: after a crash the branch itself tells whether it happened (the commit with the
ticket's trailer), so nothing is merged twice and nothing is asked.
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
"""Characters of a conflict that a new attempt is told: enough to see it, little enough for an event."""

BATCH = 32
"""Tickets that are merged together at most."""

Send = Callable[[Command], Awaitable[Receipt]]


class _Entry:
    """A ticket that waits to be merged; whoever has the turn may have merged it along."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.outcome: Command | None = None


class MergeQueue:
    """First come, first merged; tracks do not wait for one another."""

    def __init__(self, workspaces: Workspaces, gates: GateRunner, send: Send) -> None:
        self._workspaces = workspaces
        self._gates = gates
        self._send = send
        self._turn: dict[str, asyncio.Future[None]] = {}
        self._waiting: dict[str, list[_Entry]] = {}

    async def merge(self, ticket: Ticket) -> Command:
        """The command that tells what came of it. Waits for the ticket's turn first."""
        before = self._turn.get(ticket.track)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turn[ticket.track] = mine
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
            mine.set_result(None)
            if self._turn.get(ticket.track) is mine:
                del self._turn[ticket.track], self._waiting[ticket.track]

    async def _merge_together(self, waiting: list[_Entry]) -> None:
        """Those that fit on one another are verified once, on the tree of them all, and published at once.

        Where that fails nothing has happened: each is merged in its own turn.
        """
        chain = await self._chain([entry for entry in waiting if entry.outcome is None][:BATCH])
        if len(chain) < 2:
            return
        first, last = chain[0][1], chain[-1][1]
        if not await self._verified([entry.ticket for entry, _ in chain], last):
            return
        if any(entry not in waiting for entry, _ in chain):  # one was taken back meanwhile
            return
        if await self._workspaces.publish(chain[0][0].ticket.track, Combined(first.tip, last.commit, last.tree)):
            for entry, combined in chain:
                ticket = entry.ticket
                entry.outcome = FinishMerge(ticket.track, ticket.id, ticket.attempts, combined.commit)

    async def _chain(self, entries: list[_Entry]) -> list[tuple[_Entry, Combined]]:
        """Each one's commit on that of the one before; who does not fit, or is merged already, is left out."""
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
            if len(chain) == 1 and _stays(chain[0][0].ticket, chain[0][1].tree):
                return chain  # it needs no run at all: the others wait for the moment that takes
        return chain

    async def _verified(self, tickets: list[Ticket], combined: Combined) -> bool:
        """Every gate of theirs passes on the combined tree; one that several share runs once."""
        results: dict[bytes, GateResult] = {}
        for ticket in tickets:
            if _stays(ticket, combined.tree):
                continue
            for number, gate in enumerate(ticket.spec.verify):
                key = msgspec.json.encode(gate)
                if key not in results:
                    try:
                        results[key] = await self._gates.run(ticket.track, ticket.spec, number, combined.commit)
                    except OverBudget:
                        return False  # each is then told on its own
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
            if there := await spaces.merged_commit(ticket.track, ticket.id):
                return FinishMerge(*name, there)
            combined = await spaces.combine(ticket.track, ticket.id, stage.saved, commit_message(ticket))
            if isinstance(combined, Conflict):
                return RedoAttempt(*name, _conflict_text(combined))
            if not _stays(ticket, combined.tree):
                try:
                    failure = await self._verify_again(ticket, combined)
                except OverBudget as error:
                    return FailWork(*name, str(error), budget=True)
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


def _stays(ticket: Ticket, tree: str) -> bool:
    """Its gates have passed on exactly this tree, or it has none that must."""
    stage = ticket.stage
    return isinstance(stage, Merging) and (stage.unverified or stage.saved.tree == tree)


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
