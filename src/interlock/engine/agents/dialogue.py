"""A model and its tools in conversation, whoever it is for.

It asks the model, runs the tools that only read, and asks before the others. Where a person must be asked it ends, and
goes on from the same messages when there is an answer: everything it knows is in them (SPEC P3). Keeping the messages
and knowing the answers is its host's part.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.values.approvals import Answered, ScriptPayload, ToolPayload, digest
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.agents.conversation import (
    distinct,
    edited_call,
    for_request,
    rounds_since_asked,
    unanswered,
    why_asked,
)
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.agents.tool_outputs import READ_TOOL_OUTPUT, read_tool_output, with_reading
from interlock.engine.models.activity import ToolExecution
from interlock.engine.models.calls import Booked, ModelCalls
from interlock.errors import ToolFailure
from interlock.ports.model import Message, ModelRequest, Seen, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace, Tools, ToolSpec
from interlock.ports.work import PolicyVerdict

READING = "policy:reading"
"""Who lets a tool run that changes nothing."""

AT_ONCE = 8
"""Reading calls of one turn that run together."""

LAST_CALL = (
    "The limit of {} rounds of tools is reached; no more tools can be called. Answer now with what you have: what is"
    " done, what is not, and what you would do next."
)


MEANWHILE = "The user says, while you are at work:\n\n{}"


class Terms(Struct, frozen=True):
    """What a conversation is held with."""

    party: CallOwner
    key: str  # of the stream its text is shown under
    tier: str
    system: str
    place: ToolPlace
    offered: tuple[ToolSpec, ...]
    rounds: int  # of tools, for one request
    model: str | None = None
    context: str = ""  # what it is about, told after `system`


class Question(Struct, frozen=True):
    """A person must be asked first."""

    payload: ToolPayload | ScriptPayload
    why: str


class Answer(Struct, frozen=True):
    """The model has said its last word."""

    text: str
    limited: bool = False  # because it had no rounds left


class Host(Protocol):
    """Holds a conversation: keeps its messages, and knows what people and rules say to its questions."""

    async def keep_reply(self, message: Message, booked: Booked) -> None: ...

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None: ...

    def told(self) -> tuple[str, ...]:
        """What the user has said meanwhile, and is not in the conversation yet."""
        ...

    async def keep_heard(self, message: Message) -> bool:
        """The first of that, as the message that it is now; False: there is nothing to go on with any more."""
        ...

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        """What rules say to a call that changes something."""
        ...

    def answer_to(self, call: ToolCall) -> tuple[Answered, str] | None:
        """What a person has said to this very call, and the approval's id."""
        ...

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, str] | None:
        """What a person has said to exactly this before a crash cut it off."""
        ...

    async def begin(self, call: ToolCall) -> None:
        """A call that changes something is about to run: recorded first where its effect would outlive a crash."""
        ...

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        """What is to be said beside the result of a call that changed something, or tried to."""
        ...

    async def payload(self, call: ToolCall, preview: Preview) -> ToolPayload | ScriptPayload:
        """Exactly what would happen, as a person is asked about it."""
        ...


class Dialogue:
    def __init__(
        self,
        calls: ModelCalls,
        tools: Tools,
        host: Host,
        terms: Terms,
        messages: Sequence[Message],
        files: TrackedFiles,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._calls = calls
        self._tools = tools
        self._host = host
        self._terms = terms
        self._messages = list(messages)
        self._files = files
        self._redact = redact

    async def hold(self) -> Answer | Question:
        """As far as it goes now. Raises OverBudget and Unavailable when the model cannot be asked."""
        while True:
            if calls := unanswered(self._messages):
                if (question := await self._answer(calls)) is not None:
                    return question
                continue
            await self._hear()
            limited = rounds_since_asked(self._messages) >= self._terms.rounds
            last = self._messages[-1]
            if last.role == "assistant":
                return Answer(last.text, limited)
            await self._ask(last_call=limited)

    async def _hear(self) -> None:
        """What the user has said joins here: after all results of a round, before the model is asked again."""
        for text in self._host.told():
            word = Message("user", MEANWHILE.format(text))
            if not await self._host.keep_heard(word):
                return
            self._messages.append(word)

    # ── the model ────────────────────────────────────────────────────────────────────────

    async def _ask(self, *, last_call: bool) -> None:
        terms = self._terms
        messages = for_request(self._messages)
        if last_call:
            messages = (*messages, Message("user", LAST_CALL.format(terms.rounds)))
        offered = with_reading(terms.offered)
        request = ModelRequest(
            terms.tier,
            terms.party.ticket or None,
            terms.model,
            terms.system,
            messages,
            tools=() if last_call else offered,
            context=terms.context,
            withdrawn=offered if last_call else (),
        )
        booked = await self._calls.ask(terms.party, terms.key, request)
        reply = booked.reply.message
        calls = () if last_call else distinct(reply.calls, self._messages)
        said = Message(
            "assistant",
            self._redact(reply.text),
            calls,
            # A provider's own state is good only as it came: with a secret in it, it is not kept at all.
            session=reply.session if self._redact(reply.session) == reply.session else "",
            reasoning=self._redact(reply.reasoning),
        )
        await self._host.keep_reply(said, booked)
        self._messages.append(said)

    # ── its tools ────────────────────────────────────────────────────────────────────────

    async def _answer(self, calls: Sequence[ToolCall]) -> Question | None:
        """Results of the first call, and of those after it that only read as well, kept in their order; or the
        question that must be answered first.
        """
        reading = list(takewhile(lambda call: not self._changes(call), calls))[:AT_ONCE]
        met = await self._files.met(self._messages, reading or calls[:1])
        if not reading:
            told = await self._change(calls[0])
            if isinstance(told, Question):
                return told
            await self._keep(calls[0], *told, met, last=len(calls) == 1)
            return None
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._heard(call, call.args, self._read(call), READING)) for call in reading]
        for number, (call, task) in enumerate(zip(reading, tasks, strict=True), 1):
            await self._keep(call, task.result(), READING, met, last=number == len(calls))
            met = ()
        return None

    async def _keep(self, call: ToolCall, outcome: ToolOutcome, by: str, met: tuple[Seen, ...], *, last: bool) -> None:
        """With the last result of a round comes what has become of the files that were shown before."""
        updates, now = await self._files.changed(self._messages, met) if last else ("", ())
        text = self._redact(outcome.text)
        about = (self._calls.provider, self._terms.model or self._calls.default_model(self._terms.tier))
        self._calls.log("IN", "tool_call", *about, {"key": self._terms.key, "call": call, "allowed_by": by})
        self._calls.log("OUT", "tool_result", *about, {"key": self._terms.key, "id": call.id, "text": text})
        answer = Message("tool", text, call_id=call.id, updates=updates, seen=(*met, *now))
        await self._host.keep_result(answer, call, outcome, by)
        self._messages.append(answer)

    def _changes(self, call: ToolCall) -> bool:
        """Nothing that may not be called can change anything."""
        return not call.unread and any(spec.changes for spec in self._terms.offered if spec.name == call.name)

    async def _read(self, call: ToolCall) -> ToolOutcome:
        if call.unread:
            said = call.unread[:200]
            return ToolOutcome(f"The arguments of {call.name} must be a JSON object, not: {said}", failed=True)
        if call.name == READ_TOOL_OUTPUT.name:
            return read_tool_output(self._messages, call.args)
        names = [spec.name for spec in self._terms.offered]
        if call.name in names:
            return await self._tools.run(self._terms.place, call.name, call.args)
        if any(spec.name == call.name for spec in self._tools.offered(changing=True)):
            return ToolOutcome(f"{call.name} changes things; your role only reads.", failed=True)
        near = get_close_matches(call.name, names, n=3, cutoff=0.4) or names
        return ToolOutcome(f"There is no tool {call.name[:100]!r}. The nearest: {', '.join(near)}.", failed=True)

    async def _change(self, call: ToolCall) -> Question | tuple[ToolOutcome, str]:
        """The outcome and who allowed it, or the question."""
        place = self._terms.place
        try:
            preview = await self._tools.preview(place, call.name, call.args)
        except ToolFailure as failure:
            return ToolOutcome(str(failure), failed=True), READING
        answer = self._host.answer_to(call)
        said = await self._host.permission(call, preview) if answer is None else None
        if said is not None and said.verdict == "allow":
            rule = f"policy:{said.rule}"
            return await self._run(call, call.args, rule, env=said.env), rule
        if said is not None and said.verdict == "deny":
            told = f"DENIED by the rule {said.rule!r}: {said.reason}. It did not run, and asking again does not help."
            return ToolOutcome(told, failed=True), f"policy:{said.rule}"
        payload = await self._host.payload(call, preview)
        if answer is None:
            if (answer := self._host.answer_before(payload)) is None:
                return Question(payload, why_asked(preview, said.reason if said else ""))
        elif _is_other(payload, answer[0]):
            return Question(payload, "what it would do has changed")
        return await self._decided(call, *answer)

    async def _decided(self, call: ToolCall, decided: Answered, approval: str) -> tuple[ToolOutcome, str]:
        if decided.decision == "reject":
            reason = f": {decided.message}" if decided.message else ""
            return ToolOutcome(f"REJECTED by the human{reason}. It did not run.", failed=True), approval
        args, note = edited_call(call, decided)
        if isinstance(args, str):
            return ToolOutcome(args, failed=True), approval
        outcome = await self._run(call, args, approval, decided.hunks)
        return ToolOutcome(note + outcome.text, outcome.failed), approval

    async def _run(
        self,
        call: ToolCall,
        args: dict[str, Any],
        by: str,
        hunks: tuple[int, ...] | None = None,
        env: tuple[tuple[str, str], ...] = (),
    ) -> ToolOutcome:
        await self._host.begin(call)
        place = replace(self._terms.place, env=env) if env else self._terms.place
        outcome = await self._heard(call, args, self._tools.run(place, call.name, args, hunks), by)
        return ToolOutcome(outcome.text + await self._host.comment(call, args, outcome), outcome.failed)

    async def _heard(
        self, call: ToolCall, args: dict[str, Any], running: Awaitable[ToolOutcome], by: str
    ) -> ToolOutcome:
        """Runs it, and whoever looks on hears of its beginning and its end."""
        now, tell = asyncio.get_running_loop().time, self._calls.activity.tell
        begun, about = now(), ToolExecution(self._terms.key, self._terms.tier, call.name, args, by=by)
        tell(about)
        try:
            outcome = await running
        except asyncio.CancelledError:
            self._calls.activity.withdrawn(self._terms.key)
            raise
        took = round((now() - begun) * 1000)
        tell(replace(about, ended=True, result=outcome.text, failed=outcome.failed, duration_ms=took))
        return outcome


def _is_other(payload: ToolPayload | ScriptPayload, decided: Answered) -> bool:
    """What would run is not what was allowed. An edit is what a person wrote, and a no holds for anything."""
    return decided.decision != "reject" and decided.edited is None and digest(payload) != decided.digest
