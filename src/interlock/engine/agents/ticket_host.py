"""A ticket's conversation, as its dialogue sees it: kept in the journal, asked about through approvals."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import FinishTool, FinishTurn
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.steering_commands import Hear
from interlock.domain.rules.steering_rules import undelivered_notes
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered, ScriptPayload, ToolPayload, digest
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import Ticket
from interlock.engine.agents.permission import permission
from interlock.engine.agents.tool_payload import tool_payload
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.calls import Booked
from interlock.ports.front import Receipt
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace
from interlock.ports.work import Policy, PolicyVerdict

Send = Callable[[Command], Awaitable[Receipt]]
ScriptTerms = Callable[[Ticket, str, str, str], ScriptPayload]
"""Of a ticket, a script, a directory and a call: exactly what would run."""

Analyse = Callable[[str, int, str], Awaitable[str]]
"""Of a script that failed, its exit code and its output: what is said about it."""


class TicketHost:
    """Plays `Host` for the attempt that is under way."""

    def __init__(
        self,
        ticket: Ticket,
        tier: str,
        place: ToolPlace,
        texts: KeptTexts,
        send: Send,
        state: Callable[[], State],
        terms: ScriptTerms,
        analyse: Analyse | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._ticket = ticket
        self._tier = tier
        self._place = place
        self._texts = texts
        self._send = send
        self._state = state
        self._terms = terms
        self._analyse = analyse
        self._policy = policy

    async def keep_reply(self, message: Message, booked: Booked) -> None:
        kept, reply = await self._texts.message(message), booked.reply
        await self._send(FinishTurn(*self._name, kept, self._tier, reply.model, reply.usage, booked.call))

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None:
        kept = await self._texts.message(message)
        await self._send(FinishTool(*self._name, kept, call.name, outcome.failed, by))

    def told(self) -> tuple[str, ...]:
        return undelivered_notes(self._state(), self._party)

    async def keep_heard(self, message: Message) -> bool:
        receipt = await self._send(Hear(self._party, await self._texts.message(message)))
        return bool(receipt.records)

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        own = tuple(gate.command for gate in self._ticket.spec.verify if gate.command)
        return await permission(self._policy, call, preview, self._place, own)

    def answer_to(self, call: ToolCall) -> tuple[Answered, str] | None:
        if self._ticket.grant is None:
            return None
        approval = self._state().approvals[self._ticket.grant.approval]
        payload = approval.payload
        asked = payload.call if isinstance(payload, ToolPayload | ScriptPayload) else ""
        return (approval.state, approval.id) if asked == call.id and isinstance(approval.state, Answered) else None

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, str] | None:
        state = self._state()
        for name in state.ticket(self._ticket.track, self._ticket.id).carried:
            approval = state.approvals[name]
            asked = approval.payload
            if not isinstance(asked, ToolPayload | ScriptPayload) or not isinstance(approval.state, Answered):
                continue
            if digest(replace(payload, call=asked.call)) == approval.digest:  # but for the call's own name
                return approval.state, name
        return None

    async def payload(self, call: ToolCall, preview: Preview) -> ToolPayload | ScriptPayload:
        directory = self._place.root
        if preview.script is not None:
            return self._terms(self._ticket, preview.script, directory, call.id)
        return await tool_payload(self._texts, call, preview, directory)

    async def begin(self, call: ToolCall) -> None:
        """In a sandboxed worktree it is disposable: nothing to record."""

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        if self._analyse is None or not outcome.exit_code:
            return ""
        return await self._analyse(str(args.get("script", "")), outcome.exit_code, outcome.text)

    @property
    def _party(self) -> CallOwner:
        return CallOwner(track=self._ticket.track, ticket=self._ticket.id, attempt=self._ticket.attempts)

    @property
    def _name(self) -> tuple[str, str, int]:
        return self._ticket.track, self._ticket.id, self._ticket.attempts
