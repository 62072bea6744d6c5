"""A discussion's turn: the same dialogue as a worker's, on the user's own files.

A model call is disposable. A change to the user's files is lasting: it is recorded as begun before it is made, and if
the process dies in between, a person decides what to do.
"""

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
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.agents.context import JournalAccess, Toolbox
from interlock.engine.agents.conversation import unanswered
from interlock.engine.agents.dialogue import Answer, Dialogue, Question, Terms
from interlock.engine.agents.permission import permission
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.agents.tool_payload import tool_payload
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.calls import Booked, ModelCalls
from interlock.engine.prompts.load import load_prompt
from interlock.errors import OverBudget, Rejected, Unavailable
from interlock.identity.careful import is_below
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace
from interlock.ports.work import PolicyVerdict

TIER = "Discussion"
ROUNDS = 10
MOST_TEXT = 400_000

UNKNOWN = (
    "The workbench stopped during this call, and it is unknown whether the call took effect. The human chose to"
    " continue without repeating it: read the files before you rely on either outcome."
)


class TurnInputs(Struct, frozen=True):
    """The inputs of a turn, stored so that the turn can be shown, repeated and branched."""

    prompt: str
    stable_md: str
    file_items: tuple[str, ...]
    disc_text: str
    base_dir: str


class Chat:
    def __init__(
        self, calls: ModelCalls, toolbox: Toolbox, place: ToolPlace, journal: JournalAccess, rounds: int = ROUNDS
    ) -> None:
        self._calls = calls
        self._rounds = rounds
        self._toolbox = toolbox
        self._place = place
        self._journal = journal

    async def turn(self, discussion: Discussion) -> Command:
        """Continues the turn until it ends or has a question; returns the command that reports it."""
        texts, redact, tools = self._journal.texts, self._journal.redact, self._toolbox.tools
        messages = [await texts.read_message(blob) for blob in discussion.messages]
        inputs = msgspec.json.decode(await texts.read(discussion.made_of[-1].sha256), type=TurnInputs)
        if not _is_inside(inputs.base_dir, self._place):
            return EndTurn(discussion.id, f"{inputs.base_dir} is not a folder of this project, so nothing was done")
        place = replace(self._place, root=inputs.base_dir) if inputs.base_dir else self._place
        host = _Host(discussion.id, place, self._journal, self._toolbox, self._place)
        if discussion.given_up:
            for call in unanswered(messages)[:1]:
                lost = Message("tool", UNKNOWN, call_id=call.id)
                await host.keep_result(lost, call, ToolOutcome(UNKNOWN, failed=True), "unknown")
                messages.append(lost)
        terms = Terms(
            CallOwner(discussion=discussion.id),
            f"Discussion: {discussion.id}",
            TIER,
            load_prompt("discussion"),
            place,
            tools.offered(changing=True),
            self._rounds,
            context=inputs.stable_md.strip(),
        )
        tracked = TrackedFiles(tools, place, texts, (), redact)
        try:
            ended = await Dialogue(
                self._calls, tools, host, terms, messages, tracked, redact, self._journal.conceal
            ).run()
        except OverBudget as error:
            return EndTurn(discussion.id, str(error))
        except Unavailable as error:
            return EndTurn(discussion.id, f"the model does not answer: {error}")
        match ended:
            case Question(payload, why, again_of, allowed_by):
                return AskInDiscussion(discussion.id, payload, why, again_of, allowed_by)
            case Answer(_, limited):
                return EndTurn(discussion.id, f"the limit of {self._rounds} tool rounds was reached" if limited else "")


def _is_inside(folder: str, project: ToolPlace) -> bool:
    """Whether a folder is in the project after links are resolved; an empty name is the project itself."""
    return not folder or is_below(folder, project.root)


def check_message(text: str) -> None:
    """Raises Rejected for a message that cannot be sent."""
    if not text.strip():
        raise Rejected("the message is empty")
    if len(text) > MOST_TEXT:
        raise Rejected(f"a message has at most {MOST_TEXT:,} characters, this one {len(text):,}")


async def say_command(texts: KeptTexts, discussion: Discussion, text: str, stable_md: str, base_dir: str) -> Say:
    """Stores the user's message and the turn's inputs; returns the command that records them."""
    check_message(text)
    messages = [await texts.read_message(blob) for blob in discussion.messages]
    before = "\n\n".join(f"{message.role}: {message.text}" for message in messages if message.role != "tool")
    inputs = msgspec.json.encode(TurnInputs(text, stable_md, (), before, base_dir)).decode()
    return Say(
        discussion.id, await texts.message(Message("user", text)), Blob(await texts.keep(inputs), len(inputs.encode()))
    )


class _Host:
    """Implements `Host` for one turn."""

    lasting = True

    def __init__(
        self, discussion: str, place: ToolPlace, journal: JournalAccess, toolbox: Toolbox, project: ToolPlace
    ) -> None:
        self._name = discussion
        self._place = place
        self._project = project
        self._texts = journal.texts
        self._send = journal.send
        self._state = journal.state
        self._toolbox = toolbox

    async def keep_reply(self, message: Message, booked: Booked) -> None:
        kept, reply = await self._texts.message(message), booked.reply
        await self._send(ReplyInDiscussion(self._name, kept, TIER, reply.model, reply.usage, booked.call))

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None:
        kept = await self._texts.message(message)
        done = FinishDiscussionTool(self._name, kept, call.name, outcome.failed, by, outcome.refused)
        await self._send(done)

    def notes(self) -> tuple[str, ...]:
        return undelivered_notes(self._state(), CallOwner(discussion=self._name))

    async def keep_delivered(self, message: Message) -> bool:
        receipt = await self._send(Hear(CallOwner(discussion=self._name), await self._texts.message(message)))
        return bool(receipt.records)

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        return await permission(self._toolbox.policy, call, preview, self._place)

    def answer_to(self, call: ToolCall) -> tuple[Answered, Approval] | None:
        grant = self._state().discussion(self._name).grant
        if grant is None:
            return None
        approval = self._state().approvals[grant.approval]
        payload = approval.payload
        asked = payload.call if isinstance(payload, ToolPayload | ScriptPayload) else ""
        return (approval.state, approval) if asked == call.id and isinstance(approval.state, Answered) else None

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, Approval] | None:
        return None  # a turn is never repeated: an interrupted call becomes an approval of kind `unknown`

    async def begin(self, call: ToolCall) -> None:
        self._toolbox.check()
        if not _is_inside(self._place.root, self._project):  # a link may have taken its place since the turn began
            raise Rejected(f"{self._place.root} is not a folder of this project, so nothing was done")
        receipt = await self._send(BeginDiscussionTool(self._name, call.id))
        if not receipt.records:  # the turn is over, or the journal cannot be written: no change is allowed
            raise Rejected("the turn is over")

    async def payload(self, call: ToolCall, preview: Preview) -> ToolPayload | ScriptPayload:
        if preview.script is not None:
            return self._toolbox.script_terms(preview, self._place.root, call.id)
        return await tool_payload(self._texts, call, preview, self._place.root)

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        return ""
