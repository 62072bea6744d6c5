"""A discussion's turn: the same dialogue as a worker's, on the user's own files.

A model call is disposable. A change to the user's files is lasting: it is recorded as begun before it is made, and if
the process dies in between, a person decides what to do.
"""

from collections.abc import Awaitable, Callable
from hashlib import sha256
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
    StopTurn,
)
from interlock.domain.messages.commands.steering_commands import Hear
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.rules.steering_rules import undelivered_notes
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload
from interlock.domain.values.discussions import Discussion, Thinking, Waiting
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.engine.agents.context import JournalAccess, Toolbox
from interlock.engine.agents.conversation import UNKNOWN, unanswered
from interlock.engine.agents.dialogue import Answer, Dialogue, Question, Terms
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.agents.tool_calls.permission import permission
from interlock.engine.agents.tool_calls.tool_payload import tool_payload
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.calls import Booked, ModelCalls
from interlock.engine.prompts.load import NO_OWN, OwnPrompts
from interlock.errors import JournalError, OverBudget, Rejected, Unavailable
from interlock.identity.careful import is_below
from interlock.ports.effects import Effects, FoundEffect
from interlock.ports.model import Message, ToolCall
from interlock.ports.processes import Layer
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace, is_outside
from interlock.ports.work import PolicyVerdict

TIER = "Discussion"
ROUNDS = 10
MOST_TEXT = 400_000
MOST_NAMED = 10
PREVIEW_S = 60
"""The longest that a script runs before anybody is asked; a longer one is asked about without its effect."""

RESTARTED = "the workbench was restarted"


class TurnInputs(Struct, frozen=True):
    """The inputs of a turn, stored so that the turn can be shown, repeated and branched."""

    prompt: str
    stable_md: str
    file_items: tuple[str, ...]
    disc_text: str
    base_dir: str
    caller: str = ""  # an outside program that made the turn's only call; no model takes part then


class Chat:
    def __init__(
        self,
        calls: ModelCalls,
        toolbox: Toolbox,
        place: ToolPlace,
        journal: JournalAccess,
        rounds: int = ROUNDS,
        prompts: OwnPrompts = NO_OWN,
    ) -> None:
        self._prompts = prompts
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
            redact(self._prompts.system("discussion")),
            place,
            tools.offered(changing=True),
            self._rounds,
            context=inputs.stable_md.strip(),
            found=lambda messages: self._toolbox.found(messages, True),
            replies=not inputs.caller,
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


async def call_command(texts: KeptTexts, discussion: Discussion, caller: str, call: ToolCall) -> Say:
    """Stores one call of an outside program as the message of a turn in which no model takes part."""
    inputs = msgspec.json.encode(TurnInputs(call.name, "", (), "", "", caller)).decode()
    return Say(
        discussion.id,
        await texts.message(Message("assistant", f"{call.name}, called by {caller}", (call,))),
        Blob(await texts.keep(inputs), len(inputs.encode())),
    )


async def end_orphaned_calls(workbench: Workbench, texts: KeptTexts) -> None:
    """After a restart: a call of an outside program is not continued, because that program waits no more.

    A change that was under way stays a question for a person.
    """
    for discussion in workbench.state.discussions_in_order():
        open_turn = isinstance(discussion.stage, Thinking | Waiting) and discussion.made_of
        if open_turn and (caller := await _caller(texts, discussion)):
            await workbench.submit(SYSTEM, StopTurn(discussion.id, f"{caller} is gone: {RESTARTED}"))


async def _caller(texts: KeptTexts, discussion: Discussion) -> str:
    """The program that made the turn's call; empty for a turn of a person, or if its inputs were removed."""
    try:
        return msgspec.json.decode(await texts.read(discussion.made_of[-1].sha256), type=TurnInputs).caller
    except (OSError, JournalError, msgspec.MsgspecError):
        return ""


def preview_prefix(discussion: str, call: str = "") -> str:
    """How the keys of a discussion's previews begin, or those of one call."""
    return f"{discussion}-{sha256(call.encode()).hexdigest()[:12]}-" if call else f"{discussion}-"


def preview_key(discussion: str, call: ToolCall, env: tuple[tuple[str, str], ...], root: str) -> str:
    """Different for every script, environment and folder: a preview is never used for another one."""
    exact = msgspec.json.encode((call.name, sorted(call.args.items()), env, root))
    return preview_prefix(discussion, call.id) + sha256(exact).hexdigest()[:24]


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
        self._found: dict[str, tuple[str, FoundEffect]] = {}  # by call: the key and what its script would change
        self._edited: dict[str, tuple[str, ...]] = {}  # by call: the files that it edits

    async def keep_reply(self, message: Message, booked: Booked) -> None:
        kept, reply = await self._texts.message(message), booked.reply
        await self._send(ReplyInDiscussion(self._name, kept, TIER, reply.model, reply.usage, booked.call))

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None:
        kept = await self._texts.message(message)
        done = FinishDiscussionTool(self._name, kept, call.name, outcome.failed, by, outcome.refused)
        await self._send(done)
        if self._toolbox.effects is not None:
            await self._toolbox.effects.forget(preview_prefix(self._name, call.id))

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

    async def begin(self, call: ToolCall, by: str) -> None:
        self._toolbox.check()
        if not _is_inside(self._place.root, self._project):  # a link may have taken its place since the turn began
            raise Rejected(f"{self._place.root} is not a folder of this project, so nothing was done")
        receipt = await self._send(BeginDiscussionTool(self._name, call.id))
        if not receipt.records:  # the turn is over, or the journal cannot be written: no change is allowed
            raise Rejected("the turn is over")

    async def payload(
        self, call: ToolCall, preview: Preview, env: tuple[tuple[str, str], ...] = ()
    ) -> ToolPayload | ScriptPayload:
        if preview.script is None:
            self._edited[call.id] = tuple(dict.fromkeys(hunk.path for hunk in preview.hunks))
            return await tool_payload(self._texts, call, preview, self._place.root)
        terms = self._toolbox.script_terms(preview, self._place.root, call.id)
        if self._toolbox.effects is None:
            return terms
        found = await self._effect(self._toolbox.effects, call, preview, env)
        diff, whole = await self._texts.shortened(found.diff)
        ended = found.outcome.text.splitlines()[0] if found.outcome and found.outcome.text else ""
        return replace(
            terms, effect=ScriptEffect(found.digest, found.files, found.more, diff, whole, ended, found.unknown)
        )

    async def _effect(
        self, effects: Effects, call: ToolCall, preview: Preview, env: tuple[tuple[str, str], ...]
    ) -> FoundEffect:
        """What the script would change. It runs for that, sandboxed, and nothing of it lasts."""
        if preview.services:
            return FoundEffect(unknown="it runs beside the project's services")
        place = replace(self._place, env=env)
        key = preview_key(self._name, call, env, place.root)

        async def run(layer: Layer) -> ToolOutcome:
            self._toolbox.check()
            args = {**call.args, "timeout_s": min(int(call.args.get("timeout_s", PREVIEW_S)), PREVIEW_S)}
            return await self._toolbox.tools.run(replace(place, layer=layer), call.name, args)

        found = await effects.preview(key, place.root, run)
        known = self._found.get(call.id, ("", found))[1]
        self._found[call.id] = key, replace(found, moved=found.moved or known.moved)
        return found

    def why_again(self, call: ToolCall) -> str:
        changed = self._found[call.id][1].moved if call.id in self._found else ()
        return f"these files changed meanwhile: {', '.join(changed[:MOST_NAMED])}" if changed else ""

    async def make(self, call: ToolCall, change: Callable[[], Awaitable[ToolOutcome]]) -> ToolOutcome:
        """Applies exactly the changes that were shown; what could not be shown runs now. Either can be undone."""
        effects, root = self._toolbox.effects, self._place.root
        if effects is None or is_outside(self._toolbox.tools, call.name):  # there is no change of files to undo
            return await change()
        key, found = self._found.get(call.id, ("", FoundEffect(unknown="it was not previewed")))
        what = f"{call.name} in discussion {self._name}"
        if not found.unknown:
            self._toolbox.passed(str(call.args.get("script", "")))
            return await effects.apply(key, root, found.digest, what)
        return await effects.watched(root, self._edited.get(call.id, ()), what, change)

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        return ""
