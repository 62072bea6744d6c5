"""The fake servers against the vendors' own clients: the clients read the answers, and their types fit our requests.

The clients take seconds to import, so all tests that need them are in this file.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import message_create_params as anthropic_params
from openai.types.chat import completion_create_params as openai_params
from pydantic import TypeAdapter, ValidationError

from interlock.ports.model import Message, ModelRequest, Picture, ToolCall
from interlock.providers.http.http_model import TokenLimits
from interlock.providers.http.own_state import kept_state
from tests.providers import anthropic_server, openai_server
from tests.providers.loopback import Json, Request, serving
from tests.providers.scripts import CALLED, TEXT_REPLY, THOUGHT, Scripted
from tests.providers.vendors import VENDORS, Vendor, request

ANTHROPIC, OPENAI, _, DEEPSEEK, GEMINI = VENDORS


def rich_request() -> ModelRequest:
    """A request that uses every feature."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": anthropic_server.signature("Hm.")}
    hidden = {"type": "redacted_thinking", "data": "b3BhcXVl"}
    session = kept_state("anthropic", {"model": ANTHROPIC.model, "thoughts": [thought, hidden]})
    picture = Picture("image/png", "one")
    return request(
        Message("user", "Look.", images=(picture,)),
        Message(
            "assistant",
            "I do.",
            (ToolCall("a", "read_file", {"path": "x"}), ToolCall("b", "grep", {}, "half {")),
            session=session,
        ),
        Message("tool", "text", call_id="a", images=(picture,)),
        Message("tool", "", call_id="b"),
        Message("assistant", "So it is."),
        Message("user", "And now?"),
        context="# Files",
        pictures={"one": b"\x89PNG"},
    )


def bodies(vendor: Vendor, asked: ModelRequest, **more: Any) -> Json:
    async def story() -> Json:
        async with serving(vendor.playing(lambda _: TEXT_REPLY)) as server:
            await vendor.create_model(server.url, **more).complete(asked, print)
            return server.requests[0].json

    return asyncio.run(story())


def checked(kind: Any, value: Json) -> None:
    """Checks the value against the client's types.

    The types drop unknown fields, so an equal value proves that all fields are known. Sequences are lazy and are
    checked when they are read.
    """

    def read(item: Any) -> Any:
        if isinstance(item, Mapping):
            return {name: read(inner) for name, inner in item.items()}
        if isinstance(item, Iterable) and not isinstance(item, str | bytes):
            return [read(inner) for inner in item]
        return item

    assert read(TypeAdapter[Any](kind).validate_python(value)) == value


def test_anthropic_requests_fit_the_clients_types() -> None:
    kind = anthropic_params.MessageCreateParamsStreaming
    asked = rich_request()
    for body in (
        bodies(ANTHROPIC, asked),
        bodies(ANTHROPIC, asked, limits=lambda _: TokenLimits(thinking=2_000)),
        bodies(ANTHROPIC, asked, limits=lambda _: TokenLimits(thinking="adaptive")),
        bodies(ANTHROPIC, ModelRequest("t", None, None, "", asked.messages, (), withdrawn=asked.tools)),
    ):
        checked(kind, body)
    body["messages"][0]["content"][0]["surprise"] = 1
    with pytest.raises(AssertionError):
        checked(kind, body)
    body["messages"][0]["role"] = "nobody"
    with pytest.raises(ValidationError):
        checked(kind, body)


@pytest.mark.parametrize("vendor", [OPENAI, DEEPSEEK], ids=["openai", "deepseek"])
def test_openai_requests_fit_the_clients_types(vendor: Vendor) -> None:
    kind = openai_params.CompletionCreateParamsStreaming
    body = bodies(vendor, rich_request())
    if vendor is DEEPSEEK:  # has a field that the client does not know
        assert [m.pop("reasoning_content") for m in body["messages"] if "tool_calls" in m] == [""]
    checked(kind, body)
    body["messages"][1]["surprise"] = 1
    with pytest.raises(AssertionError):
        checked(kind, body)
    body["messages"][0]["role"] = "nobody"
    with pytest.raises(ValidationError):
        checked(kind, body)


def test_anthropics_own_client_reads_the_same_from_the_server() -> None:
    async def story(script: Scripted) -> None:
        async with serving(anthropic_server.playing(lambda _: script)) as server:
            ours = await ANTHROPIC.create_model(server.url).complete(request(), print)
            body = server.requests[0].json
            del body["stream"], body["messages"]
            async with (
                anthropic.AsyncAnthropic(api_key=ANTHROPIC.key, base_url=server.url, max_retries=0) as client,
                client.messages.stream(messages=[{"role": "user", "content": "Hello."}], **body) as stream,
            ):
                message = await stream.get_final_message()
        assert "".join(b.text for b in message.content if b.type == "text") == ours.message.text
        assert "".join(b.thinking for b in message.content if b.type == "thinking") == ours.message.reasoning
        assert [(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"] == [
            (call.id, call.name, call.args) for call in ours.message.calls
        ]
        usage = message.usage
        counted = (
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
        )
        assert counted == (ours.usage.input, ours.usage.output, ours.usage.cache_read, ours.usage.cache_write)
        assert message.stop_reason == {"end": "end_turn", "tools": "tool_use"}[ours.stop]

    for script in (TEXT_REPLY, CALLED, THOUGHT):
        asyncio.run(story(script))


def test_openais_own_client_reads_the_same_from_the_server() -> None:
    async def story(script: Scripted) -> None:
        async with serving(openai_server.playing(lambda _: script)) as server:
            ours = await OPENAI.create_model(server.url).complete(request(), print)
            body = server.requests[0].json
            async with openai.AsyncOpenAI(api_key=OPENAI.key, base_url=server.url + "/v1", max_retries=0) as client:
                text, reasoning, usage, reason = "", "", None, None
                calls: dict[int, list[str]] = {}
                async for chunk in await client.chat.completions.create(**body):
                    usage = chunk.usage or usage
                    for choice in chunk.choices:
                        text += choice.delta.content or ""
                        reasoning += getattr(choice.delta, "reasoning_content", None) or ""
                        reason = choice.finish_reason or reason
                        for part in choice.delta.tool_calls or ():
                            call = calls.setdefault(part.index, ["", "", ""])
                            call[0] += part.id or ""
                            call[1] += (part.function and part.function.name) or ""
                            call[2] += (part.function and part.function.arguments) or ""
        assert (text, reasoning) == (ours.message.text, ours.message.reasoning)
        assert [(i, name, json.loads(args)) for i, name, args in calls.values()] == [
            (call.id, call.name, call.args) for call in ours.message.calls
        ]
        assert usage is not None and usage.prompt_tokens_details is not None
        cached = usage.prompt_tokens_details.cached_tokens or 0
        counted = (usage.prompt_tokens - cached, usage.completion_tokens, cached)
        assert counted == (ours.usage.input, ours.usage.output, ours.usage.cache_read)
        assert reason == {"end": "stop", "tools": "tool_calls"}[ours.stop]

    for script in (TEXT_REPLY, CALLED, THOUGHT):
        asyncio.run(story(script))


def test_the_clients_read_the_servers_refusals_as_such() -> None:
    async def story() -> None:
        async with serving(anthropic_server.playing(lambda _: TEXT_REPLY)) as server:
            client = anthropic.AsyncAnthropic(api_key="wrong", base_url=server.url, max_retries=0)
            with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
                await client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "a"}])
            await client.close()
        async with serving(openai_server.playing(lambda _: TEXT_REPLY)) as server:
            other = openai.AsyncOpenAI(api_key="wrong", base_url=server.url + "/v1", max_retries=0)
            with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
                await other.chat.completions.create(model="m", messages=[{"role": "user", "content": "a"}])
            await other.close()

    asyncio.run(story())


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content) or [{"type": "text", "text": "a"}]}


CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]}
MARK = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
TOOLS = [{"name": "t", "description": "", "input_schema": {"type": "object"}}]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"surprise": 1}, "Extra inputs are not permitted"),
        ({"temperature": 1.0}, "Extra inputs are not permitted"),
        ({"max_tokens": 0}, "greater than or equal to 1"),
        ({"messages": []}, "first message"),
        ({"messages": [CALL, user()]}, "first message"),
        ({"messages": [user(MARK, MARK, MARK, MARK, MARK)]}, "maximum of 4 blocks"),
        ({"messages": [user({"type": "text", "text": " "})]}, "non-whitespace"),
        ({"messages": [user({"type": "tool_result", "tool_use_id": "x", "content": "a"})]}, "unexpected `tool_use_id`"),
        ({"messages": [user(), CALL, user()], "tools": TOOLS}, "without `tool_result`"),
        ({"messages": [user(), CALL], "tools": TOOLS}, "the last one"),
        ({"messages": [user(), CALL, user({"type": "tool_result", "tool_use_id": "a"})]}, "must define tools"),
        ({"messages": [user({"type": "thinking", "thinking": "", "signature": ""})]}, "does not match"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "1024"),
        ({"tools": [{"name": "t", "input_schema": {}}]}, "input_schema"),
    ],
)
def test_anthropics_server_refuses_what_the_vendor_would(change: Json, words: str) -> None:
    good = {"model": anthropic_server.MODEL, "max_tokens": 10, "messages": [user()]}
    headers = {"x-api-key": anthropic_server.KEY, "anthropic-version": "2026-10-21"}
    anthropic_server.check(Request("POST", "/v1/messages", headers, json.dumps(good).encode()))
    with pytest.raises(Exception, match=words):
        anthropic_server.check(Request("POST", "/v1/messages", headers, json.dumps({**good, **change}).encode()))


SAYS = {"role": "user", "content": "a"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"surprise": 1}, "Unrecognized request argument"),
        ({"messages": []}, "too short"),
        ({"tools": []}, "too short"),
        ({"tool_choice": "none"}, "only allowed when 'tools'"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
        ({"messages": [{"role": "tool", "tool_call_id": "a", "content": "b"}]}, "preceeding message"),
        ({"messages": [SAYS, CALLS]}, "must be followed by tool messages"),
        ({"messages": [SAYS, CALLS, SAYS]}, "must be followed by tool messages"),
        ({"messages": [{"role": "user", "content": None}]}, "expected a string"),
        ({"messages": [{**SAYS, "cache_control": {}}]}, "Unrecognized request argument"),
    ],
)
def test_openais_server_refuses_what_the_vendor_would(change: Json, words: str) -> None:
    good = {"model": openai_server.MODEL, "messages": [SAYS]}
    headers = {"authorization": f"Bearer {openai_server.KEY}"}
    openai_server.check(Request("POST", "/v1/chat/completions", headers, json.dumps(good).encode()))
    with pytest.raises(Exception, match=words):
        openai_server.check(Request("POST", "/v1/chat/completions", headers, json.dumps({**good, **change}).encode()))
