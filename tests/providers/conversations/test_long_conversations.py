"""Long random conversations through every dialect: the strict servers refuse nothing.

A conversation has large results (shortened later), edited files (blocks about changed files), answers cut at their
length limit, thinking before and after text, calls side by side, rejected calls, changed context, secrets that are
removed, and restarts in the middle.
"""

import asyncio
import json

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from interlock.domain.values.approvals import Answered, digest
from interlock.engine.agents.conversation import for_request
from interlock.engine.agents.dialogue import Answer, Dialogue, Question, Terms
from interlock.engine.agents.shown_files import TrackedFiles
from interlock.engine.agents.tool_calls.tool_outputs import COMPACTED_AT, NEWEST
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.calls import ModelCalls, Observers, Timing
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message
from interlock.ports.tools import ToolPlace
from interlock.providers.http.http_model import TokenLimits
from tests.engine.agents.test_dialogue import PARTY, Chat
from tests.engine.agents.tool_calls.test_tool_outputs import a_round
from tests.providers.loopback import Answer as Response
from tests.providers.loopback import Loopback, Refused, Request, serving
from tests.providers.scripts import Called, Scripted
from tests.providers.vendors import VENDORS, Vendor, may_call

each = pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.name for vendor in VENDORS])


class Turn(Struct, frozen=True):
    said: str
    answers: tuple[Scripted, ...]
    context: str
    rejects: bool
    restarts: bool
    large: int = 0  # characters of the user's message besides


_calls = st.one_of(
    st.builds(lambda size: ("look", {"size": size}), st.sampled_from([0, 300, 9_000, 60_000])),
    st.builds(
        lambda text: ("change", {"path": "a.py", "text": text}), st.sampled_from(["a\n", "b\n" * 90, "c\n" * 300])
    ),
    st.just(("run_shell", {"script": "ls"})),
    st.just(("nonesuch", {})),
)


@st.composite
def _answer(draw: st.DrawFn, number: int) -> Scripted:
    chosen = draw(st.lists(_calls, max_size=3))
    calls = tuple(Called(f"c{number}-{n}", name, (json.dumps(args),)) for n, (name, args) in enumerate(chosen))
    text = draw(st.sampled_from([("Done.",), ("I", " see."), ("It is hunter2.",), ("\n",), ()]))
    cut = draw(st.integers(0, 5)) == 0
    return Scripted(
        text if calls or "".join(text).strip() else ("Yes.",),
        draw(st.sampled_from([("Hm.",), ("One", " two."), ()])),
        calls,
        "length" if cut else "tools" if calls else "end",
        interleaved=draw(st.booleans()),
    )


@st.composite
def _turns(draw: st.DrawFn) -> list[Turn]:
    turns: list[Turn] = []
    for number in range(draw(st.integers(2, 5))):
        answers = tuple(draw(_answer(number * 100 + n)) for n in range(draw(st.integers(1, 8))))
        context = draw(st.sampled_from(["# Files", "# Files", "# Other files"]))
        turns.append(
            Turn(
                f"Do {number}.",
                answers,
                context,
                draw(st.booleans()),
                draw(st.booleans()),
                draw(st.sampled_from([0, 0, 0, 30_000, 390_000])),
            )
        )
    return turns


class Playing:
    """A conversation with a strict server: what is refused is collected."""

    def __init__(self, vendor: Vendor, limits: TokenLimits) -> None:
        self.chat = Chat(rounds=6)
        self.refused: list[str] = []
        self.answers: list[Scripted] = []
        self._vendor = vendor
        self._limits = limits
        self._play = vendor.playing(self._next)

    def _next(self, asked: Request) -> Scripted:
        if not may_call(asked.json):
            return Scripted(("Enough.",), ("Hm.",))
        return self.answers.pop(0) if self.answers else Scripted(("The end.",), ("Hm.",))

    async def play(self, request: Request) -> Response:
        try:
            return await self._play(request)
        except Refused as refused:
            self.refused.append(str(refused))
            raise

    def calls(self, server: Loopback) -> ModelCalls:
        model = self._vendor.create_model(server.url, limits=lambda name: self._limits)
        return ModelCalls(model, self.chat._submit, Observers(self.chat.streams), Timing(lambda: 1.0, self.chat._wait))

    async def turn(self, calls: ModelCalls, turn: Turn, messages: list[Message]) -> Answer:
        chat = self.chat
        self.answers = list(turn.answers)
        messages.append(Message("user", turn.said + " word" * (turn.large // 5)))
        tools = chat.tools.offered(changing=True)
        terms = Terms(
            PARTY, "Chat", "Tier 1", "Be brief.", ToolPlace("/here"), tools, chat.rounds, context=turn.context
        )
        files = TrackedFiles(chat.tools, terms.place, KeptTexts(chat._keep, chat.blobs.__getitem__), ("a.py",))

        def redact(text: str) -> str:
            return text.replace("hunter2", "[secret]")

        while True:
            try:
                ended = await Dialogue(calls, chat.tools, chat.host, terms, messages, files, redact).run()
            finally:
                messages += chat.host.kept
                chat.host.kept.clear()
            messages[:] = msgspec.json.decode(msgspec.json.encode(messages), type=list[Message])
            if isinstance(ended, Answer):
                return ended
            assert isinstance(ended, Question)
            decision = "reject" if turn.rejects else "approve"
            chat.host.answers[ended.payload.call] = Answered(decision, "human:u", "", digest=digest(ended.payload))


def _limits(vendor: Vendor, context: int) -> TokenLimits:
    return TokenLimits(context=context, temperature=None, fixed_history=vendor.fixed_history)


@each
@settings(max_examples=30, phases=(Phase.generate,))  # shrinking would take minutes
@given(turns=_turns(), context=st.sampled_from([40_000, 200_000]))
def test_no_request_of_a_long_conversation_is_refused(vendor: Vendor, turns: list[Turn], context: int) -> None:
    async def story() -> None:
        playing = Playing(vendor, _limits(vendor, context))
        async with serving(playing.play) as server:
            calls, messages = playing.calls(server), list[Message]()
            for turn in turns:
                try:
                    await playing.turn(calls, turn, messages)
                except Misconfigured as error:  # the message of this turn is larger than the context
                    assert turn.large > context and "say it in a shorter message" in str(error)
                except Unavailable as error:  # every answer of this turn was cut
                    assert "cut at the limit of its length" in str(error)
                if turn.restarts:
                    calls = playing.calls(server)
            assert playing.refused == []

    asyncio.run(story())


def test_of_a_fixed_history_nothing_changes_until_all_of_the_past_is_shortened_at_once() -> None:
    messages: list[Message] = [Message("user", "go")]
    before: tuple[Message, ...] = ()
    changes = 0
    for number in range(40):
        (asked, result) = a_round(number, 20_000)
        messages += [asked, msgspec.structs.replace(result, updates=f"[SYSTEM: FILES UPDATED]\n\nnumber {number}")]
        sent = for_request(messages, fixed=True)
        changes += sent[: len(before)] != before
        assert sum(len(message.text) for message in sent[:-1]) < COMPACTED_AT * 2 + 8_200 * number
        assert len(sent[-1].text) < NEWEST and sent[-1].text.endswith(f"number {number}")
        before = sent
        if number % 2:
            messages.append(Message("user", "and on"))
    assert 1 <= changes <= 4
