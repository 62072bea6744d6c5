"""The loop of a model and its tools, for tickets and discussions alike.

It asks the model, runs reading tools, and requires permission for changing ones. Where a person must answer it ends;
after the answer it continues from the same messages, which are its whole state. A host stores the messages and
provides the answers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.messages.envelopes import is_rule
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload, allows, kept_edit
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.agents.conversation import (
    approval_reason,
    distinct,
    edited_call,
    for_request,
    rounds_since_asked,
    unanswered,
    with_edit_of,
)
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.agents.tool_calls.tool_outputs import READ_TOOL_OUTPUT, read_tool_output, with_reading
from interlock.engine.bench.concealing import conceal_texts
from interlock.engine.models.activity import ToolExecution
from interlock.engine.models.calls import Booked, ModelCalls
from interlock.errors import ToolFailure
from interlock.ports.model import Message, ModelRequest, ShownFile, ToolCall
from interlock.ports.tools import Preview, Refused, ToolOutcome, ToolPlace, Tools, ToolSpec
from interlock.ports.work import PolicyVerdict
from interlock.views.imitation import noted

READING = "policy:reading"
"""The actor that allows tools which change nothing."""

AT_ONCE = 8
"""The most reading calls that run at the same time."""

LAST_CALL = (
    "The limit of {} rounds of tools is reached; no more tools can be called. Answer now with what you have: what is"
    " done, what is not, and what you would do next."
)


MEANWHILE = "The user says, while you are at work:\n\n{}"


Found = Callable[[Sequence[Message]], tuple[ToolSpec, ...]]


def nothing_found(messages: Sequence[Message]) -> tuple[ToolSpec, ...]:
    return ()


class Terms(Struct, frozen=True):
    """The parameters of a conversation."""

    party: CallOwner
    key: str  # of the stream that shows its text
    tier: str
    system: str
    place: ToolPlace
    offered: tuple[ToolSpec, ...]
    rounds: int  # the most rounds of tool calls for one request
    model: str | None = None
    context: str = ""  # sent after `system`
    found: Found = nothing_found  # further tools that the conversation itself has found
    replies: bool = True  # a model replies to the results; without it the conversation ends after them


class Question(Struct, frozen=True):
    """A person must answer first; or, with `allowed_by`, the rule's answer must be recorded first."""

    payload: ToolPayload | ScriptPayload
    why: str
    again_of: str = ""  # the answered approval that no longer fits
    allowed_by: str = ""
    asked_by: str = ""  # the rule that wants a person's answer


class Answer(Struct, frozen=True):
    """The model's final answer."""

    text: str
    limited: bool = False  # it ended because the limit of rounds was reached


class Host(Protocol):
    """Stores a conversation's messages, and provides the answers of people and rules."""

    lasting: bool
    """Whether changes outlive a crash; then what a rule allows is recorded before it runs."""

    async def keep_reply(self, message: Message, booked: Booked) -> None: ...

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None: ...

    def notes(self) -> tuple[str, ...]:
        """Notes of the user that are not in the conversation yet."""
        ...

    async def keep_delivered(self, message: Message) -> bool:
        """Records that the first note was delivered as this message; False if the conversation is over."""
        ...

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        """The verdict of the rules on a changing call."""
        ...

    def answer_to(self, call: ToolCall) -> tuple[Answered, Approval] | None:
        """A person's answer to this call, and the approval."""
        ...

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, Approval] | None:
        """A person's answer to exactly this payload in an attempt that a crash ended."""
        ...

    async def begin(self, call: ToolCall, by: str) -> None:
        """Called before a changing call runs; records it if its effect would outlive a crash. `by` allowed it."""
        ...

    async def make(self, call: ToolCall, change: Callable[[], Awaitable[ToolOutcome]]) -> ToolOutcome:
        """Makes the change of a call that is allowed: by `change`, or as it was shown."""
        ...

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        """A text to append to the result of a changing call."""
        ...

    async def payload(
        self, call: ToolCall, preview: Preview, env: tuple[tuple[str, str], ...] = ()
    ) -> ToolPayload | ScriptPayload:
        """Exactly what would happen, for the approval. `env` is what a rule adds to the environment."""
        ...

    def why_again(self, call: ToolCall) -> str:
        """What changed since the call was approved, if the host knows it."""
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
        conceal: Callable[[str], str] = str,
    ) -> None:
        self._calls = calls
        self._tools = tools
        self._host = host
        self._terms = terms
        self._messages = list(messages)
        self._files = files
        self._redact = redact
        self._conceal = conceal

    async def run(self) -> Answer | Question:
        """Continues until an answer or a question. Raises OverBudget and Unavailable from model calls."""
        while True:
            if calls := unanswered(self._messages):
                if (question := await self._answer(calls)) is not None:
                    return question
                continue
            if not self._terms.replies:
                return Answer("")
            await self._deliver_notes()
            limited = rounds_since_asked(self._messages) >= self._terms.rounds
            last = self._messages[-1]
            if last.role == "assistant":
                return Answer(last.text, limited)
            await self._ask(last_call=limited)

    async def _deliver_notes(self) -> None:
        """Adds the user's notes after all results of a round, before the next model call."""
        for text in self._host.notes():
            note = Message("user", MEANWHILE.format(text))
            if not await self._host.keep_delivered(note):
                return
            self._messages.append(note)

    # ── the model ────────────────────────────────────────────────────────────────────────

    async def _ask(self, *, last_call: bool) -> None:
        terms = self._terms
        messages = for_request(self._messages, fixed=self._calls.fixes_history(terms.tier, terms.model))
        if last_call:
            messages = (*messages, Message("user", LAST_CALL.format(terms.rounds)))
        offered = with_reading(self._offered())
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
        calls = () if last_call else conceal_texts(distinct(reply.calls, self._messages), self._conceal, self._conceal)
        message = Message(
            "assistant",
            self._redact(reply.text),
            calls,
            # A provider's state works only unchanged: if it holds a secret, it is not stored at all.
            session=reply.session if self._redact(reply.session) == reply.session else "",
            reasoning=self._redact(reply.reasoning),
        )
        await self._host.keep_reply(message, booked)
        self._messages.append(message)

    # ── its tools ────────────────────────────────────────────────────────────────────────

    async def _answer(self, calls: Sequence[ToolCall]) -> Question | None:
        """Runs the first call, together with directly following ones that only read; stores results in order.

        Returns the question that a person must answer first, if there is one.
        """
        reading = list(takewhile(lambda call: not self._changes(call), calls))[:AT_ONCE]
        met = await self._files.first_shown(self._messages, reading or calls[:1])
        if not reading:
            outcome = await self._change(calls[0])
            if isinstance(outcome, Question):
                return outcome
            await self._keep(calls[0], *outcome, met, last=len(calls) == 1)
            return None
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._observed(call, call.args, self._read(call), READING)) for call in reading]
        for number, (call, task) in enumerate(zip(reading, tasks, strict=True), 1):
            await self._keep(call, task.result(), READING, met, last=number == len(calls))
            met = ()
        return None

    async def _keep(
        self, call: ToolCall, outcome: ToolOutcome, by: str, met: tuple[ShownFile, ...], *, last: bool
    ) -> None:
        """Stores a result; the last one of a round carries the note about changed files."""
        updates, now = await self._files.changed(self._messages, met) if last else ("", ())
        text = self._redact(outcome.text)
        about = (self._calls.provider, self._terms.model or self._calls.default_model(self._terms.tier))
        self._calls.log("IN", "tool_call", *about, {"key": self._terms.key, "call": call, "allowed_by": by})
        self._calls.log("OUT", "tool_result", *about, {"key": self._terms.key, "id": call.id, "text": text})
        answer = Message("tool", text, call_id=call.id, updates=updates, seen=(*met, *now))
        await self._host.keep_result(answer, call, outcome, by)
        self._messages.append(answer)

    def _changes(self, call: ToolCall) -> bool:
        """Only an offered tool with readable arguments can change something."""
        return not call.unread and any(spec.changes for spec in self._offered() if spec.name == call.name)

    def _offered(self) -> tuple[ToolSpec, ...]:
        fixed = self._terms.offered
        names = {spec.name for spec in fixed}
        return (*fixed, *(spec for spec in self._terms.found(self._messages) if spec.name not in names))

    async def _read(self, call: ToolCall) -> ToolOutcome:
        if call.unread:
            return ToolOutcome(
                f"The arguments of {call.name} must be a JSON object, not: {call.unread[:200]}", failed=True
            )
        if call.name == READ_TOOL_OUTPUT.name:
            return _noted(read_tool_output(self._messages, call.args))
        names = [spec.name for spec in self._offered()]
        if call.name in names:
            return _noted(await self._tools.run(self._terms.place, call.name, call.args))
        if any(spec.name == call.name for spec in self._tools.offered(changing=True)):
            return ToolOutcome(f"{call.name} changes things; your role only reads.", failed=True)
        if why := self._tools.why_off(call.name):
            return ToolOutcome(f"The tool {call.name!r} cannot be used: {why}.", failed=True)
        near = get_close_matches(call.name, names, n=3, cutoff=0.4) or names
        return ToolOutcome(f"There is no tool {call.name[:100]!r}. The nearest: {', '.join(near)}.", failed=True)

    async def _change(self, call: ToolCall) -> Question | tuple[ToolOutcome, str]:
        """The outcome and the actor or rule that allowed it, or the question."""
        answer = self._host.answer_to(call)
        shown = call if answer is None else with_edit_of(call, kept_edit(answer[1]))  # as the question showed it
        try:
            preview = await self._tools.preview(self._terms.place, shown.name, shown.args)
        except ToolFailure as failure:
            return ToolOutcome(str(failure), failed=True), READING
        if answer is None or is_rule(answer[0].by):
            verdict = await self._host.permission(call, preview)
            if verdict.verdict == "deny":
                denial = f"DENIED by the rule {verdict.rule!r}: {verdict.reason}. It did not run; do not ask again."
                return self._refused(call, denial, "denied", f"policy:{verdict.rule}")
            if verdict.verdict == "allow":
                return await self._allowed(call, preview, verdict, answer)
            if answer is None:
                return await self._asked(call, shown, preview, verdict)
            why = f"a rule allowed it before, but: {verdict.reason}"
            payload = await self._host.payload(shown, preview)
            return Question(payload, why, answer[1].id, asked_by=verdict.asking_rule)
        if answer[0].decision == "reject":  # it holds for any payload
            return await self._decided(call, answer[0], answer[1].id)
        payload = await self._host.payload(shown, preview)
        if not allows(answer[1], payload) or _is_edited_anew(*answer, payload):
            return await self._ask_again(call, *answer)
        return await self._decided(call, answer[0], answer[1].id)

    async def _asked(
        self, call: ToolCall, shown: ToolCall, preview: Preview, verdict: PolicyVerdict
    ) -> Question | tuple[ToolOutcome, str]:
        payload = await self._host.payload(shown, preview)
        if (before := self._host.answer_before(payload)) is not None:
            return await self._decided(call, before[0], before[1].id)
        return Question(payload, approval_reason(preview, verdict.reason), asked_by=verdict.asking_rule)

    async def _allowed(
        self, call: ToolCall, preview: Preview, verdict: PolicyVerdict, answer: tuple[Answered, Approval] | None
    ) -> Question | tuple[ToolOutcome, str]:
        """Runs what a rule allows. If its effect lasts, it is first recorded as requested and answered."""
        rule = f"policy:{verdict.rule}"
        if self._host.lasting:
            payload = await self._host.payload(call, preview, verdict.env)
            if isinstance(payload, ScriptPayload) and verdict.env:
                names = {*payload.env_names, *(name for name, _ in verdict.env)}
                payload = replace(payload, env_names=tuple(sorted(names)))
            if answer is None or not allows(answer[1], payload):
                return Question(payload, verdict.reason or "a rule allows it", allowed_by=verdict.rule)
        return await self._run(call, call.args, rule, env=verdict.env), rule

    async def _ask_again(
        self, call: ToolCall, decided: Answered, approval: Approval
    ) -> Question | tuple[ToolOutcome, str]:
        """The question about the call as the person edited it: the edit stays until the question is answered."""
        edited = with_edit_of(call, decided.edited)
        try:
            preview = await self._tools.preview(self._terms.place, edited.name, edited.args)
        except ToolFailure as failure:
            return ToolOutcome(str(failure), failed=True), approval.id
        payload = await self._host.payload(edited, preview)
        if _is_edited_anew(decided, approval, payload):
            return Question(payload, f"the script was edited in {approval.id}; this is its effect now", approval.id)
        why = self._host.why_again(call)
        why = f"what it would do has changed since {approval.id} was answered{f': {why}' if why else ''}"
        return Question(payload, why, approval.id)

    async def _decided(self, call: ToolCall, decided: Answered, approval: str) -> tuple[ToolOutcome, str]:
        if decided.decision == "reject":
            reason = f": {decided.message}" if decided.message else ""
            return self._refused(call, f"REJECTED by the human{reason}. It did not run.", "rejected", approval)
        args, note = edited_call(call, decided)
        if isinstance(args, str):
            return ToolOutcome(args, failed=True), approval
        outcome = await self._run(call, args, approval, decided.hunks)
        return ToolOutcome(note + outcome.text, outcome.failed), approval

    def _refused(self, call: ToolCall, text: str, how: Refused, by: str) -> tuple[ToolOutcome, str]:
        """The outcome of a call that does not run; it is published as well, so that logs have it."""
        execution = ToolExecution(self._terms.key, self._terms.tier, call.name, call.args, by=by, refused=how)
        self._calls.activity.publish(replace(execution, ended=True, result=text, failed=True))
        return ToolOutcome(text, failed=True, refused=how), by

    async def _run(
        self,
        call: ToolCall,
        args: dict[str, Any],
        by: str,
        hunks: tuple[int, ...] | None = None,
        env: tuple[tuple[str, str], ...] = (),
    ) -> ToolOutcome:
        await self._host.begin(call, by)
        place = replace(self._terms.place, env=env) if env else self._terms.place

        async def change() -> ToolOutcome:
            return await self._tools.run(place, call.name, args, hunks)

        outcome = await self._observed(call, args, self._host.make(call, change), by)
        comment = await self._host.comment(call, args, outcome)
        return ToolOutcome(noted(outcome.text) + comment, outcome.failed)

    async def _observed(
        self, call: ToolCall, args: dict[str, Any], running: Awaitable[ToolOutcome], by: str
    ) -> ToolOutcome:
        """Runs a call and publishes its beginning and its end."""
        now, tell = asyncio.get_running_loop().time, self._calls.activity.publish
        started, execution = now(), ToolExecution(self._terms.key, self._terms.tier, call.name, args, by=by)
        tell(execution)
        try:
            outcome = await running
        except asyncio.CancelledError:
            self._calls.activity.withdrawn(self._terms.key)
            raise
        took = round((now() - started) * 1000)
        tell(replace(execution, ended=True, result=outcome.text, failed=outcome.failed, duration_ms=took))
        return outcome


def _is_edited_anew(decided: Answered, approval: Approval, payload: ToolPayload | ScriptPayload) -> bool:
    """Whether the answer edits a script whose effect is shown first: the effect of the edit is not seen by anybody."""
    shows = isinstance(payload, ScriptPayload) and bool(payload.effect)
    return shows and decided.edited is not None and decided.edited != kept_edit(approval)


def _noted(outcome: ToolOutcome) -> ToolOutcome:
    return replace(outcome, text=noted(outcome.text))
