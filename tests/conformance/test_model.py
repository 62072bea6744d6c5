"""Conformance of models over HTTP: one suite for all of them."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from hashlib import sha256

import pytest
from msgspec.structs import replace

from interlock.codeviews.python.structure import PythonStructure
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.values.budgets import Usage
from interlock.engine.agents.tool_calls.tool_outputs import READ_TOOL_OUTPUT
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, Picture, Reply, ToolCall, ignore_text
from interlock.providers.http.channel import Bounds
from interlock.providers.http.http_model import REFUSED
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.tools.registry import WorkerTools
from tests.providers.loopback import Answer, Fault, Json, Loopback, Play, Refused, Request, serving
from tests.providers.scripts import CALLED, TEXT_REPLY, THOUGHT, Called, Scripted
from tests.providers.vendors import READ, VENDORS, Vendor, may_call, request, tool_names

each = pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.name for vendor in VENDORS])


async def ask(
    vendor: Vendor, script: Scripted | Play, *messages: Message, **more: object
) -> tuple[Reply, list[str], Loopback]:
    play = vendor.playing(lambda _: script) if isinstance(script, Scripted) else script
    texts: list[str] = []
    async with serving(play) as server:
        model = vendor.create_model(server.url, **more)
        reply = await model.complete(request(*messages), texts.append, lambda piece: texts.append(f"({piece})"))
        return reply, texts, server


@each
def test_text_comes_in_pieces_and_whole_with_what_it_cost(vendor: Vendor) -> None:
    def price(model: str, usage: Usage) -> int:
        return usage.input + 2 * usage.output

    reply, texts, _ = asyncio.run(ask(vendor, TEXT_REPLY, price=price))
    usage = Usage(100, 20, cache_read=30, cache_write=7 if vendor.writes_cache else 0, cost=140)
    assert reply == Reply(Message("assistant", "Grüße, wörld 🌍."), usage, vendor.model)
    assert texts == ["Grüße, ", "wörld", " 🌍."]


@each
def test_calls_side_by_side_come_with_their_arguments_put_together(vendor: Vendor) -> None:
    reply, texts, _ = asyncio.run(ask(vendor, CALLED))
    assert reply == Reply(
        Message(
            "assistant",
            "I look.",
            (
                ToolCall("call_a", "read_file", {"path": "a.py"}),
                ToolCall("call_b", "grep", {"pattern": "ä\n", "deep": {"n": [1, 2.5, None]}}),
            ),
        ),
        Usage(100, 20),
        vendor.model,
        "tools",
    )
    assert texts == ["I look."]


@each
def test_thoughts_are_kept_apart_and_the_state_belongs_to_its_provider(vendor: Vendor) -> None:
    reply, texts, _ = asyncio.run(ask(vendor, THOUGHT))
    assert (reply.message.text, reply.message.reasoning) == ("It is 4.", "Two and two.")
    assert texts == ["(Two and )", "(two.)", "It is 4."]
    assert bool(reply.message.session) == vendor.signs_thoughts
    assert not reply.message.session or reply.message.session.startswith(f"{vendor.provider} {{")


@each
def test_a_round_of_tools_is_taken_and_thoughts_go_back_where_they_came_from(vendor: Vendor) -> None:
    thinking = replace(CALLED, reasoning=("Let me ", "look."))

    async def story() -> tuple[Reply, Json]:
        async with serving(vendor.playing(lambda r: TEXT_REPLY if b"the text" in r.body else thinking)) as server:
            model = vendor.create_model(server.url)
            first = (await model.complete(request(), ignore_text)).message
            history = (
                Message("user", "Hello."),
                replace(first, reasoning=""),
                Message("tool", "the text", call_id="call_b"),
                Message("tool", "", call_id="call_a"),
            )
            reply = await model.complete(request(*history), ignore_text)
            return reply, server.requests[-1].json

    reply, body = asyncio.run(story())
    assert reply.message.text == "Grüße, wörld 🌍."
    if vendor.returned is None:
        assert "Let me look." not in str(body)
    else:
        assert vendor.returned("Let me look.") in str(body)


@each
def test_the_thoughts_of_another_provider_are_never_sent(vendor: Vendor) -> None:
    foreign = Message(
        "assistant", "", (ToolCall("c", "grep", {}),), session='other {"reasoning":"secret","thoughts":["secret"]}'
    )
    history = (Message("user", "a"), foreign, Message("tool", "b", call_id="c"))
    _, _, server = asyncio.run(ask(vendor, TEXT_REPLY, *history))
    assert b"secret" not in server.requests[0].body


@each
def test_images_are_shown_by_users_and_by_tools(vendor: Vendor) -> None:
    content = b"\x89PNG not really"
    picture = Picture("image/png", sha256(content).hexdigest())
    history = (
        Message("user", "Look:", images=(picture,)),
        Message("assistant", "", (ToolCall("c", "grep", {}),)),
        Message("tool", "a screenshot", call_id="c", images=(picture, Picture("image/png", "gone"))),
    )

    async def story() -> bytes:
        async with serving(vendor.playing(lambda _: TEXT_REPLY)) as server:
            model = vendor.create_model(server.url)
            await model.complete(request(*history, pictures={picture.sha256: content}), ignore_text)
            return server.requests[0].body

    assert asyncio.run(story()).count(b64encode(content)) == 2


@each
def test_arguments_that_are_no_object_are_reported_to_the_model(vendor: Vendor) -> None:
    wrong = [Called("a", "grep", ('{"half": ',)), Called("b", "grep", ("[1]",)), Called("c", "grep", ())]
    reply, _, _ = asyncio.run(ask(vendor, Scripted(calls=tuple(wrong), stop="tools")))
    assert [(call.args, call.unread) for call in reply.message.calls] == [({}, '{"half": '), ({}, "[1]"), ({}, "")]


@each
def test_a_call_that_was_cut_at_the_limit_of_the_answer_does_not_run(vendor: Vendor) -> None:
    cut = replace(CALLED, stop="length")
    reply, _, _ = asyncio.run(ask(vendor, cut))
    assert reply.stop == "length"
    assert [call.args for call in reply.message.calls] == [{}, {}]
    assert all(call.unread.startswith("cut off at the limit of 8,192 tokens") for call in reply.message.calls)


@each
def test_a_refusal_is_marked_as_a_refusal(vendor: Vendor) -> None:
    reply, _, _ = asyncio.run(ask(vendor, Scripted(stop="refusal")))
    assert (reply.message.text, reply.stop) == (REFUSED, "refusal")


@each
def test_the_last_call_allows_no_tools_but_still_describes_them(vendor: Vendor) -> None:
    asked = request(
        Message("user", "a"), Message("assistant", "", (ToolCall("c", "grep", {}),)), Message("tool", "b", call_id="c")
    )

    async def story() -> list[Json]:
        async with serving(vendor.playing(lambda _: TEXT_REPLY)) as server:
            model = vendor.create_model(server.url)
            await model.complete(replace(asked, tools=(), withdrawn=asked.tools), ignore_text)
            await model.complete(replace(asked, tools=()), ignore_text)
            return vendor.asked(server)

    last, forgotten = asyncio.run(story())
    assert (may_call(last), tool_names(last)) == (False, ["read_file", "grep"])
    assert vendor.provider != "anthropic" or tool_names(forgotten) == ["grep"]


@each
def test_broken_histories_and_broken_texts_are_made_whole(vendor: Vendor) -> None:
    history = (
        Message("tool", "of nothing", call_id="x"),
        Message("user", " "),
        Message("assistant", "", (ToolCall("c", "grep", {}), ToolCall("d", "grep", {}, "half {"))),
        Message("tool", "half a character: \ud83c", call_id="d"),
        Message("tool", "twice", call_id="d"),
        Message("user", "go on"),
        Message("assistant", "  "),
        Message("user", "and on"),
        Message("user", "and on"),
    )
    reply, _, _ = asyncio.run(ask(vendor, TEXT_REPLY, *history))
    assert reply.stop == "end"


@each
def test_names_that_others_have_given_are_made_fit_and_stay_apart(vendor: Vendor) -> None:
    odd = ["functions.grep:0", "functions.grep.0", "x" * 200, "ä b", ""]
    calls = tuple(ToolCall(name, name, {}) for name in odd)
    history = (
        Message("user", "a"),
        Message("assistant", "", calls),
        *(Message("tool", "r", call_id=name) for name in odd),
    )
    tools = (READ, replace(READ, name="mcp.server/tool " + "y" * 200))

    async def story() -> Reply:
        async with serving(vendor.playing(lambda _: TEXT_REPLY)) as server:
            return await vendor.create_model(server.url).complete(request(*history, tools=tools), ignore_text)

    assert asyncio.run(story()).stop == "end"


@each
def test_the_vendor_accepts_every_tool_of_interlock(vendor: Vendor) -> None:
    async def story() -> None:
        async with serving(vendor.playing(lambda _: TEXT_REPLY)) as server:
            tools = (
                *WorkerTools(BubblewrapSandbox(), {}, PythonStructure(), ClosedNames()).offered(changing=True),
                READ_TOOL_OUTPUT,
            )
            await vendor.create_model(server.url).complete(request(tools=tools), ignore_text)
            assert tool_names(vendor.asked(server)[0]) == [tool.name for tool in tools]
            assert len(tools) > 20

    asyncio.run(story())


# ── failures ─────────────────────────────────────────────────────────────────────────────


def refusing(status: int, body: Json, *headers: tuple[str, str]) -> Play:
    async def play(asked: Request) -> Answer:
        raise Refused(status, body, headers)

    return play


@each
@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (400, "rejects the request"),
        (401, "set [A-Z]+_API_KEY.* to a key"),
        (402, "requires payment first"),
        (403, "set [A-Z]+_API_KEY.* to a key"),
        (404, "has no model"),
        (413, "is too large"),
        (301, "another address"),
        (307, "another address"),
    ],
)
def test_a_permanent_error_has_advice_and_never_the_key(vendor: Vendor, status: int, sentence: str) -> None:
    echo = {"error": {"type": "some_error", "message": f"bad key {vendor.key}!\nReally."}}
    play = refusing(status, echo, ("location", "http://127.0.0.1:9/elsewhere"))
    with pytest.raises(Misconfigured, match=sentence) as caught:
        asyncio.run(ask(vendor, play))
    assert vendor.key not in str(caught.value)
    assert status in (301, 307) or "bad key [redacted]! Really." in str(caught.value)


@each
@pytest.mark.parametrize(
    ("status", "header", "wait"),
    [
        (429, "7", 7.0),
        (429, "", None),
        (429, "86400", 120.0),
        (429, "-3", 0.0),
        (429, "nan", None),
        (429, "Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        (429, "Fri, 31 Dec 9999 23:59:59 GMT", 120.0),
        (429, "soon", None),
        (500, "", None),
        (503, "2.5", 2.5),
        (529, "", None),
    ],
)
def test_a_temporary_error_has_the_time_of_the_next_try(
    vendor: Vendor, status: int, header: str, wait: float | None
) -> None:
    headers = (("retry-after", header),) if header else ()
    with pytest.raises(Unavailable, match=str(status)) as caught:
        asyncio.run(ask(vendor, refusing(status, {"error": {"message": "busy"}}, *headers)))
    assert (caught.value.retry_after_secs, caught.value.may_cost) == (wait, False)


@each
def test_an_account_without_money_is_not_tried_again(vendor: Vendor) -> None:
    with pytest.raises(Misconfigured, match="has no quota left"):
        asyncio.run(ask(vendor, refusing(429, {"error": {"code": "insufficient_quota", "message": "You exceeded"}})))


@each
def test_a_connection_that_cannot_be_made_costs_nothing(vendor: Vendor) -> None:
    async def story() -> None:
        async with serving(vendor.playing(lambda _: TEXT_REPLY)) as server:
            url = server.url
        await vendor.create_model(url).complete(request(), ignore_text)

    with pytest.raises(Unavailable, match="cannot be reached") as caught:
        asyncio.run(story())
    assert not caught.value.may_cost


@each
def test_without_its_key_nothing_is_sent(vendor: Vendor) -> None:
    for environ, sentence in (
        ({}, "needs a key: set"),
        (
            dict.fromkeys((f"{name}_API_KEY" for name in ("ANTHROPIC", "OPENAI", "DEEPSEEK", "GOOGLE")), "a\nb"),
            "no key",
        ),
    ):
        with pytest.raises(Misconfigured, match=sentence):
            asyncio.run(ask(vendor, TEXT_REPLY, environ=environ))


async def with_fault(vendor: Vendor, script: Scripted, fault: Fault, bounds: Bounds | None = None) -> Reply:
    async with serving(vendor.playing(lambda _: script), fault) as server:
        return await vendor.create_model(server.url, bounds=bounds).complete(request(), ignore_text)


SHORT = Scripted(calls=(Called("a", "grep", ('{"n":', "1}")),), stop="tools")
LONG = Scripted(
    tuple(f"Zeile {n}: Grüße 🌍\n" for n in range(30)),
    ("Let me ", "think."),
    tuple(Called(f"c{n}", "grep", (f'{{"pattern": "ä{n}"', f', "deep": [1, {{"n": {n}}}]}}')) for n in range(5)),
    "tools",
)


async def broken_everywhere(vendor: Vendor, script: Scripted, kind: str, step: int) -> None:
    """Breaks the stream at each byte: no reply, so no partial call runs."""
    size = len(b"".join(vendor.events(script, vendor.model)))
    async with serving(vendor.playing(lambda _: script)) as server:
        model = vendor.create_model(server.url)
        for after in range(0, size - 1, step):
            server.fault = Fault(kind, after)  # pyright: ignore[reportArgumentType]
            with pytest.raises(Unavailable) as caught:
                await model.complete(request(), ignore_text)
            assert caught.value.may_cost, after
        server.fault = Fault("cut" if vendor.says_its_end else "end", size)
        assert len((await model.complete(request(), ignore_text)).message.calls) == len(script.calls)


@each
@pytest.mark.parametrize(("kind", "step"), [("cut", 1), ("reset", 11), ("garbage", 11), ("end", 11)])
def test_a_stream_that_breaks_at_any_byte_is_never_half_an_answer(vendor: Vendor, kind: str, step: int) -> None:
    asyncio.run(broken_everywhere(vendor, SHORT, kind, step))


@pytest.mark.soak
@each
@pytest.mark.parametrize("kind", ["cut", "reset", "garbage", "end"])
def test_a_long_stream_that_breaks_at_any_byte_is_never_half_an_answer(vendor: Vendor, kind: str) -> None:
    asyncio.run(broken_everywhere(vendor, LONG, kind, 1))


@each
def test_a_stream_that_stalls_is_given_up(vendor: Vendor) -> None:
    stream = b"".join(vendor.events(CALLED, vendor.model))

    async def story() -> None:
        for after in range(0, len(stream) - 1, 97):
            with pytest.raises(Unavailable, match=r"sent nothing for 0\.02 seconds") as caught:
                await with_fault(vendor, CALLED, Fault("stall", after), Bounds(idle_s=0.02, whole_s=60))
            assert caught.value.may_cost

    asyncio.run(story())


@each
def test_an_answer_that_goes_on_for_ever_is_given_up(vendor: Vendor) -> None:
    with pytest.raises(Unavailable, match=r"did not finish within 0\.05 seconds") as caught:
        asyncio.run(with_fault(vendor, CALLED, Fault("stall", 40), Bounds(idle_s=30, whole_s=0.05)))
    assert caught.value.may_cost


def answering(answer: Answer) -> Play:
    async def play(asked: Request) -> Answer:
        return answer

    return play


@each
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(), "ended in the middle"),
        (Answer(headers=(("content-type", "text/html"),), pieces=(b"<html>",)), "not an event stream"),
        (Answer(headers=()), "not an event stream"),
        (Answer(pieces=(b"data: {}\n\n" * 3,)), "cannot be read"),
        (Answer(pieces=(b"data: nonsense\n\n",)), "cannot be read"),
        (Answer(pieces=(b"data: " + b"[" * 100_000 + b"\n\n",)), "cannot be read"),
        (Answer(pieces=(b"data: " + b"x" * 3_000_000,)), "more than 2,000,000 bytes"),
        (Answer(pieces=(b": wait\n\n" * 600_000,)), "more than 4,000,000 bytes"),
        (Answer(204), "204"),
    ],
)
def test_an_answer_that_is_none_is_tried_again(vendor: Vendor, answer: Answer, sentence: str) -> None:
    bounds = Bounds(idle_s=30, whole_s=60, event_bytes=2_000_000, answer_bytes=4_000_000)
    with pytest.raises(Unavailable, match=sentence):
        asyncio.run(ask(vendor, answering(answer), bounds=bounds))


@each
def test_a_packed_answer_is_unpacked_and_bounded(vendor: Vendor) -> None:
    async def story() -> None:
        async with serving(vendor.playing(lambda _: TEXT_REPLY), packed=True) as server:
            model = vendor.create_model(server.url)
            assert (await model.complete(request(), ignore_text)).message.text == "Grüße, wörld 🌍."
        bomb = answering(Answer(pieces=(b": " + b"0" * 50_000_000 + b"\n\n",)))
        async with serving(bomb, packed=True) as server:
            model = vendor.create_model(server.url, bounds=Bounds(answer_bytes=5_000_000, event_bytes=10**9))
            with pytest.raises(Unavailable, match="more than 5,000,000 bytes"):
                await model.complete(request(), ignore_text)

    asyncio.run(story())


@each
def test_cancelling_closes_the_connection(vendor: Vendor) -> None:
    async def story() -> None:
        async with serving(vendor.playing(lambda _: CALLED), Fault("stall", 200)) as server:
            asked = asyncio.ensure_future(vendor.create_model(server.url).complete(request(), ignore_text))
            await server.stalled.wait()
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            await server.closed.wait()

    asyncio.run(story())


@each
def test_sixteen_parallel_requests_get_only_their_own_answers(vendor: Vendor) -> None:
    """The server answers only when all sixteen requests have arrived; sequential requests would block."""

    async def story() -> None:
        meet = asyncio.Barrier(16)

        def script(asked: Request) -> Scripted:
            tag = next(f"<{n}>" for n in range(16) if f"<{n}>" in asked.body.decode())
            call = Called(f"c{tag}", "grep", tuple(f'{{"tag": "{tag}"}}'))
            return Scripted(tuple(f"{tag}{n}" for n in range(50)), (tag,), (call,), "tools", meet=meet)

        async def one(model: Callable[..., Awaitable[Reply]], number: int) -> None:
            tag, texts = f"<{number}>", list[str]()
            reply = await model(request(Message("user", f"I am {tag}.")), texts.append, texts.append)
            assert texts == [tag, *(f"{tag}{n}" for n in range(50))]
            assert reply.message.text == "".join(texts[1:])
            assert reply.message.calls == (ToolCall(f"c{tag}", "grep", {"tag": tag}),)

        async with serving(vendor.playing(script)) as server:
            model = vendor.create_model(server.url)
            async with asyncio.TaskGroup() as group:
                for number in range(16):
                    group.create_task(one(model.complete, number))

    asyncio.run(story())
