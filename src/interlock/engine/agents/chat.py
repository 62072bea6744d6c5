"""A discussion's turn: the same loop as a worker's, on the user's own files.

Asking the model is disposable. A change to the user's files lasts: it is recorded as begun before it is made, and if
the process dies in between a person is asked what to do (SPEC J3).
"""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    EndTurn,
    FinishDiscussionTool,
    ReplyInDiscussion,
    Say,
)
from interlock.domain.messages.commands.steering_commands import Hear
from interlock.domain.rules.steering_rules import undelivered_notes
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered, ScriptPayload, ToolPayload
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.agents.conversation import unanswered
from interlock.engine.agents.dialogue import Answer, Dialogue, Question, Terms
from interlock.engine.agents.permission import permission
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.agents.tool_payload import tool_payload
from interlock.engine.blobs import Fetch, Keep, KeptTexts
from interlock.engine.models.calls import Booked, ModelCalls
from interlock.errors import OverBudget, Rejected, Unavailable
from interlock.ports.front import Receipt
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace, Tools
from interlock.ports.work import Policy, PolicyVerdict

TIER = "Discussion"
ROUNDS = 10
MOST_TEXT = 400_000

UNKNOWN = (
    "The workbench stopped while this was being done, and nobody knows whether it happened. The human chose to go on"
    " without doing it again: look at the files before you rely on either."
)

Send = Callable[[Command], Awaitable[Receipt]]


class TurnInputs(Struct, frozen=True):
    """What a turn is made of (SPEC P10): so it can be shown, repeated and branched."""

    prompt: str
    stable_md: str
    file_items: tuple[str, ...]
    disc_text: str
    base_dir: str


class Chat:
    def __init__(
        self,
        calls: ModelCalls,
        tools: Tools,
        place: ToolPlace,
        keep: Keep,
        fetch: Fetch,
        send: Send,
        state: Callable[[], State],
        script_terms: Callable[[str, str, str], ScriptPayload],
        redact: Callable[[str], str] = str,
        rounds: int = ROUNDS,
        policy: Policy | None = None,
    ) -> None:
        self._calls = calls
        self._rounds = rounds
        self._tools = tools
        self._place = place
        self._texts = KeptTexts(keep, fetch)
        self._send = send
        self._state = state
        self._script_terms = script_terms
        self._redact = redact
        self._policy = policy

    async def turn(self, found: Discussion) -> Command:
        """As far as it goes now; the command tells what comes next."""
        messages = [await self._texts.read_message(blob) for blob in found.messages]
        made_of = msgspec.json.decode(await self._texts.read(found.made_of[-1].sha256), type=TurnInputs)
        place = replace(self._place, root=made_of.base_dir) if made_of.base_dir else self._place
        host = _Host(found, place, self._texts, self._send, self._state, self._script_terms, self._policy)
        if found.given_up:
            for call in unanswered(messages)[:1]:
                lost = Message("tool", UNKNOWN, call_id=call.id)
                await host.keep_result(lost, call, ToolOutcome(UNKNOWN, failed=True), "unknown")
                messages.append(lost)
        terms = Terms(
            CallOwner(discussion=found.id),
            f"Discussion: {found.id}",
            TIER,
            _prompt(),
            place,
            self._tools.offered(changing=True),
            self._rounds,
            context=made_of.stable_md.strip(),
        )
        tracked = TrackedFiles(self._tools, place, self._texts, (), self._redact)
        try:
            ended = await Dialogue(self._calls, self._tools, host, terms, messages, tracked, self._redact).hold()
        except OverBudget as error:
            return EndTurn(found.id, str(error))
        except Unavailable as error:
            return EndTurn(found.id, f"the model does not answer: {error}")
        match ended:
            case Question(payload, why):
                return AskInDiscussion(found.id, payload, why)
            case Answer(_, limited):
                return EndTurn(found.id, f"the limit of {self._rounds} tool rounds was reached" if limited else "")


def check_words(text: str) -> None:
    """Raises Rejected for what cannot be said."""
    if not text.strip():
        raise Rejected("there is nothing to say: the text is empty")
    if len(text) > MOST_TEXT:
        raise Rejected(f"a message has at most {MOST_TEXT:,} characters, this one {len(text):,}")


async def say_command(texts: KeptTexts, found: Discussion, text: str, stable_md: str, base_dir: str) -> Say:
    """The user's words and what the turn is made of, kept before anything is recorded about them."""
    check_words(text)
    said = [await texts.read_message(blob) for blob in found.messages]
    before = "\n\n".join(f"{message.role}: {message.text}" for message in said if message.role != "tool")
    made_of = msgspec.json.encode(TurnInputs(text, stable_md, (), before, base_dir)).decode()
    return Say(
        found.id, await texts.message(Message("user", text)), Blob(await texts.keep(made_of), len(made_of.encode()))
    )


class _Host:
    """Plays `Host` for the turn under way."""

    def __init__(
        self,
        found: Discussion,
        place: ToolPlace,
        texts: KeptTexts,
        send: Send,
        state: Callable[[], State],
        script_terms: Callable[[str, str, str], ScriptPayload],
        policy: Policy | None,
    ) -> None:
        self._policy = policy
        self._name = found.id
        self._place = place
        self._texts = texts
        self._send = send
        self._state = state
        self._script_terms = script_terms

    async def keep_reply(self, message: Message, booked: Booked) -> None:
        kept, reply = await self._texts.message(message), booked.reply
        await self._send(ReplyInDiscussion(self._name, kept, TIER, reply.model, reply.usage, booked.call))

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None:
        kept = await self._texts.message(message)
        await self._send(FinishDiscussionTool(self._name, kept, call.name, outcome.failed, by))

    def told(self) -> tuple[str, ...]:
        return undelivered_notes(self._state(), CallOwner(discussion=self._name))

    async def keep_heard(self, message: Message) -> bool:
        receipt = await self._send(Hear(CallOwner(discussion=self._name), await self._texts.message(message)))
        return bool(receipt.records)

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        return await permission(self._policy, call, preview, self._place)

    def answer_to(self, call: ToolCall) -> tuple[Answered, str] | None:
        grant = self._state().discussion(self._name).grant
        if grant is None:
            return None
        approval = self._state().approvals[grant.approval]
        payload = approval.payload
        asked = payload.call if isinstance(payload, ToolPayload | ScriptPayload) else ""
        return (approval.state, approval.id) if asked == call.id and isinstance(approval.state, Answered) else None

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, str] | None:
        return None  # a turn is never thrown away: what was cut off in it is asked about as unknown

    async def begin(self, call: ToolCall) -> None:
        receipt = await self._send(BeginDiscussionTool(self._name, call.id))
        if not receipt.records:  # the turn is over, or nothing can be recorded any more: then nothing may be changed
            raise Rejected("the turn is over")

    async def payload(self, call: ToolCall, preview: Preview) -> ToolPayload | ScriptPayload:
        if preview.script is not None:
            return self._script_terms(preview.script, self._place.root, call.id)
        return await tool_payload(self._texts, call, preview, self._place.root)

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        return ""


def _prompt() -> str:
    return (files("interlock.engine") / "prompts" / "discussion.md").read_text(encoding="utf-8")
