"""A provider over HTTP in a real dialogue: rounds of tools, thoughts sent back, the last call."""

import asyncio

import msgspec
import pytest

from interlock.engine.agents.conversation import for_request
from interlock.engine.agents.dialogue import Answer, Dialogue, Terms
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.calls import GO_ON, PIECES, ModelCalls, Observers, Timing
from interlock.engine.models.streams import AnswerWriter, Streams
from interlock.errors import Unavailable
from interlock.ports.model import Message, Picture, ShownFile, ToolCall
from interlock.ports.tools import ToolPlace
from tests.engine.agents.test_dialogue import PARTY, Chat
from tests.providers.loopback import Fault, Json, Request, serving
from tests.providers.scripts import Called, Scripted
from tests.providers.vendors import VENDORS, Vendor, may_call, tool_names

each = pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.name for vendor in VENDORS])


class Talk(Chat):
    """A chat with the model of a given vendor."""

    def __init__(self, url: str, vendor: Vendor, rounds: int = 10) -> None:
        super().__init__(rounds=rounds)
        timing = Timing(lambda: 1.0, self._wait)
        self.calls = ModelCalls(vendor.create_model(url), self._submit, Observers(self.streams), timing)

    async def hold(self, *messages: Message, context: str = "") -> object:
        tools = self.tools.offered(changing=True)
        terms = Terms(PARTY, "Chat", "Tier 1", "Be brief.", ToolPlace("/here"), tools, self.rounds, context=context)
        files = TrackedFiles(self.tools, terms.place, KeptTexts(self._keep, self.blobs.__getitem__))
        redact = lambda text: text.replace("hunter2", "[redacted]")  # noqa: E731
        return await Dialogue(self.calls, self.tools, self.host, terms, messages, files, redact).run()


def looking(number: int, thought: str = "Hm.") -> Scripted:
    return Scripted((f"Round {number}.",), (thought,), (Called(f"c{number}", "look", ("{}",)),), "tools")


def answered(asked: Request) -> int:
    """The number of rounds in the request's history."""
    body: Json = asked.json
    messages = body.get("messages") or body.get("contents") or body["input"]
    return sum(
        "look" in str(m) and m.get("role", m.get("type")) in ("assistant", "model", "function_call") for m in messages
    )


@each
def test_rounds_of_tools_and_then_the_answer(vendor: Vendor) -> None:
    def script(asked: Request) -> Scripted:
        number = answered(asked)
        return looking(number) if number < 5 else Scripted(("Seen.",))

    async def story() -> None:
        async with serving(vendor.playing(script)) as server:
            talk = Talk(server.url, vendor)
            assert await talk.hold(Message("user", "go"), context="# Files") == Answer("Seen.")
            assert [message.role for message in talk.host.kept] == ["assistant", "tool"] * 5 + ["assistant"]
            assert {message.reasoning for message in talk.host.kept if message.calls} == {"Hm."}
            assert talk.streams.text("Chat").startswith("[thinking]\nHm.\n[/thinking]\n\nRound 0.\n\n[thinking]\nHm.")
            assert all("# Files" in str(asked.json) for asked in server.requests)

    asyncio.run(story())


@each
def test_when_its_rounds_are_used_up_it_answers_without_tools(vendor: Vendor) -> None:
    def script(asked: Request) -> Scripted:
        return Scripted(("That is all.",)) if not may_call(asked.json) else looking(answered(asked))

    async def story() -> None:
        async with serving(vendor.playing(script)) as server:
            talk = Talk(server.url, vendor, rounds=2)
            assert await talk.hold(Message("user", "go")) == Answer("That is all.", limited=True)
            names = list(map(tool_names, vendor.asked(server)))
            assert names == [names[0]] * 3 and names[0]

    asyncio.run(story())


@each
def test_an_answer_that_is_cut_at_its_limit_is_continued_and_one_answer(vendor: Vendor) -> None:
    pieces = [Scripted(("One, ",), ("Hm.",), stop="length"), Scripted(("two, ",), stop="length"), Scripted(("three.",))]

    async def story() -> None:
        async with serving(vendor.playing(lambda _: pieces.pop(0))) as server:
            talk = Talk(server.url, vendor)
            assert await talk.hold(Message("user", "go")) == Answer("One, two, three.")
            assert [message.text for message in talk.host.kept] == ["One, two, three."]
            assert GO_ON in str(vendor.asked(server)[-1]) and "two, " in str(vendor.asked(server)[-1])

    asyncio.run(story())


@each
@pytest.mark.parametrize(
    ("script", "words", "asked"),
    [
        (Scripted(("And on ",), stop="length"), "cut at the limit of its length 8 times", PIECES),
        (Scripted((), ("Hm.",), stop="length"), "before anything was said", 1),
    ],
)
def test_an_answer_without_an_end_is_none(vendor: Vendor, script: Scripted, words: str, asked: int) -> None:
    async def story() -> None:
        async with serving(vendor.playing(lambda _: script)) as server:
            talk = Talk(server.url, vendor)
            with pytest.raises(Unavailable, match=words):
                await talk.hold(Message("user", "go"))
            assert (talk.host.kept, len(vendor.asked(server))) == ([], asked)

    asyncio.run(story())


@each
def test_a_stream_that_breaks_is_asked_again_and_nothing_of_it_runs(vendor: Vendor) -> None:
    async def story() -> None:
        async with serving(vendor.playing(lambda r: looking(0) if not answered(r) else Scripted(("Seen.",)))) as server:
            talk = Talk(server.url, vendor)
            server.fault = Fault("cut", 700)

            async def wait(seconds: float) -> None:
                assert talk.tools.ran == []
                server.fault = None

            observers, timing = Observers(talk.streams), Timing(lambda: 1.0, wait)
            talk.calls = ModelCalls(vendor.create_model(server.url), talk._submit, observers, timing)
            assert await talk.hold(Message("user", "go")) == Answer("Seen.")
            assert len(server.requests) == 3

    asyncio.run(story())


def test_text_before_and_after_thinking_goes_back_in_its_order() -> None:
    vendor = VENDORS[0]
    first = Scripted(("I look. ", "Now."), ("Hm.",), (Called("c0", "look", ("{}",)),), "tools", interleaved=True)

    async def story() -> None:
        async with serving(vendor.playing(lambda r: Scripted(("x",)) if answered(r) else first)) as server:
            await Talk(server.url, vendor).hold(Message("user", "go"))
            blocks = server.requests[1].json["messages"][1]["content"]
            kinds = ["text", "thinking", "redacted_thinking", "text", "tool_use"]
            assert [block["type"] for block in blocks] == kinds
            assert [block["text"] for block in blocks if block["type"] == "text"] == ["I look. ", "Now."]

    asyncio.run(story())


def test_thoughts_with_a_secret_in_them_are_not_kept_as_they_came() -> None:
    vendor = VENDORS[0]

    async def story() -> None:
        async with serving(
            vendor.playing(lambda r: Scripted(("x",)) if answered(r) else looking(0, "hunter2!"))
        ) as server:
            talk = Talk(server.url, vendor)
            await talk.hold(Message("user", "go"))
            first = talk.host.kept[0]
            assert (first.reasoning, first.session) == ("[redacted]!", "")
            assert "hunter2" not in str(server.requests[1].json)

    asyncio.run(story())


def test_what_is_sent_of_a_message_is_all_but_its_thoughts_and_what_was_seen() -> None:
    picture = Picture("image/png", "0" * 64)
    seen = (ShownFile("a.py", "1"),)
    call = ToolCall("c", "look", {})
    history = (
        Message("user", "a", seen=seen, images=(picture,)),
        Message("assistant", "b", (call,), session="p {}", reasoning="Hm."),
        Message("tool", "c", call_id="c", seen=seen, images=(picture,)),
    )
    assert for_request(history) == (
        Message("user", "a", images=(picture,)),
        Message("assistant", "b", (call,), session="p {}"),
        Message("tool", "c", call_id="c", images=(picture,)),
    )


def test_messages_of_older_journals_are_read_and_new_ones_without_news_are_written_as_before() -> None:
    old = b'{"role":"assistant","text":"a","calls":[{"id":"c","name":"look","args":{}}],"session":"gemini_cli s"}'
    message = msgspec.json.decode(old, type=Message)
    assert message == Message("assistant", "a", (ToolCall("c", "look", {}),), session="gemini_cli s")
    assert msgspec.json.encode(message) == old


def test_thoughts_have_their_own_heading() -> None:
    streams = Streams()
    writer = AnswerWriter(streams, "k")
    for say, piece in (
        (writer.reasoning, "Hm"),
        (writer.reasoning, "."),
        (writer.text, ""),
        (writer.text, "Yes"),
        (writer.text, "."),
    ):
        say(piece)
    assert streams.text("k") == "[thinking]\nHm.\n[/thinking]\n\nYes."
