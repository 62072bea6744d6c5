"""A CLI agent at work on a ticket: its turns, its questions, its cost.

The agent's process stays alive while a question waits, but the effect that follows it ends, as for every worker. When
the question is answered, the next effect finds the process again. Without the process (after a restart) the attempt is
made again; answers to its calls are kept and count for the same calls.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import AskWorker, FailWork, RedoAttempt
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import is_rule
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload, allows, is_call, kept_edit
from interlock.domain.values.budgets import Usage
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import AGENT, Ticket
from interlock.engine.agents.context import JournalAccess, Toolbox
from interlock.engine.agents.conversation import approval_reason, edited_call, with_edit_of
from interlock.engine.agents.dialogue import MEANWHILE
from interlock.engine.agents.ticket_host import TicketHost
from interlock.engine.models.activity import ToolExecution
from interlock.engine.models.calls import Booked, ModelCalls
from interlock.errors import Misconfigured, OverBudget, ToolFailure, Unavailable
from interlock.ports.cli_agents import AgentAnswer, AgentCall, AgentRun, AgentSession, CallDecision, CliAgents
from interlock.ports.model import Message, Reply, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace
from interlock.ports.work import PolicyVerdict
from interlock.views.stream_keys import stream_key

TIER = "Tier 3"
_STORED = re.compile(rf"{AGENT}(\S+) (\S+)")
_GONE = "the agent's process ended while its question waited"


class AgentWork:
    """One attempt by an agent. `run` returns the agent's last text, or the command that ends the effect."""

    def __init__(
        self, agent: str, ticket: Ticket, place: ToolPlace, agents: CliAgents, calls: ModelCalls,
        journal: JournalAccess, toolbox: Toolbox, system: str,
    ) -> None:  # fmt: skip
        self._agent = agent
        self._ticket = ticket
        self._name = (ticket.track, ticket.id, ticket.attempts)
        self._place = place
        self._agents = agents
        self._calls = calls
        self._journal = journal
        self._toolbox = toolbox
        self._system = system
        self._host = TicketHost(ticket, TIER, place, journal, toolbox)
        self._party = CallOwner(track=ticket.track, ticket=ticket.id, attempt=ticket.attempts)
        self._key = stream_key(journal.state(), self._party, TIER)

    async def run(self, messages: Sequence[Message]) -> str | Command:
        try:
            return await self._run(list(messages))
        except asyncio.CancelledError:
            await self._agents.end(self._ticket.track, self._ticket.id)
            raise
        except OverBudget as error:
            return FailWork(*self._name, str(error), budget=True)
        except (Unavailable, Misconfigured) as error:
            return FailWork(*self._name, str(error))

    async def _run(self, messages: list[Message]) -> str | Command:
        running = self._agents.running(self._ticket.track, self._ticket.id)
        if running is not None and running.attempt != self._ticket.attempts:
            await self._agents.end(self._ticket.track, self._ticket.id)
            running = None
        while True:
            if running is None:
                if self._answered_call() or messages[-1].role != "user":
                    return RedoAttempt(*self._name, _GONE, lost=True)
                running = await self._start(messages)
            ended = await self._follow(running)
            if isinstance(ended, AskWorker):
                return ended
            running = None
            await self._agents.end(self._ticket.track, self._ticket.id)
            messages.append(ended)
            notes = self._host.notes()
            if not notes:
                return ended.text
            for text in notes:
                note = Message("user", MEANWHILE.format(text))
                if not await self._host.keep_delivered(note):
                    return ended.text
                messages.append(note)

    def _answered_call(self) -> bool:
        grant = self._ticket.grant
        return grant is not None and is_call(self._journal.state().approvals[grant.approval])

    # ── a turn ───────────────────────────────────────────────────────────────────────────

    async def _start(self, messages: Sequence[Message]) -> AgentSession:
        session, new = self._continued(messages)
        model = self._ticket.spec.model_override or ""
        run = AgentRun(
            self._agent,
            *self._name,
            new if session else f"{self._system}\n\n{new}",
            self._place,
            self._calls.writer(self._key).text,
            lambda line: self._calls.show(self._key, f"[{line}]\n"),
            session,
            "" if model.startswith(AGENT) else model,
        )
        booking = await self._calls.reserve(self._party, TIER, f"{AGENT}{self._agent}")
        try:
            running = await self._agents.start(run)
        except BaseException as error:
            await self._calls.settle(booking, Usage(), str(error) or type(error).__name__)
            raise
        running.booking = booking
        return running

    def _continued(self, messages: Sequence[Message]) -> tuple[str, str]:
        """The session to continue and the new messages; or no session, and all of the conversation as one text."""
        at = max((number for number, message in enumerate(messages) if message.role == "assistant"), default=-1)
        match = _STORED.fullmatch(messages[at].session) if at >= 0 else None
        if match and match[1] == self._agent and self._agents.can_continue(*self._name[:2], match[2]):
            return match[2], "\n\n".join(message.text for message in messages[at + 1 :])
        said = (message for message in messages if message.role != "tool" and message.text.strip())
        return "", "\n\n".join(
            f"You said before:\n{message.text}" if message.role == "assistant" else message.text for message in said
        )

    async def _follow(self, running: AgentSession) -> AskWorker | Message:
        """Until the agent ends its turn, or a person must decide about a call."""
        while True:
            try:
                following = await running.next()
            except (Unavailable, Misconfigured) as error:
                await self._calls.settle(running.booking, None, str(error))
                await self._agents.end(self._ticket.track, self._ticket.id)
                raise
            if isinstance(following, AgentAnswer):
                return await self._finish(running, following)
            question = await self._decide(running, following)
            if question is not None:
                return question

    async def _finish(self, running: AgentSession, answer: AgentAnswer) -> Message:
        text = self._journal.redact(answer.text)
        message = Message("assistant", text, session=f"{AGENT}{self._agent} {answer.session}")
        await self._host.keep_reply(message, Booked(Reply(message, answer.usage, answer.model), running.booking))
        return message

    # ── its calls ────────────────────────────────────────────────────────────────────────

    async def _decide(self, running: AgentSession, asked: AgentCall) -> AskWorker | None:
        """Answers the agent by a person's answer or a rule; returns the question if there is neither."""
        call = replace(asked.call, args=_concealed(asked.call, self._journal))
        preview = await self._preview(call, asked.preview)
        answer = self._host.answer_to(call)
        if answer is not None and answer[0].decision == "reject":
            return await self._reject(running, call, answer)
        shown = call if answer is None else with_edit_of(call, kept_edit(answer[1]))
        payload = await self._payload(running, shown, preview)
        if answer is None and (before := self._host.answer_before(payload)) is not None:
            if before[0].decision == "reject":
                return await self._reject(running, call, before)
            return await self._allow(running, call, before[1].id, before[0])
        if answer is None or is_rule(answer[0].by):
            verdict = await self._host.permission(call, preview)
            if verdict.verdict == "deny":
                return await self._deny(running, call, verdict)
            if verdict.verdict == "allow" and not verdict.env:
                return await self._allow(running, call, f"policy:{verdict.rule}")
            why = f"{self._agent}: {approval_reason(preview, verdict.reason)}"
            again_of = answer[1].id if answer is not None else ""  # a rule allowed it before, and does not now
            return AskWorker(*self._name, payload, why, again_of, verdict.asking_rule)
        if not allows(answer[1], payload):
            why = f"what it would do has changed since {answer[1].id} was answered"
            return AskWorker(*self._name, payload, why, answer[1].id)
        return await self._allow(running, call, answer[1].id, answer[0])

    async def _preview(self, call: ToolCall, given: Preview) -> Preview:
        """An edit of a file is previewed by our own tool of the same name."""
        if given.title:
            return given
        with suppress(ToolFailure):
            return await self._toolbox.tools.preview(self._place, call.name, call.args)
        return Preview(f"{self._agent}: {call.name} {call.args.get('path', '')}")

    async def _payload(self, running: AgentSession, call: ToolCall, preview: Preview) -> ToolPayload | ScriptPayload:
        if call.name == "run_shell":
            terms = self._toolbox.script_terms(Preview("", script=str(call.args["script"])), self._place.root, call.id)
            return replace(terms, env_names=running.env_names)
        payload = await self._host.payload(call, preview)
        assert isinstance(payload, ToolPayload)
        return replace(payload, hunks=0, title=f"{self._agent}: {payload.title}")  # an agent makes a call whole or not

    async def _allow(self, running: AgentSession, call: ToolCall, by: str, answer: Answered | None = None) -> None:
        self._toolbox.check()
        decision = CallDecision(True, answer.message if answer is not None else "")
        if answer is not None and answer.edited is not None:
            args, note = edited_call(call, answer)
            if isinstance(args, str):
                return await self._answer(running, call, by, CallDecision(False, args), failed=True)
            decision = CallDecision(True, note.strip(), self._toolbox.reveal(args))
        return await self._answer(running, call, by, decision)

    async def _reject(self, running: AgentSession, call: ToolCall, answer: tuple[Answered, Approval]) -> None:
        reason = f": {answer[0].message}" if answer[0].message else ""
        decision = CallDecision(False, f"REJECTED by the human{reason}. It did not run.")
        await self._answer(running, call, answer[1].id, decision, refused="rejected")

    async def _deny(self, running: AgentSession, call: ToolCall, verdict: PolicyVerdict) -> None:
        text = f"DENIED by the rule {verdict.rule!r}: {verdict.reason}. It did not run; do not ask again."
        await self._answer(running, call, f"policy:{verdict.rule}", CallDecision(False, text), refused="denied")

    async def _answer(
        self, running: AgentSession, call: ToolCall, by: str, decision: CallDecision, *,
        failed: bool = False, refused: str = "",
    ) -> None:  # fmt: skip
        """Records the decision before the agent learns it."""
        said = decision.message or ("allowed" if decision.allow else "not allowed")
        outcome = ToolOutcome(said, failed or not decision.allow, refused=refused)  # pyright: ignore[reportArgumentType]
        message = Message("tool", said, (call,), call_id=call.id)
        await self._host.keep_result(message, call, outcome, by, replayed=True)
        execution = ToolExecution(self._key, TIER, call.name, call.args, by=by, refused=refused)
        self._calls.activity.publish(replace(execution, ended=True, result=said, failed=outcome.failed))
        running.decide(call.id, decision)


def _concealed(call: ToolCall, journal: JournalAccess) -> dict[str, object]:
    """Secrets never reach the journal; the agent itself runs its own arguments."""
    return {name: journal.conceal(value) if isinstance(value, str) else value for name, value in call.args.items()}
