"""The dialogue of a model and its tools, with a host in memory."""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.call_commands import ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.call_events import CallReserved
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload, digest
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.agents.conversation import distinct
from interlock.engine.agents.dialogue import LAST_CALL, Answer, Dialogue, Question, Terms
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.activity import Happening, ToolExecution
from interlock.engine.models.calls import Booked, ModelCalls, Observers, Timing
from interlock.engine.models.streams import Streams
from interlock.ports.front import Receipt
from interlock.ports.model import Message, ModelRequest, ToolCall
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace
from interlock.ports.work import PolicyVerdict
from interlock.providers.scripted import ScriptedModel, ScriptedRule
from tests.engine.world import FakeTools, RecordingModel

PARTY = CallOwner(discussion="D-1")


class Notebook:
    """A host that stores everything in memory."""

    lasting = False

    def __init__(self) -> None:
        self.kept: list[Message] = []
        self.by: list[tuple[str, bool, str]] = []
        self.answers: dict[str, Answered] = {}
        self.words: list[str] = []

    def notes(self) -> tuple[str, ...]:
        return tuple(self.words)

    async def keep_delivered(self, message: Message) -> bool:
        self.kept.append(message)
        self.words.pop(0)
        return True

    async def keep_reply(self, message: Message, booked: Booked) -> None:
        self.kept.append(message)

    async def keep_result(self, message: Message, call: ToolCall, outcome: ToolOutcome, by: str) -> None:
        self.kept.append(message)
        self.by.append((call.name, outcome.failed, by))

    async def permission(self, call: ToolCall, preview: Preview) -> PolicyVerdict:
        if preview.script == "rm -rf /":
            return PolicyVerdict("deny", "no-rm", "it removes everything")
        if preview.script == "git status":
            return PolicyVerdict("allow", "git-status", "", (("GIT_PAGER", "cat"),))
        return PolicyVerdict("allow" if preview.script == "ls" else "ask", "harmless", "")

    def answer_to(self, call: ToolCall) -> tuple[Answered, Approval] | None:
        answer = self.answers.get(call.id)
        if answer is None:
            return None
        asked = ScriptPayload(str(call.args.get("script", "")), "/here", (), "off", call=call.id)
        return answer, Approval(
            id="A-1",
            kind="script",
            asker="worker:D-1/1",
            track="",
            payload=asked,
            digest=digest(asked),
            requested_at="",
            state=answer,
        )

    def answer_before(self, payload: ToolPayload | ScriptPayload) -> tuple[Answered, Approval] | None:
        return None

    async def begin(self, call: ToolCall, by: str) -> None: ...

    async def comment(self, call: ToolCall, args: dict[str, Any], outcome: ToolOutcome) -> str:
        return ""

    async def make(self, call: ToolCall, change: Callable[[], Awaitable[ToolOutcome]]) -> ToolOutcome:
        return await change()

    def why_again(self, call: ToolCall) -> str:
        return ""

    async def payload(
        self, call: ToolCall, preview: Preview, env: tuple[tuple[str, str], ...] = ()
    ) -> ToolPayload | ScriptPayload:
        return ScriptPayload(preview.script or "", "/here", (), "off", call=call.id)


class Chat:
    def __init__(self, *rules: dict[str, Any], rounds: int = 10) -> None:
        self.requests: list[ModelRequest] = []
        self.tools = FakeTools()
        self.host = Notebook()
        self.streams = Streams()
        self.rounds = rounds
        self.waits: list[float] = []
        self.happened: list[Happening] = []
        self.blobs: dict[str, bytes] = {}
        self._model = RecordingModel(ScriptedModel(msgspec.convert(list(rules), list[ScriptedRule])), self.requests)

    async def _submit(self, command: Command) -> Receipt:
        if not isinstance(command, ReserveCall):
            return Receipt(1, ())
        reserved = CallReserved("C-1", command.party, command.tier, command.model, command.amount or 0)
        return Receipt(1, (Recorded(1, "", "", "", reserved),))

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def _keep(self, content: bytes) -> str:
        name = sha256(content).hexdigest()
        self.blobs[name] = content
        return name

    async def go_on(self, *messages: Message) -> Answer | Question:
        calls = ModelCalls(self._model, self._submit, Observers(self.streams), Timing(lambda: 1.0, self._wait))
        calls.activity.listen(self.happened.append)
        tools = self.tools.offered(changing=True)
        terms = Terms(PARTY, "Chat", "Tier 1", "Be brief.", ToolPlace("/here"), tools, self.rounds)
        texts = KeptTexts(self._keep, self.blobs.__getitem__)
        files = TrackedFiles(self.tools, terms.place, texts)
        return await Dialogue(calls, self.tools, self.host, terms, messages, files).run()

    def ask(self, text: str = "go") -> Answer | Question:
        return asyncio.run(self.go_on(Message("user", text)))


def test_a_dialogue_needs_only_a_host_that_stores_its_messages() -> None:
    chat = Chat({"match": "go", "tool_calls": [{"name": "look"}]}, {"match": "look done", "reply": "Seen."})
    assert chat.ask() == Answer("Seen.")
    assert [message.role for message in chat.host.kept] == ["assistant", "tool", "assistant"]
    assert chat.host.by == [("look", False, "policy:reading")]
    assert [(r.tier, r.ticket, r.system) for r in chat.requests] == [("Tier 1", None, "Be brief.")] * 2
    assert chat.streams.text("Chat") == "Seen."


def test_it_stops_at_a_question_and_goes_on_with_its_answer() -> None:
    script = {"name": "run_shell", "args": {"script": "rm x"}}
    chat = Chat({"match": "go", "tool_calls": [script]}, {"match": "run_shell done", "reply": "Gone."})
    payload = ScriptPayload("rm x", "/here", (), "off", call="call-1")
    assert chat.ask() == Question(payload, "no rule allows this script")
    assert chat.tools.ran == []
    chat.host.answers["call-1"] = Answered("approve", "human:ann", "", digest=digest(payload))
    assert asyncio.run(chat.go_on(Message("user", "go"), *chat.host.kept)) == Answer("Gone.")
    assert chat.host.by == [("run_shell", False, "A-1")]


def test_an_edited_answer_runs_exactly_the_edit_that_its_digest_names() -> None:
    script = {"name": "run_shell", "args": {"script": "rm x"}}
    payload = ScriptPayload("rm x", "/here", (), "off", call="call-1")
    for allowed, ran in (
        (replace(payload, script="rm y"), True),
        (payload, False),
        (replace(payload, script="rm z"), False),
        (replace(payload, script="rm y", directory="/elsewhere"), False),
        (replace(payload, script="rm y", env_names=("LD_PRELOAD",)), False),
        (replace(payload, script="rm y", sandbox="bubblewrap"), False),
        (replace(payload, script="rm y", network=True), False),
    ):
        chat = Chat({"match": "go", "tool_calls": [script]}, {"match": "run_shell done", "reply": "Gone."})
        chat.ask()
        chat.host.answers["call-1"] = Answered("approve", "human:ann", "", edited="rm y", digest=digest(allowed))
        ended = asyncio.run(chat.go_on(Message("user", "go"), *chat.host.kept))
        again = Question(replace(payload, script="rm y"), "what it would do has changed since A-1 was answered", "A-1")
        assert ended == (Answer("Gone.") if ran else again)
        assert chat.tools.ran == ([("run_shell", {"script": "rm y"}, None)] if ran else [])


def test_a_call_that_a_rule_of_the_host_allows_needs_no_approval() -> None:
    script = {"name": "run_shell", "args": {"script": "ls"}}
    chat = Chat({"match": "go", "tool_calls": [script]}, {"match": "run_shell done", "reply": "Seen."})
    assert chat.ask() == Answer("Seen.")
    assert chat.host.by == [("run_shell", False, "policy:harmless")]


def test_a_call_that_a_rule_denies_goes_back_to_the_model_and_does_not_run() -> None:
    script = {"name": "run_shell", "args": {"script": "rm -rf /"}}
    chat = Chat({"match": "go", "tool_calls": [script]}, {"match": "DENIED by the rule 'no-rm'", "reply": "Oh."})
    assert chat.ask() == Answer("Oh.")
    assert (chat.tools.ran, chat.host.by) == ([], [("run_shell", True, "policy:no-rm")])
    (denied,) = [each for each in chat.happened if isinstance(each, ToolExecution)]
    assert (denied.tool, denied.by, denied.refused, denied.failed, denied.ended) == (
        "run_shell",
        "policy:no-rm",
        "denied",
        True,
        True,
    )


def test_what_a_rule_allows_runs_with_the_environment_it_is_allowed_with() -> None:
    script = {"name": "run_shell", "args": {"script": "git status"}}
    chat = Chat({"match": "go", "tool_calls": [script]}, {"match": "run_shell done", "reply": "Clean."})
    assert chat.ask() == Answer("Clean.")
    assert chat.tools.envs == [(("GIT_PAGER", "cat"),)]
    assert chat.host.by == [("run_shell", False, "policy:git-status")]


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_last_call_requests_an_answer_without_tools(rounds: int) -> None:
    chat = Chat({"match": "", "reply": "still looking", "tool_calls": [{"name": "look"}]}, rounds=rounds)
    assert chat.ask() == Answer("still looking", limited=True)
    assert len(chat.tools.ran) == rounds
    assert (chat.requests[-1].tools, chat.requests[-1].messages[-1].text) == ((), LAST_CALL.format(rounds))
    assert chat.host.kept[-1].calls == ()
    assert asyncio.run(chat.go_on(Message("user", "go"), *chat.host.kept)) == Answer("still looking", limited=True)


def test_a_new_request_has_all_its_rounds() -> None:
    chat = Chat({"match": "", "reply": "still looking", "tool_calls": [{"name": "look"}]}, rounds=2)
    chat.ask()
    asyncio.run(chat.go_on(Message("user", "go"), *chat.host.kept, Message("user", "and now?")))
    assert len(chat.tools.ran) == 4


def test_every_call_gets_an_id_of_its_own() -> None:
    before = (Message("assistant", "", (ToolCall("a", "look", {}),)),)
    calls = [ToolCall(name, "look", {}) for name in ("a", "", "b", "b", "")]
    assert [call.id for call in distinct(calls, before)] == ["a-2", "call-2", "b", "b-2", "call-3"]


class SlowTools(FakeTools):
    """A reading call ends only when `needs` calls run at the same time."""

    def __init__(self, needs: int) -> None:
        super().__init__()
        self._all_there = asyncio.Event()
        self._needs = needs
        self.order: list[str] = []

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        self.order.append(f"{name} {args.get('n', '')}".strip())
        if name == "look":
            self._needs -= 1
            if not self._needs:
                self._all_there.set()
            await self._all_there.wait()
            for _ in range(10 - int(args["n"])):  # the last requested call ends first
                await asyncio.sleep(0)
        return ToolOutcome(f"{name} done with {args}")


def test_calls_that_only_read_run_together_and_are_kept_in_their_order() -> None:
    chat = Chat(
        {"match": "go", "tool_calls": [{"name": "look", "args": {"n": n}} for n in range(3)]},
        {"match": "look done", "reply": "Seen."},
    )
    chat.tools = SlowTools(3)
    assert chat.ask() == Answer("Seen.")
    assert [m.text for m in chat.host.kept if m.role == "tool"] == [f"look done with {{'n': {n}}}" for n in range(3)]


def test_a_call_that_changes_something_waits_for_those_before_it_and_holds_up_those_after_it() -> None:
    look, change = {"name": "look"}, {"name": "run_shell", "args": {"script": "ls"}}
    calls = [{**look, "args": {"n": 1}}, {**look, "args": {"n": 2}}, change, {**look, "args": {"n": 3}}]
    chat = Chat({"match": "go", "tool_calls": calls}, {"match": "look done", "reply": "Seen."})
    chat.tools = tools = SlowTools(2)
    assert chat.ask() == Answer("Seen.")
    assert tools.order == ["look 1", "look 2", "run_shell", "look 3"]


@pytest.mark.parametrize("args", [[1], "path", 3, None])
def test_arguments_that_are_no_object_go_back_to_the_model(args: object) -> None:
    message = f"The arguments of run_shell must be a JSON object, not: {msgspec.json.encode(args).decode()}"
    chat = Chat(
        {"match": "go", "tool_calls": [{"name": "run_shell", "args": args}]}, {"match": message, "reply": "Oh."}
    )
    assert chat.ask() == Answer("Oh.")
    assert (chat.tools.ran, chat.host.by) == ([], [("run_shell", True, "policy:reading")])


def test_a_tool_that_is_not_there_is_answered_with_the_nearest() -> None:
    chat = Chat(
        {"match": "go", "tool_calls": [{"name": "lok"}, {"name": "zzz"}]},
        {"match": "There is no tool 'zzz'. The nearest: look, change, run_shell.", "reply": "Oh."},
    )
    assert chat.ask() == Answer("Oh.")
    assert chat.host.kept[1].text == "There is no tool 'lok'. The nearest: look."
    assert chat.tools.ran == []


@pytest.mark.parametrize("fault", [429, 500, "timeout", "garbage", "cut"])
def test_no_call_of_a_reply_that_failed_is_run(fault: object) -> None:
    call = {"name": "run_shell", "args": {"script": "ls"}}
    chat = Chat(
        {"match": "go", "reply": "I shall", "tool_calls": [call], "fault": fault, "times": 3},
        {"match": "go", "reply": "No need."},
    )
    assert chat.ask() == Answer("No need.")
    assert (chat.tools.ran, [message.text for message in chat.host.kept]) == ([], ["No need."])
    assert chat.waits == [0.5, 1.0, 2.0]


def test_a_note_of_the_user_is_delivered_after_the_results_of_a_round() -> None:
    rules = [
        {"match": "go", "tool_calls": [{"name": "look"}, {"name": "look"}]},
        {"match": "The user says, while you are at work:\n\nshorter", "reply": "Short."},
    ]
    chat = Chat(*rules)
    keep = chat.host.keep_reply

    async def keep_and_add_note(message: Message, booked: Booked) -> None:
        await keep(message, booked)
        if message.calls:
            chat.host.words.append("shorter")

    chat.host.keep_reply = keep_and_add_note
    assert chat.ask() == Answer("Short.")
    assert [message.role for message in chat.host.kept] == ["assistant", "tool", "tool", "user", "assistant"]
    assert [message.role for message in chat.requests[-1].messages] == ["user", "assistant", "tool", "tool", "user"]


def test_an_answer_from_before_a_note_was_delivered_is_not_final() -> None:
    chat = Chat({"match": "go", "reply": "Long."}, {"match": "shorter", "reply": "Short."})
    keep = chat.host.keep_reply

    async def keep_and_add_note(message: Message, booked: Booked) -> None:
        await keep(message, booked)
        if message.text == "Long.":
            chat.host.words.append("shorter")

    chat.host.keep_reply = keep_and_add_note
    assert chat.ask() == Answer("Short.")
    assert [message.role for message in chat.host.kept] == ["assistant", "user", "assistant"]
