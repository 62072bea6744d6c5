"""The fake Gemini server against Google's own client: the client reads its answers, and its types accept our requests.

The client takes a second to import, so all tests that need it are in this file.
"""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from google.genai import Client, errors, types
from google.genai.client import AsyncClient
from pydantic import ValidationError

from interlock.ports.model import Message, ModelRequest, Picture, ToolCall, close_model, ignore_text
from interlock.providers.http.http_model import TokenLimits
from interlock.providers.http.own_state import kept_state
from tests.providers.gemini_server import KEY, MODEL, GeminiServer, signature
from tests.providers.loopback import Json, Loopback, serving
from tests.providers.scripts import CALLED, TEXT_REPLY, THOUGHT, Scripted
from tests.providers.vendors import VENDORS, request

VENDOR = next(vendor for vendor in VENDORS if vendor.provider == "gemini")


@asynccontextmanager
async def google_client(loopback: Loopback, key: str = KEY) -> AsyncGenerator[AsyncClient]:
    options = types.HttpOptions(base_url=loopback.url, retry_options=types.HttpRetryOptions(attempts=1))
    client = Client(api_key=key, http_options=options).aio
    try:
        yield client
    finally:
        await client.aclose()


def rich_request(**more: Any) -> ModelRequest:
    """A request that uses every feature."""
    shape = [["text", 5, ""], ["call", 1, signature("Hm.")], ["call", 1, ""]]
    picture = Picture("image/png", "one")
    return request(
        Message("user", "Look.", images=(picture,)),
        Message(
            "assistant",
            "I do.",
            (ToolCall("a", "read_file", {"path": "x"}), ToolCall("b", "grep", {}, "half {")),
            session=kept_state("gemini", {"model": MODEL, "parts": shape}),
        ),
        Message("tool", "text", call_id="a", images=(picture,)),
        Message("tool", "", call_id="b"),
        Message("assistant", "So it is."),
        Message("user", "And now?"),
        context="# Files",
        pictures={"one": b"\x89PNG"},
        **more,
    )


async def sent(asked: ModelRequest, **more: Any) -> list[tuple[str, Json]]:
    async with serving(GeminiServer(lambda _: TEXT_REPLY).play) as loopback:
        model = VENDOR.create_model(loopback.url, **more)
        await model.complete(asked, ignore_text)
        await close_model(model)
        return [(one.target, one.json) for one in loopback.requests if one.method == "POST"]


def known_to(kind: Any, body: Json) -> None:
    """The client's types forbid unknown fields, and keep every field that we send."""
    read = kind.model_validate(body)
    assert json.loads(read.model_dump_json(by_alias=True, exclude_none=True)) == _urlsafe(body)


def _urlsafe(value: Any, name: str = "") -> Any:
    """Encodes bytes in the URL-safe Base64 alphabet, as the client does."""
    if isinstance(value, dict):
        return {inner: _urlsafe(item, inner) for inner, item in value.items()}
    if isinstance(value, list):
        return [_urlsafe(inner) for inner in value]
    if name in ("data", "thoughtSignature"):
        return base64.urlsafe_b64encode(base64.b64decode(value)).decode()
    return value


def split(body: Json) -> tuple[Json, Any]:
    """The client's configuration (our top-level and generation fields), and the contents."""
    config = {**body, **body["generationConfig"]}
    del config["generationConfig"]
    return config, config.pop("contents")


def test_requests_fit_the_clients_types() -> None:
    asked = rich_request()
    for body in (
        asyncio.run(sent(asked))[0][1],
        asyncio.run(sent(asked, limits=lambda _: TokenLimits(thinking=2_000)))[0][1],
        asyncio.run(sent(rich_request(tools=(), withdrawn=asked.tools)))[0][1],
    ):
        config, contents = split(body)
        known_to(types.GenerateContentConfig, config)
        for content in contents:
            known_to(types.Content, content)
    with pytest.raises(ValidationError):
        known_to(types.GenerateContentConfig, {**config, "surprise": 1})
    with pytest.raises(ValidationError):
        known_to(types.Content, {"role": "user", "parts": [{"text": "a", "surprise": 1}]})


def test_cache_requests_fit_the_clients_types() -> None:
    (target, cache), (_, asked) = asyncio.run(sent(rich_request(system="Be exact. " * 1_000)))
    assert target == "/v1/cachedContents"
    assert cache.pop("model") == f"models/{MODEL}"
    known_to(types.CreateCachedContentConfig, cache)
    config, _ = split(asked)
    known_to(types.GenerateContentConfig, config)
    assert config["cachedContent"] == "cachedContents/c0"


@pytest.mark.parametrize("script", [TEXT_REPLY, CALLED, THOUGHT], ids=["text", "calls", "thoughts"])
def test_their_client_reads_the_same_from_the_server(script: Scripted) -> None:
    async def story() -> None:
        async with serving(GeminiServer(lambda _: script).play) as loopback, google_client(loopback) as client:
            ours = await VENDOR.create_model(loopback.url).complete(request(), ignore_text)
            config, contents = split(loopback.requests[0].json)
            asked: Any = {"model": MODEL, "contents": contents, "config": types.GenerateContentConfig(**config)}
            streamed = [chunk async for chunk in await client.models.generate_content_stream(**asked)]
            whole = await client.models.generate_content(**asked)
            # Protobuf accepts both spellings of a field name.
            again = json.loads(loopback.requests[1].body.replace(b"include_thoughts", b"includeThoughts"))
            assert again == loopback.requests[0].json, "their client sends the same request"
            assert loopback.requests[1].target == loopback.requests[0].target
        for chunks in (streamed, [whole]):
            parts = [part for chunk in chunks for part in chunk.parts or []]
            text = "".join(part.text for part in parts if part.text and not part.thought)
            thoughts = "".join(part.text for part in parts if part.text and part.thought)
            assert (text, thoughts) == (ours.message.text, ours.message.reasoning)
            calls = [part.function_call for part in parts if part.function_call]
            assert [(c.id, c.name, c.args) for c in calls] == [(c.id, c.name, c.args) for c in ours.message.calls]
            usage, candidates = chunks[-1].usage_metadata, chunks[-1].candidates
            assert usage is not None and candidates is not None
            cached = usage.cached_content_token_count or 0
            out = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
            counted = ((usage.prompt_token_count or 0) - cached, out, cached)
            assert counted == (ours.usage.input, ours.usage.output, ours.usage.cache_read)
            assert candidates[0].finish_reason == types.FinishReason.STOP

    asyncio.run(story())


def test_their_client_makes_uses_and_deletes_a_cache_as_we_do() -> None:
    server = GeminiServer(lambda _: TEXT_REPLY)

    async def story() -> None:
        async with serving(server.play) as loopback, google_client(loopback) as client:
            asked = request(system="Be exact. " * 1_000)
            model = VENDOR.create_model(loopback.url)
            await model.complete(asked, ignore_text)
            await close_model(model)
            created, used, deleted = loopback.requests
            content = created.json
            cache = await client.caches.create(
                model=content.pop("model"), config=types.CreateCachedContentConfig(**content)
            )
            assert cache.name == "cachedContents/c1"
            config, contents = split({**used.json, "cachedContent": cache.name})
            answer = await client.models.generate_content(
                model=MODEL, contents=contents, config=types.GenerateContentConfig(**config)
            )
            assert answer.text == "Grüße, wörld 🌍."
            assert answer.usage_metadata is not None and answer.usage_metadata.cached_content_token_count
            await client.caches.delete(name=cache.name)
            theirs_made, _, theirs_deleted = loopback.requests[3:]
            assert (theirs_made.target, theirs_made.json) == (created.target, created.json)
            assert theirs_deleted.method == deleted.method
            assert theirs_deleted.target == deleted.target.replace("c0", "c1")

    asyncio.run(story())
    assert server.deleted == ["cachedContents/c0", "cachedContents/c1"]


def test_their_client_reads_the_servers_refusals_as_such() -> None:
    async def story() -> None:
        async with serving(GeminiServer(lambda _: TEXT_REPLY).play) as loopback:
            async with google_client(loopback, "wrong") as client:
                with pytest.raises(errors.ClientError, match="API key not valid"):
                    await client.models.generate_content(model=MODEL, contents="a")
            async with google_client(loopback) as client:
                with pytest.raises(errors.ClientError, match="CachedContent can not be used with GenerateContent"):
                    await client.models.generate_content(
                        model=MODEL,
                        contents="a",
                        config=types.GenerateContentConfig(cached_content="cachedContents/x", system_instruction="b"),
                    )
                with pytest.raises(errors.ClientError, match="permission denied"):
                    await client.models.generate_content(
                        model=MODEL,
                        contents="a",
                        config=types.GenerateContentConfig(cached_content="cachedContents/x"),
                    )

    asyncio.run(story())


def test_every_finish_reason_of_the_client_is_known() -> None:
    known = {
        "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
        "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL", "IMAGE_PROHIBITED_CONTENT", "NO_IMAGE",
        "IMAGE_RECITATION", "IMAGE_OTHER", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "CONTINUATION",
        "FINISH_REASON_UNSPECIFIED",
    }  # fmt: skip
    assert {reason.value for reason in types.FinishReason} <= known


def user(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts) or [{"text": "a"}]}


CALL = {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "t", "args": {}}}]}
RESULT = {"functionResponse": {"id": "a", "name": "t", "response": {"output": "x"}}}


def declared(**parameters: Any) -> Json:
    return {"tools": [{"functionDeclarations": [{"name": "t", "description": "", "parameters": parameters}]}]}


def field(**schema: Any) -> Json:
    return declared(type="OBJECT", properties={"x": schema})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"surprise": 1}, "Unknown name"),
        ({"contents": []}, "not specified"),
        ({"contents": [CALL]}, "first turn"),
        ({"contents": [user(), {"role": "model", "parts": [{"text": "a"}]}]}, "last turn"),
        ({"contents": [user(), CALL]}, "last turn"),
        ({"contents": [user(), CALL, user()]}, "number of function response parts"),
        ({"contents": [user(RESULT)]}, "number of function response parts"),
        (
            {"contents": [user(), CALL, user({"functionResponse": {**RESULT["functionResponse"], "name": "u"}})]},
            "order",
        ),
        ({"contents": [{"role": "system", "parts": [{"text": "a"}]}]}, "first turn"),
        ({"contents": [user({"text": ""})]}, "oneof field 'data'"),
        ({"contents": [user({"text": "a", "inlineData": {}})]}, "oneof field 'data'"),
        ({"generationConfig": {"max_tokens": 1}}, "Unknown name"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, "tool_config"),
        (declared(type="OBJECT", properties={}), "non-empty"),
        (field(type="string"), "Invalid value"),
        (field(type="STRING", const="a"), "Unknown name"),
        (field(type="OBJECT", additionalProperties=False), "Unknown name"),
        ({"tools": [{"functionDeclarations": [{"name": "9"}]}]}, "Invalid function name"),
        (field(type="INTEGER", enum=["1"]), "only allowed for STRING"),
        (field(type="STRING", format="uri"), "'enum' and 'date-time'"),
        (field(type="ARRAY"), "missing field"),
    ],
)
def test_the_server_refuses_what_the_vendor_would(change: Json, words: str) -> None:
    server = GeminiServer(lambda _: TEXT_REPLY)
    good = {"contents": [user()]}
    server.check(good)
    with pytest.raises(Exception, match=words):
        server.check({**good, **change})
