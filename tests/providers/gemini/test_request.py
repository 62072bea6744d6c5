"""The exact bytes of Gemini requests, the parsing of answers, and every finish reason."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from interlock.domain.values.budgets import Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, ModelRequest, Picture, Reply, ToolCall, ignore_text
from interlock.ports.tools import ToolSpec
from interlock.providers.gemini.request import MOST_HISTORY, NOTHING, UNSIGNED, Gemini, model_name
from interlock.providers.http.http_model import REFUSED, TokenLimits
from interlock.providers.http.own_state import kept_state
from interlock.providers.http.trimming import NO_RESULT, estimated_tokens
from tests.providers import gemini_server
from tests.providers.gemini_server import GeminiServer, signature
from tests.providers.histories import histories
from tests.providers.loopback import Answer, Json, Refused, Request, serving
from tests.providers.scripts import TEXT_REPLY, Called, Scripted
from tests.providers.vendors import VENDORS, request

VENDOR = next(vendor for vendor in VENDORS if vendor.provider == "gemini")
LIMITS = TokenLimits(context=1_048_576)
GREP = ToolSpec("grep", "Looks.", {"type": "object", "properties": {"pattern": {"type": "string"}}}, changes=False)


def written(asked: ModelRequest, model: str = VENDOR.model, cache: str = "", limits: TokenLimits = LIMITS) -> bytes:
    return Gemini(cache).body(asked, model, limits, estimated_tokens)


def asking(*messages: Message, **more: Any) -> ModelRequest:
    tools = more.pop("tools", (GREP,))
    return ModelRequest("Tier 3", None, None, more.pop("system", "Be exact."), messages, tools, **more)


def test_a_request_is_these_bytes() -> None:
    asked = asking(
        Message("user", "Look:", images=(Picture("image/png", "one"),)),
        Message("assistant", "I do.", (ToolCall("a", "grep", {"pattern": "ä"}), ToolCall("b", "grep", {}))),
        Message("tool", "two", call_id="b", images=(Picture("image/png", "one"),)),
        Message("tool", "one", call_id="a"),
        Message("user", "Go on."),
        context="# Files",
        pictures={"one": b"PNG"},
    )
    shown = '{"inlineData":{"mimeType":"image/png","data":"UE5H"}}'
    assert written(asked).decode() == (
        '{"systemInstruction":{"parts":[{"text":"Be exact."},{"text":"# Files"}]},'
        '"tools":[{"functionDeclarations":[{"name":"grep","description":"Looks.","parameters":{"type":"OBJECT",'
        '"properties":{"pattern":{"type":"STRING"}}}}]}],'
        '"contents":[{"role":"user","parts":[{"text":"Look:"},' + shown + "]},"
        '{"role":"model","parts":[{"text":"I do."},'
        '{"functionCall":{"id":"a","name":"grep","args":{"pattern":"ä"}}},'
        '{"functionCall":{"id":"b","name":"grep","args":{}}}]},'
        '{"role":"user","parts":[{"functionResponse":{"id":"a","name":"grep","response":{"output":"one"}}},'
        '{"functionResponse":{"id":"b","name":"grep","response":{"output":"two"}}},' + shown + "]},"
        '{"role":"user","parts":[{"text":"Go on."}]}],'
        '"generationConfig":{"temperature":0.0,"maxOutputTokens":8192,"thinkingConfig":{"includeThoughts":true}}}'
    )


def test_a_request_with_a_cache_does_not_repeat_its_content() -> None:
    assert written(asking(Message("user", "Hello.")), cache="cachedContents/x").decode() == (
        '{"cachedContent":"cachedContents/x","contents":[{"role":"user","parts":[{"text":"Hello."}]}],'
        '"generationConfig":{"temperature":0.0,"maxOutputTokens":8192,"thinkingConfig":{"includeThoughts":true}}}'
    )


@pytest.mark.parametrize(
    ("model", "limits", "config"),
    [
        ("gemini-2.0-flash", TokenLimits(), {"temperature": 0.0, "maxOutputTokens": 8192}),
        ("gemini-2.5-flash-image", TokenLimits(temperature=None), {"maxOutputTokens": 8192}),
        (
            "gemini-4-argon",
            TokenLimits(9, 5, None),
            {"maxOutputTokens": 5, "thinkingConfig": {"includeThoughts": True}},
        ),
        (
            "gemini-2.5-pro",
            TokenLimits(output=500, thinking=2_000),
            {
                "temperature": 0.0,
                "maxOutputTokens": 500,
                "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 500},
            },
        ),
    ],
)
def test_thoughts_are_asked_for_where_there_are_any(model: str, limits: TokenLimits, config: Json) -> None:
    asked = asking(tools=(), system="")
    body = Gemini().body(asked, model, msgspec.structs.replace(limits, context=10_000), estimated_tokens)
    assert json.loads(body) == {"contents": [], "generationConfig": config}


@given(histories())
def test_every_history_is_one_that_the_vendor_takes_and_begins_as_the_one_before(history: tuple[Message, ...]) -> None:
    server = GeminiServer(lambda _: TEXT_REPLY)
    if history[-1].role == "assistant":
        history = (*history, Message("user", "Go on."))
    body = server.check(json.loads(written(asking(*history))))
    before = json.loads(written(asking(*history[:1])))
    assert {**before, "contents": body["contents"]} == body
    assert body["contents"][0] == before["contents"][0]


def test_what_is_too_long_loses_whole_rounds_at_two_fifths_of_the_window() -> None:
    call = (ToolCall("c", "grep", {}),)
    rounds = [
        m for n in range(40) for m in (Message("assistant", f"{n}", call), Message("tool", "x" * 60_000, call_id="c"))
    ]
    body = json.loads(written(asking(Message("user", "Begin."), *rounds)))
    GeminiServer(lambda _: TEXT_REPLY).check(body)
    assert estimated_tokens(json.dumps(body)) < MOST_HISTORY == 360_000
    assert len(body["contents"]) < 80
    assert body["contents"][0] == {"role": "user", "parts": [{"text": "Begin."}]}
    assert body["contents"][-1]["parts"][0]["functionResponse"]["response"] == {"output": "x" * 60_000}


def test_a_call_without_its_result_gets_one_and_an_empty_one_says_so() -> None:
    history = (Message("user", "a"), Message("assistant", "", (ToolCall("c", "9 lives", {}),)), Message("user", ""))
    contents = json.loads(written(asking(*history)))["contents"]
    call, result = contents[1]["parts"][0]["functionCall"], contents[2]["parts"][0]["functionResponse"]
    assert (call["name"], result["name"], result["response"]) == (result["name"], call["name"], {"output": NO_RESULT})
    assert call["name"].startswith("_9_lives_")
    assert contents[3]["parts"] == [{"text": NOTHING}]


@pytest.mark.parametrize("model", ["../../x", "a b", "a/b", "", "models/", "a?key=1", "ä"])
def test_a_name_that_would_change_the_address_is_refused(model: str) -> None:
    with pytest.raises(Misconfigured, match="gemini has no model"):
        model_name(model)


def test_a_name_as_the_vendor_lists_it_is_taken() -> None:
    assert Gemini().path("models/gemini-2.5-pro") == "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse"


# ── signatures ───────────────────────────────────────────────────────────────────────────


async def reply_of(server: GeminiServer, asked: ModelRequest, **more: Any) -> Reply:
    async with serving(server.play) as loopback:
        return await VENDOR.create_model(loopback.url, **more).complete(asked, ignore_text)


def test_signatures_go_back_in_the_parts_that_they_came_in() -> None:
    script = Scripted(("I ", "look."), ("Hm.",), (Called("a", "grep", ("{}",)), Called("b", "grep", ("{}",))), "tools")
    reply = asyncio.run(reply_of(GeminiServer(lambda _: script), asking(Message("user", "Go."))))
    shape = [["text", 7, ""], ["call", 1, signature("Hm.")], ["call", 1, ""]]
    assert reply.message.session == kept_state("gemini", {"model": VENDOR.model, "parts": shape})
    results = (Message("tool", "1", call_id="a"), Message("tool", "2", call_id="b"))
    contents = json.loads(written(asking(Message("user", "Go."), reply.message, *results)))["contents"]
    assert contents[1]["parts"] == [
        {"text": "I look."},
        {"functionCall": {"id": "a", "name": "grep", "args": {}}, "thoughtSignature": signature("Hm.")},
        {"functionCall": {"id": "b", "name": "grep", "args": {}}},
    ]


def test_a_signature_at_the_end_of_a_text_stays_there() -> None:
    script = Scripted(("So ", "be it."), ("Hm.",))
    reply = asyncio.run(reply_of(GeminiServer(lambda _: script), asking(Message("user", "Go."))))
    contents = json.loads(written(asking(Message("user", "Go."), reply.message, Message("user", "On."))))["contents"]
    assert contents[1]["parts"] == [{"text": "So be it."}, {"text": "", "thoughtSignature": signature("Hm.")}]


@pytest.mark.parametrize(
    "state",
    [
        {"model": "gemini-2.5-pro", "parts": [["text", 2, "c2lnbmVk"]]},
        {"model": VENDOR.model, "parts": [["text", 3, "c2lnbmVk"]]},
        {"model": VENDOR.model, "parts": [["text", 1, "c2lnbmVk"]]},
        {"model": VENDOR.model, "parts": [["text", 2, ""], ["call", 1, "c2lnbmVk"]]},
        {"model": VENDOR.model, "parts": [["text", -2, "c2lnbmVk"]]},
        {"model": VENDOR.model, "parts": [7]},
        {"model": VENDOR.model, "parts": "x"},
        {"model": VENDOR.model},
    ],
)
def test_a_state_of_another_model_or_another_text_is_not_sent(state: Json) -> None:
    history = (
        Message("user", "a"),
        Message("assistant", "ok", session=kept_state("gemini", state)),
        Message("user", "b"),
    )
    contents = json.loads(written(asking(*history)))["contents"]
    assert contents[1] == {"role": "model", "parts": [{"text": "ok"}]}


def test_newer_models_get_a_marker_for_unsigned_calls() -> None:
    call = lambda n: Message("assistant", "", (ToolCall(f"a{n}", "grep", {}), ToolCall(f"b{n}", "grep", {})))  # noqa: E731
    results = lambda n: tuple(Message("tool", "x", call_id=f"{name}{n}") for name in "ab")  # noqa: E731
    history = (Message("user", "Go."), call(1), *results(1), Message("user", "On."), call(2), *results(2))
    body = json.loads(written(asking(*history), gemini_server.NEWER))
    GeminiServer(lambda _: TEXT_REPLY).check(body, gemini_server.NEWER)
    signed = [part.get("thoughtSignature") for content in body["contents"] for part in content["parts"]]
    assert signed == [None, None, None, None, None, None, UNSIGNED, None, None, None]
    with pytest.raises(Refused, match="missing a thought_signature"):
        GeminiServer(lambda _: TEXT_REPLY).check(json.loads(written(asking(*history))), gemini_server.NEWER)


# ── how answers end ──────────────────────────────────────────────────────────────────────


def answering(*chunks: Json) -> Any:
    async def play(asked: Request) -> Answer:
        return Answer(pieces=tuple(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks))

    return play


async def answered(*chunks: Json) -> Reply:
    async with serving(answering(*chunks)) as loopback:
        return await VENDOR.create_model(loopback.url).complete(asking(Message("user", "Go.")), ignore_text)


def ending(reason: str, *parts: Json, **more: Any) -> Json:
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, "finishReason": reason, **more}]}


CALL = {"functionCall": {"name": "grep", "args": {"pattern": "x"}}}


@pytest.mark.parametrize(
    "reason",
    ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_RECITATION"],
)
def test_a_withheld_answer_is_a_refusal_without_calls(reason: str) -> None:
    reply = asyncio.run(answered(ending(reason)))
    assert (reply.message.text, reply.message.calls, reply.stop) == (REFUSED, (), "refusal")
    reply = asyncio.run(answered(ending(reason, {"text": "Well, "}, CALL)))
    assert (reply.message.text, reply.message.calls, reply.stop) == ("Well, ", (), "refusal")


def test_a_question_that_is_blocked_is_a_refusal() -> None:
    reply = asyncio.run(
        answered({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}})
    )
    assert (reply.message.text, reply.stop, reply.usage) == (REFUSED, "refusal", Usage(9, 0))


@pytest.mark.parametrize(
    "reason",
    [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "OTHER",
        "NO_IMAGE",
        "FINISH_REASON_UNSPECIFIED",
        "NEW_IN_2027",
    ],
)
def test_other_ends_are_tried_again_and_nothing_of_them_runs(reason: str) -> None:
    with pytest.raises(
        Unavailable, match=f"gemini ended its answer with an error: it ended with {reason} why"
    ) as caught:
        asyncio.run(answered(ending(reason, CALL, finishMessage="why")))
    assert caught.value.may_cost


def test_an_answer_that_was_cut_says_so_and_its_calls_do_not_run() -> None:
    for reason in ("MAX_TOKENS", "CONTINUATION"):
        reply = asyncio.run(answered(ending(reason, CALL)))
        assert (reply.stop, reply.message.calls[0].args) == ("length", {})
        assert reply.message.calls[0].unread.startswith("cut off at the limit")
        reply = asyncio.run(answered(ending(reason, {"text": "I think", "thought": True})))
        assert (reply.message.text, reply.message.reasoning, reply.stop) == ("", "I think", "length")


def test_a_stop_reason_in_every_chunk_does_not_end_the_answer() -> None:
    reply = asyncio.run(
        answered(ending("STOP", {"text": "One, "}), ending("STOP", {"text": "two."}), ending("STOP", CALL))
    )
    assert (reply.message.text, reply.stop) == ("One, two.", "tools")
    assert reply.message.calls == (ToolCall("call-1", "grep", {"pattern": "x"}),)


def test_an_error_in_the_middle_is_one() -> None:
    with pytest.raises(Unavailable, match=r"gemini ended its answer with an error: .*overloaded") as caught:
        asyncio.run(answered(ending("STOP", {"text": "One"}), {"error": {"code": 503, "message": "overloaded"}}))
    assert caught.value.may_cost


def test_other_candidates_and_kinds_of_parts_mean_nothing() -> None:
    chunk = ending("STOP", {"executableCode": {"code": "1"}}, {"text": "Yes."})
    chunk["candidates"].append({"index": 1, "content": {"parts": [{"text": "No."}]}, "finishReason": "OTHER"})
    assert asyncio.run(answered(chunk)).message.text == "Yes."


# ── refusals ─────────────────────────────────────────────────────────────────────────────


def rpc(kind: str, **fields: Any) -> Json:
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **fields}


def refusing(status: int, *details: Json, message: str = "You exceeded your quota, check your billing.") -> Any:
    async def play(asked: Request) -> Answer:
        raise Refused(status, {"error": {"code": status, "message": message, "status": "X", "details": list(details)}})

    return play


async def refused(play: Any) -> None:
    async with serving(play) as loopback:
        await VENDOR.create_model(loopback.url).complete(asking(Message("user", "Go.")), ignore_text)


MINUTE = rpc("QuotaFailure", violations=[{"quotaId": "GenerateRequestsPerMinutePerProject"}, 7])


@pytest.mark.parametrize(
    ("delay", "wait"), [("34.07s", 34.07), ("3600s", 120.0), ("0s", 0.0), ("nans", None), ("soon", None), (None, None)]
)
def test_the_vendors_delay_is_waited_for(delay: str | None, wait: float | None) -> None:
    with pytest.raises(Unavailable) as caught:
        asyncio.run(refused(refusing(503, MINUTE, rpc("RetryInfo", retryDelay=delay), rpc("Help"))))
    assert (caught.value.retry_after_secs, caught.value.may_cost) == (wait, False)


def test_a_minutes_share_comes_back_a_days_does_not_and_neither_does_money() -> None:
    soon = rpc("RetryInfo", retryDelay="12s")
    with pytest.raises(Unavailable, match="429") as caught:
        asyncio.run(refused(refusing(429, MINUTE, soon)))
    assert caught.value.retry_after_secs == 12
    with pytest.raises(Misconfigured, match="has no quota left"):
        asyncio.run(refused(refusing(429, rpc("QuotaFailure", violations=[{"quotaId": "RequestsPerDay"}]), soon)))
    with pytest.raises(Misconfigured, match="has no quota left"):
        asyncio.run(refused(refusing(429, rpc("QuotaFailure", violations="x"))))


def test_a_wrong_key_is_reported_even_if_the_vendor_calls_it_a_bad_request() -> None:
    async def story() -> None:
        async with serving(GeminiServer(lambda _: TEXT_REPLY).play) as loopback:
            model = VENDOR.create_model(loopback.url, environ={"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "wrong"})
            await model.complete(request(), ignore_text)

    with pytest.raises(Misconfigured, match=r"set GEMINI_API_KEY or GOOGLE_API_KEY to a key.*API key not valid"):
        asyncio.run(story())


def test_the_key_goes_in_a_header_and_nowhere_else() -> None:
    async def story() -> Request:
        async with serving(GeminiServer(lambda _: TEXT_REPLY).play) as loopback:
            environ = {"GOOGLE_API_KEY": VENDOR.key}
            await VENDOR.create_model(loopback.url, environ=environ).complete(request(), ignore_text)
            return loopback.requests[0]

    sent = asyncio.run(story())
    assert sent.headers["x-goog-api-key"] == VENDOR.key
    assert VENDOR.key not in sent.target and VENDOR.key.encode() not in sent.body
