"""A worker: a model, its tools, one ticket, one worktree.

The conversation lives in the journal, a text per message, so it can stop at a question and go on whenever the answer
comes, in this process or another. A model call and a tool call in the sandboxed worktree are disposable: after a
crash in the middle of one, the attempt is lost and a new one begins.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.approvals import Answered, ScriptPayload, SpawnPayload, ToolPayload, digest
from interlock.domain.calls import Party
from interlock.domain.commands import (
    AskWorker,
    Command,
    FailWork,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    StartSession,
    SubmitWork,
)
from interlock.domain.gates import Blob
from interlock.domain.state import State
from interlock.domain.tickets import Ticket
from interlock.engine.conversation import edited_call, trimmed, unanswered, why_asked
from interlock.engine.model_calls import Booked, ModelCalls
from interlock.errors import OverBudget, ToolFailure, Unavailable
from interlock.ports import (
    Message,
    ModelRequest,
    Preview,
    Receipt,
    ToolCall,
    ToolOutcome,
    ToolPlace,
    Tools,
    Workspace,
    Workspaces,
)

TIER = "Tier 3"
ROUNDS = 50
INLINE = 4_000

Keep = Callable[[bytes], Awaitable[str]]
Send = Callable[[Command], Awaitable[Receipt]]

_message = msgspec.json.Decoder(Message)


class Brief(Struct, frozen=True):
    """Everything a worker is told at its start."""

    system: str
    prompt: str
    context: str


class Worker:
    """Does one ticket's work as far as it can go now; the command it returns tells what comes next."""

    def __init__(
        self,
        calls: ModelCalls,
        tools: Tools,
        workspaces: Workspaces,
        keep: Keep,
        fetch: Callable[[str], bytes],
        send: Send,
        state: Callable[[], State],
        terms: Callable[[Ticket, str, str, str], ScriptPayload],
        brief: Callable[[Ticket, Workspace], Awaitable[Brief]],
        redact: Callable[[str], str] = str,
    ) -> None:
        self._calls = calls
        self._tools = tools
        self._workspaces = workspaces
        self._keep = keep
        self._fetch = fetch
        self._send = send
        self._state = state
        self._terms = terms
        self._brief = brief
        self._redact = redact

    async def work(self, ticket: Ticket) -> Command:
        name = (ticket.track, ticket.id, ticket.attempts)
        if ticket.session:
            workspace = await self._workspaces.current(ticket.track, ticket.id)
            if workspace is None:
                return RedoAttempt(*name, "its folder was gone")
            brief = await self._brief(ticket, workspace)
            messages = [await asyncio.to_thread(self._read, blob) for blob in ticket.session]
        else:
            workspace = await self._workspaces.prepare(ticket.track, ticket.id)
            brief = await self._brief(ticket, workspace)
            asked = await self._may_start(ticket, brief)
            if isinstance(asked, AskWorker):
                return asked
            first = Message("user", f"{asked}\n\n{brief.context}".strip())
            await self._send(StartSession(*name, await self._blob(first)))
            messages = [first]
        return await self._converse(ticket, workspace, brief, messages)

    # ── the conversation ─────────────────────────────────────────────────────────────────

    async def _converse(self, ticket: Ticket, workspace: Workspace, brief: Brief, messages: list[Message]) -> Command:
        name = (ticket.track, ticket.id, ticket.attempts)
        place = ToolPlace(workspace.root or workspace.path, tuple(filter(None, (workspace.git_dir,))))
        while True:
            if call := unanswered(messages):
                outcome = await self._call(ticket, place, call)
                if isinstance(outcome, AskWorker):
                    return outcome
                told, by = outcome
                answer = Message("tool", self._redact(told.text), call_id=call.id)
                await self._send(FinishTool(*name, await self._blob(answer), call.name, told.failed, by))
                messages.append(answer)
                continue
            last = messages[-1]
            if last.role == "assistant":
                return await self._hand_in(ticket, workspace, last.text)
            rounds = sum(1 for message in messages if message.role == "assistant" and message.calls)
            limit = rounds >= ROUNDS
            try:
                booked = await self._ask_model(ticket, brief, messages, with_tools=not limit)
            except OverBudget as error:
                return FailWork(*name, str(error), budget=True)
            except Unavailable as error:
                return FailWork(*name, f"the model does not answer: {error}")
            reply = booked.reply
            calls = () if limit else reply.message.calls
            said = Message("assistant", self._redact(reply.message.text), calls)
            await self._send(FinishTurn(*name, await self._blob(said), TIER, reply.model, reply.usage, booked.call))
            messages.append(said)
            if limit:
                return FailWork(
                    *name, f"the limit of {ROUNDS} tool rounds was reached; it last said: {said.text[:500]}"
                )

    async def _ask_model(self, ticket: Ticket, brief: Brief, messages: list[Message], *, with_tools: bool) -> Booked:
        request = ModelRequest(
            TIER,
            ticket.id,
            ticket.spec.model_override,
            brief.system,
            trimmed(messages),
            self._tools.offered(changing=ticket.spec.assigned_to == "tier3-worker") if with_tools else (),
        )
        party = Party(track=ticket.track, ticket=ticket.id, attempt=ticket.attempts)
        return await self._calls.ask(party, f"Tier 3 (Worker): {ticket.id}", request)

    async def _hand_in(self, ticket: Ticket, workspace: Workspace, text: str) -> Command:
        name = (ticket.track, ticket.id, ticket.attempts)
        if text.lstrip().startswith("BLOCKED"):
            return FailWork(*name, text.lstrip().removeprefix("BLOCKED").lstrip(" :\n") or "the worker is blocked")
        if ticket.spec.assigned_to != "tier3-worker":
            return SubmitWork(*name, None, text[:2_000])
        saved = await self._workspaces.save(workspace, *name, ticket.spec.description or ticket.id)
        return SubmitWork(*name, saved, text[:2_000])

    # ── asking ───────────────────────────────────────────────────────────────────────────

    async def _may_start(self, ticket: Ticket, brief: Brief) -> AskWorker | str:
        """The prompt that was allowed, or the question."""
        shown, whole = await self._shortened(brief.context)
        payload = SpawnPayload(ticket.spec.assigned_to, self._calls.model, brief.prompt, shown, whole)
        for grant in (ticket.grant, ticket.spawn):
            if grant is not None:
                prompt = grant.edited or brief.prompt
                if digest(replace(payload, prompt=prompt)) == grant.digest:
                    return prompt
        return AskWorker(ticket.track, ticket.id, ticket.attempts, payload, "a worker is about to start")

    async def _call(self, ticket: Ticket, place: ToolPlace, call: ToolCall) -> AskWorker | tuple[ToolOutcome, str]:
        """The outcome and who allowed it, or the question that must be answered first."""
        known = {spec.name: spec for spec in self._tools.offered(changing=True)}
        if call.name not in known or not known[call.name].changes:
            return await self._tools.run(place, call.name, call.args), "policy:reading"
        if ticket.spec.assigned_to != "tier3-worker":
            return ToolOutcome(f"{call.name} changes things; your role only reads.", failed=True), "policy:reading"
        try:
            preview = await self._tools.preview(place, call.name, call.args)
        except ToolFailure as failure:
            return ToolOutcome(str(failure), failed=True), "policy:reading"
        payload = await self._payload(ticket, place, call, preview)
        answer = self._answer_to(ticket, call)
        if answer is None:
            if preview.script is not None and any(gate.command == preview.script for gate in ticket.spec.verify):
                return await self._tools.run(place, call.name, call.args), "policy:own-gate"
            return AskWorker(ticket.track, ticket.id, ticket.attempts, payload, why_asked(preview))
        decided, approval_id = answer
        if decided.decision == "reject":
            reason = f": {decided.message}" if decided.message else ""
            return ToolOutcome(f"REJECTED by the human{reason}. It did not run.", failed=True), approval_id
        args, note = edited_call(call, decided)
        if isinstance(args, str):
            return ToolOutcome(args, failed=True), approval_id
        if decided.edited is None and digest(payload) != decided.digest:
            return AskWorker(ticket.track, ticket.id, ticket.attempts, payload, "what it would do has changed")
        outcome = await self._tools.run(place, call.name, args, decided.hunks)
        return ToolOutcome(note + outcome.text, outcome.failed), approval_id

    async def _payload(
        self, ticket: Ticket, place: ToolPlace, call: ToolCall, preview: Preview
    ) -> ToolPayload | ScriptPayload:
        if preview.script is not None:
            return self._terms(ticket, preview.script, place.root, call.id)
        diff, whole = await self._shortened(
            "".join(f"{hunk.path} [{hunk.number}] {hunk.header}\n{hunk.text}" for hunk in preview.hunks)
        )
        arguments = json.dumps(call.args, ensure_ascii=False, sort_keys=True)
        named = sha256(arguments.encode(errors="replace")).hexdigest()
        if len(arguments) > INLINE:  # the whole stands in the worker's own message; here is what names it
            arguments = arguments[:INLINE] + f"… ({len(arguments):,} characters)"
        hunks = len(preview.hunks)
        return ToolPayload(call.id, call.name, arguments, named, preview.title, hunks, diff, place.root, whole)

    def _answer_to(self, ticket: Ticket, call: ToolCall) -> tuple[Answered, str] | None:
        if ticket.grant is None:
            return None
        approval = self._state().approvals[ticket.grant.approval]
        payload = approval.payload
        asked = payload.call if isinstance(payload, ToolPayload | ScriptPayload) else ""
        return (approval.state, approval.id) if asked == call.id and isinstance(approval.state, Answered) else None

    # ── texts ────────────────────────────────────────────────────────────────────────────

    async def _shortened(self, text: str) -> tuple[str, Blob | None]:
        """A text as it fits into an event, and where the whole is if that is not all."""
        if len(text) <= INLINE:
            return text, None
        content = text.encode(errors="replace")
        return text[:INLINE], Blob(await self._keep(content), len(content))

    async def _blob(self, message: Message) -> Blob:
        content = msgspec.json.encode(message)
        return Blob(await self._keep(content), len(content))

    def _read(self, blob: Blob) -> Message:
        return _message.decode(self._fetch(blob.sha256))
