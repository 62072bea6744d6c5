"""Gemini's server-side caches: minimal size, lifetime, renewal, and removal at the end."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from interlock.domain.values.budgets import Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, ModelRequest, Reply, close_model, ignore_text
from interlock.providers.catalog import facts_of
from interlock.providers.credentials import KEYS
from interlock.providers.endpoints import HttpAccess, ModelUse, hosted_model
from interlock.providers.gemini.cache import CLOSING_S, ServerCaches
from interlock.providers.http.channel import Channel, Endpoint
from interlock.providers.priced import Priced, Tariff
from tests.providers.gemini_server import KEY, MODEL, NEWER, GeminiServer
from tests.providers.loopback import Answer, Fault, Json, Loopback, Refused, Request, serving
from tests.providers.scripts import TEXT_REPLY, Called, Scripted
from tests.providers.vendors import READ


class Scene:
    """A Gemini model, its fake server, and a fake clock."""

    def __init__(self, loopback: Loopback, server: GeminiServer, tokens: int) -> None:
        self.loopback = loopback
        self.server = server
        self.tokens = tokens
        self.at = 1_000_000.0
        self.notes: list[str] = []
        self.model = hosted_model(
            "gemini",
            {KEYS["gemini"][0]: KEY},
            HttpAccess(base_url=loopback.url),
            ModelUse(
                count=lambda text: self.tokens if "functionDeclarations" in text else 1,
                now=lambda: self.at,
                price=lambda model, usage: usage.input + 10 * usage.cache_write + 100 * usage.cache_read,
            ),
        )

    async def ask(self, system: str = "Be exact.", **more: Any) -> Reply:
        ticket, model, tools = more.pop("ticket", None), more.pop("model", None), more.pop("tools", (READ,))
        asked = ModelRequest("Tier 3", ticket, model, system, (Message("user", "Hello."),), tools, **more)
        return await self.model.complete(asked, ignore_text, self.notes.append)

    @property
    def bodies(self) -> list[Json]:
        return [sent.json for sent in self.loopback.requests if "GenerateContent" in sent.target]

    @property
    def used(self) -> list[str | None]:
        """The cache that each request names."""
        return [body.get("cachedContent") for body in self.bodies]


@asynccontextmanager
async def scene(
    tokens: int = 5_000, script: Callable[[Request], Scripted] = lambda _: TEXT_REPLY
) -> AsyncGenerator[Scene]:
    server = GeminiServer(script)
    async with serving(server.play) as loopback:
        yield Scene(loopback, server, tokens)


def run(story: Callable[[Scene], Any], **more: Any) -> None:
    async def whole() -> None:
        async with scene(**more) as scene_under_test:
            await story(scene_under_test)

    asyncio.run(whole())


@pytest.mark.parametrize(("tokens", "cached"), [(2_047, False), (2_048, True)])
def test_from_2048_tokens_on_there_is_a_cache(tokens: int, cached: bool) -> None:
    async def story(at: Scene) -> None:
        await at.ask(context="# Files")
        assert at.used == (["cachedContents/c0"] if cached else [None])
        assert ("tools" in at.bodies[0]) == ("systemInstruction" in at.bodies[0]) == (not cached)

    run(story, tokens=tokens)


def test_a_cache_holds_prompt_context_and_tools_for_an_hour() -> None:
    async def story(at: Scene) -> None:
        await at.ask(context="# Files")
        declared = {
            "name": "read_file",
            "description": "Reads.",
            "parameters": {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}},
        }
        assert at.server.caches["cachedContents/c0"] == {
            "model": f"models/{MODEL}",
            "systemInstruction": {"parts": [{"text": "Be exact."}, {"text": "# Files"}]},
            "tools": [{"functionDeclarations": [declared]}],
            "ttl": "3600s",
        }

    run(story)


def test_a_cache_is_created_once_and_shared() -> None:
    async def story(at: Scene) -> None:
        await asyncio.gather(*(at.ask() for _ in range(8)))
        await at.ask()
        assert at.used == ["cachedContents/c0"] * 9
        assert at.server.created == ["cachedContents/c0"]

    run(story)


def test_other_content_and_other_models_have_caches_of_their_own() -> None:
    async def story(at: Scene) -> None:
        for system, model in (("A", None), ("B", None), ("A", NEWER), ("A", None), ("A", MODEL)):
            await at.ask(system, model=model)
        assert at.used == [f"cachedContents/c{n}" for n in (0, 1, 2, 0, 0)]

    run(story)


def test_a_ticket_has_one_cache_and_what_others_use_stays() -> None:
    async def story(at: Scene) -> None:
        await at.ask("A", ticket="T-1")
        await at.ask("B", ticket="T-1")
        assert at.server.deleted == ["cachedContents/c0"]
        await at.ask("B", ticket="T-2")
        await at.ask("C", ticket="T-1")
        assert at.server.deleted == ["cachedContents/c0"], "T-2 still uses it"
        await at.ask("A")
        await at.ask("B")
        assert at.used == [f"cachedContents/c{n}" for n in (0, 1, 1, 2, 3, 1)]

    run(story)


def test_a_cache_is_renewed_at_nine_tenths_of_its_hour() -> None:
    async def story(at: Scene) -> None:
        for later in (0, 3_239.9, 0.1, 3_239, 1):
            at.at += later
            await at.ask()
        assert at.used == [f"cachedContents/c{n}" for n in (0, 0, 1, 1, 2)]
        await close_model(at.model)
        assert sorted(at.server.deleted) == ["cachedContents/c1", "cachedContents/c2"], "the first cache has expired"

    run(story)


def test_the_cost_of_creating_a_cache_is_counted_once() -> None:
    async def story(at: Scene) -> None:
        first, second = await at.ask(), await at.ask()
        tokens = first.usage.cache_read
        assert tokens > 500
        assert first.usage == Usage(100, 20, tokens, tokens, cost=100 + 110 * tokens)
        assert second.usage == Usage(100, 20, tokens, cost=100 + 100 * tokens)

    run(story)


def test_the_cost_of_creating_a_cache_is_counted_when_the_request_fails_and_is_retried() -> None:
    async def story(at: Scene) -> None:
        busy = True

        async def play(asked: Request) -> Answer:
            if "GenerateContent" in asked.target and busy:
                raise Refused(503, {"error": {"message": "busy"}})
            return await at.server.play(asked)

        async with serving(play) as loopback:
            other = Scene(loopback, at.server, 5_000)
            with pytest.raises(Unavailable):
                await other.ask()
            busy = False
            assert (await other.ask()).usage.cache_write > 500
            assert at.server.created == ["cachedContents/c0"]

    run(story)


def test_a_cache_lost_by_the_vendor_is_created_again_once_and_then_omitted() -> None:
    async def story(at: Scene) -> None:
        await at.ask()
        at.server.caches.clear()
        assert (await at.ask()).message.text == "Grüße, wörld 🌍."
        assert at.used == ["cachedContents/c0", "cachedContents/c0", "cachedContents/c1"]

        kept, at.server.caches = at.server.caches, Forgetful()
        kept.clear()
        assert (await at.ask()).message.text == "Grüße, wörld 🌍."
        assert at.used[3:] == ["cachedContents/c1", "cachedContents/c2", None]

    run(story)


class Forgetful(dict[str, Json]):
    def __setitem__(self, name: str, content: Json) -> None:
        pass


def test_a_missing_model_is_reported() -> None:
    async def story(at: Scene) -> None:
        with pytest.raises(Misconfigured, match="has no model 'gemini-9'"):
            await at.ask(model="gemini-9")

    run(story)


def test_without_a_cache_everything_is_sent_and_one_note_has_the_reason() -> None:
    async def story(at: Scene) -> None:
        at.server.too_small = 10**9
        await at.ask()
        await at.ask()
        assert at.used == [None, None]
        assert len([sent for sent in at.loopback.requests if sent.target.endswith("cachedContents")]) == 1
        (note,) = at.notes
        assert note.startswith("[the system prompt is sent whole, because no cache could be made: gemini rejects")
        assert "too small" in note
        at.server.too_small = 0
        at.at += 3_600
        await at.ask()
        assert at.used[-1] == "cachedContents/c0"

    run(story)


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense",
        b"{}",
        b'{"name": "x"}',
        b'{"name": "cachedContents/../models"}',
    ],
)
def test_an_answer_that_names_no_cache_is_none(answer: bytes) -> None:
    async def story(at: Scene) -> None:
        async def play(asked: Request) -> Answer:
            if asked.target.endswith("cachedContents"):
                return Answer(pieces=(answer,))
            return await at.server.play(asked)

        async with serving(play) as loopback:
            other = Scene(loopback, at.server, 5_000)
            assert (await other.ask()).message.text
            assert other.used == [None]

    run(story)


def test_a_vendor_that_is_busy_is_asked_for_a_cache_again_a_minute_later() -> None:
    async def story(at: Scene) -> None:
        down = True

        async def play(asked: Request) -> Answer:
            if asked.target.endswith("cachedContents") and down:
                raise Refused(503, {"error": {"message": "busy"}})
            return await at.server.play(asked)

        async with serving(play) as loopback:
            other = Scene(loopback, at.server, 5_000)
            await other.ask()
            down = False
            await other.ask()
            other.at += 60
            await other.ask()
            assert other.used == [None, None, "cachedContents/c0"]

    run(story)


def test_a_failed_creation_of_a_cache_still_gives_an_answer() -> None:
    async def story(at: Scene) -> None:
        kinds = ("cut", "reset", "garbage", "end")

        async def play(asked: Request) -> Answer:
            making = asked.target.endswith("cachedContents")
            loopback.fault = fault if making else None
            return await at.server.play(asked)

        async with serving(play) as loopback:
            for after in range(250):
                fault = Fault(kinds[after % 4], after)
                other = Scene(loopback, at.server, 5_000)
                assert (await other.ask()).message.text == "Grüße, wörld 🌍."
                loopback.fault = None

    run(story)


def test_a_turn_does_not_wait_for_ever_for_a_cache() -> None:
    async def story(at: Scene) -> None:
        async def play(asked: Request) -> Answer:
            loopback.fault = Fault("stall", 40)
            return await at.server.play(asked)

        async with serving(play) as loopback:
            notes: list[str] = []
            channel = Channel(Endpoint(provider="gemini", base_url=loopback.url, key=lambda: KEY))
            caches = ServerCaches(channel, lambda: 0.0, making_s=0.05)
            content = {"systemInstruction": {"parts": [{"text": "x"}]}}
            assert await caches.get(MODEL, content, "", notes.append) is None
            assert notes == ["[the system prompt is sent whole, because no cache could be made: it took too long]\n"]

    run(story)


def test_tools_that_may_not_be_called_are_described_without_a_cache() -> None:
    async def story(at: Scene) -> None:
        await at.ask()
        await at.ask(tools=(), withdrawn=(READ,))
        assert at.used == ["cachedContents/c0", None]
        assert at.bodies[1]["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}

    run(story)


def test_calls_come_with_a_cache_as_without() -> None:
    calls = Scripted(calls=(Called("a", "read_file", ('{"path": "x"}',)),), stop="tools")

    async def story(at: Scene) -> None:
        reply = await at.ask()
        assert [(call.name, call.args) for call in reply.message.calls] == [("read_file", {"path": "x"})]

    run(story, script=lambda _: calls)


# ── the end ──────────────────────────────────────────────────────────────────────────────


def test_at_the_end_all_are_deleted_and_none_is_made_any_more() -> None:
    async def story(at: Scene) -> None:
        for system in "ABC":
            await at.ask(system)
        await close_model(at.model)
        assert sorted(at.server.deleted) == [f"cachedContents/c{n}" for n in range(3)]
        assert at.server.caches == {}
        await at.ask("A")
        assert at.used[-1] is None
        await close_model(at.model)
        assert len(at.server.deleted) == 3

    run(story)


def test_the_end_comes_while_a_call_hangs() -> None:
    arrived, never = asyncio.Event(), asyncio.Event()

    def script(asked: Request) -> Scripted:
        arrived.set()
        return Scripted(("x",), until=never)

    async def story(at: Scene) -> None:
        hanging = asyncio.ensure_future(at.ask())
        await arrived.wait()
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        await close_model(at.model)
        assert at.server.deleted == ["cachedContents/c0"]
        never.set()

    run(story, script=script)


def test_a_vendor_that_does_not_answer_holds_up_the_end_for_a_moment_only() -> None:
    async def story(at: Scene) -> None:
        gone = asyncio.Event()

        async def play(asked: Request) -> Answer:
            if asked.method == "DELETE":
                await gone.wait()
            return await at.server.play(asked)

        async with serving(play) as loopback:
            other = Scene(loopback, at.server, 5_000)
            await other.ask()
            async with asyncio.timeout(60):
                await close_model(other.model)
            assert at.server.deleted == []
            gone.set()

    assert CLOSING_S < 2
    run(story)


def test_through_its_prices_a_model_is_closed_too_and_making_a_cache_is_charged() -> None:
    async def story(at: Scene) -> None:
        tariff = Tariff(lambda name: facts_of("gemini", name), lambda name: (), 8_192, lambda: "2026-11-16")
        priced = Priced(at.model, tariff, MODEL)
        asked = ModelRequest("Tier 3", None, None, "Be exact.", (Message("user", "Hello."),), (READ,))
        reply = await priced.complete(asked, ignore_text)
        quoted = priced.quote(asked)
        assert quoted is not None and reply.usage.cost <= quoted
        assert reply.usage.cache_write > 0
        await close_model(priced)
        assert at.server.deleted == ["cachedContents/c0"]

    run(story)
