"""The host of a ticket's conversation: stores messages in the journal and asks questions as approvals."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import BeginTool, FinishTool, FinishTurn
from interlock.domain.messages.commands.steering_commands import Hear
from interlock.domain.rules.steering_rules import undelivered_notes
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload, allows, digest, kept_edit
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import Ticket
from interlock.engine.agents.context import JournalAccess, Toolbox
from interlock.engine.agents.tool_calls.permission import permission
from interlock.engine.agents.tool_calls.tool_payload import tool_payload
from interlock.engine.models.calls import Booked
from interlock.errors import Rejected
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace, is_outside
from interlock.ports.work import PolicyVerdict

Analyse = Callable[[str, ToolOutcome], Awaitable[str]]
"""From a failed script, its exit code and its output: an analysis for the worker."""


UNKNOWN = (
    "The workbench stopped during this call, and it is unknown whether the call took effect. The human chose to"
    " continue without repeating it."
)


class TicketHost:
    """Implements `Host` for one attempt."""

    lasting = False

    def __init__(
        self,
        ticket: Ticket,
        tier: str,
        place: ToolPlace,
        journal: JournalAccess,
        toolbox: Toolbox,
        analyse: Analyse | None = None,
    ) -> None:
        self._ticket = ticket
        self._tier = tier
        self._place = place
        self._texts = journal.texts
        self._send = journal.send
        self._state = journal.state
        self._toolbox = toolbox
        self._analyse = analyse
        self._shown: dict[str, str] = {}  # by call: its title

    async def keep_reply(self, message: Message, booked: Booked) -> None:
        kept, reply = await self._texts.message(message), booked.reply
        await self._send(FinishTurn(*self._name, kept, self._tier, reply.model, reply.usage, booked.call))

    async def keep_result(
        self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str, *, replayed: bool = False
    ) -> None:
        kept = await self._texts.message(message)
        await self._send(FinishTool(*self._name, kept, call.name, outcome.failed, by, outcome.refused, replayed))

    async def keep_lost(self, call: ToolCall) -> Message:
        """Stores a result for a call that a crash cut off and that is not repeated."""
        lost = Message("tool", UNKNOWN, call_id=call.id)
        await self.keep_result(lost, call, ToolOutcome(UNKNOWN, failed=True), "unknown")
        return lost

    def notes(self) -> tuple[str, ...]:
        return undelivered_notes(self._state(), self._party)

    async def keep_delivered(self, message: Message) -> bool:
        receipt = await self._send(Hear(self._party, await self._texts.message(message)))
        return bool(receipt.records)

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        self._shown[call.id] = preview.title
        own = tuple(gate.command for gate in self._ticket.spec.verify if gate.command)
        return await permission(self._toolbox.policy, call, preview, self._place, own)

    def answer_to(self, call: ToolCall) -> tuple[Answered, Approval] | None:
        if self._ticket.grant is None:
            return None
        approval = self._state().approvals[self._ticket.grant.approval]
        payload = approval.payload
        asked = payload.call if isinstance(payload, ToolPayload | ScriptPayload) else ""
        return (approval.state, approval) if asked == call.id and isinstance(approval.state, Answered) else None

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, Approval] | None:
        state = self._state()
        for name in state.ticket(self._ticket.track, self._ticket.id).carried:
            approval = state.approvals[name]
            asked = approval.payload
            if not isinstance(asked, ToolPayload | ScriptPayload) or not isinstance(approval.state, Answered):
                continue
            if approval.state.by.startswith("policy:"):
                continue  # rules and autonomy decide again: they may have changed, and a review must know what ran
            same = replace(payload, call=asked.call)  # equal except for the call's id
            if isinstance(same, ScriptPayload) and (edited := kept_edit(approval)) is not None:
                same = replace(same, script=edited)
            rejected = approval.state.decision == "reject"
            if digest(same) == approval.digest and (rejected or allows(approval, same)):
                return approval.state, approval
        return None

    async def payload(
        self, call: ToolCall, preview: Preview, env: tuple[tuple[str, str], ...] = ()
    ) -> ToolPayload | ScriptPayload:
        directory = self._place.root
        self._shown[call.id] = preview.title
        if preview.script is not None:
            return self._toolbox.script_terms(preview, directory, call.id)
        return await tool_payload(self._texts, call, preview, directory)

    async def begin(self, call: ToolCall, by: str) -> None:
        """Records only a call beyond the sandboxed worktree; every other one is disposable."""
        self._toolbox.check()
        if not is_outside(self._toolbox.tools, call.name):
            return
        what = self._shown.get(call.id, call.name)
        receipt = await self._send(BeginTool(*self._name, call.id, call.name, what, by))
        if not receipt.records:  # the attempt is over, or the journal cannot be written: nothing may be sent
            raise Rejected("the attempt is over")

    async def make(self, call: ToolCall, change: Callable[[], Awaitable[ToolOutcome]]) -> ToolOutcome:
        return await change()

    def why_again(self, call: ToolCall) -> str:
        return ""

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        return "" if self._analyse is None else await self._analyse(str(args.get("script", "")), outcome)

    @property
    def _party(self) -> CallOwner:
        return CallOwner(track=self._ticket.track, ticket=self._ticket.id, attempt=self._ticket.attempts)

    @property
    def _name(self) -> tuple[str, str, int]:
        return self._ticket.track, self._ticket.id, self._ticket.attempts
