"""Differences between OpenAI-compatible servers, and their typical errors."""

import json

import pytest

from interlock.domain.values.budgets import Usage
from interlock.ports.model import Message, ToolCall, ignore_text
from interlock.providers.anthropic.answer_blocks import PrefixHash
from interlock.providers.anthropic.stream import AnthropicReading
from interlock.providers.http.http_model import AnswerReader, HttpAnswer, TokenLimits
from interlock.providers.http.sse import BrokenOff, EventReader, Garbled, SseEvent
from interlock.providers.http.trimming import estimated_tokens
from interlock.providers.openai.request import PRESETS, OpenAiCompatible
from interlock.providers.openai.stream import ChatReading
from tests.providers.anthropic_server import events, in_stream_error
from tests.providers.loopback import Json
from tests.providers.openai_server import chunks
from tests.providers.scripts import CALLED, THOUGHT
from tests.providers.vendors import VENDORS, Vendor, request


def read(*payloads: Json | str, keeper: str = "") -> HttpAnswer:
    reading = ChatReading(keeper, ignore_text, ignore_text)
    for data in (*payloads, "[DONE]"):
        reading.take(SseEvent("", data if isinstance(data, str) else json.dumps(data)))
    return reading.answer()


def delta(reason: str | None = None, **fields: object) -> Json:
    return {"choices": [{"delta": fields, "finish_reason": reason}]}


def call(index: int | None, name: str | None, tool: str | None, arguments: object) -> Json:
    return delta(tool_calls=[{"index": index, "id": name, "function": {"name": tool, "arguments": arguments}}])


def test_calls_with_the_same_index_are_distinguished_by_their_ids() -> None:
    answer = read(call(0, "a", "grep", "{}"), call(0, "b", "grep", '{"n": 1}'), delta("stop"))
    assert answer.calls == (ToolCall("a", "grep", {}), ToolCall("b", "grep", {"n": 1}))


def test_arguments_may_come_as_an_object_and_ids_not_at_all() -> None:
    answer = read(call(None, None, "grep", {"n": 1}), call(1, None, "read_file", None), delta("tool_calls"))
    assert answer.calls == (ToolCall("call-1", "grep", {"n": 1}), ToolCall("call-2", "read_file", {}))


def test_pieces_of_calls_may_come_in_any_mixture() -> None:
    payloads = (
        call(0, "a", "grep", '{"x'),
        call(1, "b", "grep", '{"y'),
        call(0, None, None, '":1}'),
        call(1, None, None, '":2}'),
    )
    assert read(*payloads, delta("tool_calls")).calls == (
        ToolCall("a", "grep", {"x": 1}),
        ToolCall("b", "grep", {"y": 2}),
    )


def test_an_index_without_more_is_a_call_without_a_name() -> None:
    assert read(delta(tool_calls=[{"index": 0}]), delta("tool_calls")).calls == (ToolCall("call-1", "", {}),)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_thoughts_are_kept_apart_under_either_name(field: str) -> None:
    answer = read(delta(**{field: "Hm."}), delta("stop", content="Yes."))
    assert (answer.reasoning, answer.text, answer.session) == ("Hm.", "Yes.", "")


def test_thoughts_before_a_call_are_kept_for_vendors_that_require_them() -> None:
    answer = read(delta(reasoning_content="Hm."), call(0, "a", "grep", "{}"), delta("tool_calls"), keeper="deepseek")
    assert answer.session == 'deepseek {"reasoning":"Hm."}'


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2}, Usage(10, 2)),
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}, Usage(2, 2, 8)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 4}},
            Usage(3, 0, 3, 4),
        ),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 3}}, Usage(0, 0, 3)),
        ({"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": None}, Usage()),
    ],
)
def test_tokens_read_from_a_cache_are_not_counted_twice(usage: Json, counted: Usage) -> None:
    assert read(delta("stop", content="a"), {"choices": [], "usage": usage}).usage == counted


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ({"error": {"code": 502, "message": "Upstream"}}, "Upstream"),
        ({"error": "busy"}, "busy"),
        (delta("error"), "ended with 'error'"),
        (delta("insufficient_system_resource"), "insufficient_system_resource"),
    ],
)
def test_a_servers_own_error_message_is_shown(failure: Json, words: str) -> None:
    with pytest.raises(BrokenOff, match=words):
        read(delta(content="a"), failure)


def test_other_choices_and_refusals_and_reasons() -> None:
    assert read({"choices": [{"index": 1, "delta": {"content": "no"}}]}, delta("stop", content="yes")).text == "yes"
    refused = read(delta(refusal="I will not."), delta("stop"))
    assert (refused.text, refused.stop) == ("I will not.", "refusal")
    assert read(delta("eos", content="a")).stop == "other"
    with pytest.raises(Garbled, match="in the middle"):
        read(delta(content="never ends"))


def test_vendors_name_the_length_limit_in_their_own_fields() -> None:
    def body(provider: str) -> Json:
        dialect = OpenAiCompatible(provider, PRESETS[provider])
        return json.loads(dialect.body(request(), "m", TokenLimits(temperature=None), estimated_tokens))

    assert body("openai")["max_completion_tokens"] == 8_192
    assert body("vllm")["max_tokens"] == 8_192
    assert "temperature" not in body("vllm")


def test_a_request_is_these_bytes() -> None:
    history = (
        Message("user", "Fix it."),
        Message("assistant", "", (ToolCall("c1", "grep", {"b": 1, "a": "ä"}),)),
        Message("tool", "x = 1", call_id="c1"),
    )
    asked = request(*history, tools=(), context="# Files")
    body = OpenAiCompatible("vllm", PRESETS["vllm"]).body(asked, "m", TokenLimits(), estimated_tokens)
    assert body.decode() == (
        '{"model":"m","max_tokens":8192,"temperature":0.0,"stream":true,"stream_options":{"include_usage":true},'
        '"messages":[{"role":"system","content":"Be exact.\\n\\n# Files"},{"role":"user","content":"Fix it."},'
        '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"grep",'
        '"arguments":"{\\"b\\":1,\\"a\\":\\"ä\\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"x = 1"}]}'
    )


# ── both, byte by byte ───────────────────────────────────────────────────────────────────


def reading_of(vendor: Vendor) -> AnswerReader:
    if vendor.signs_thoughts:
        return AnthropicReading(vendor.model, PrefixHash([], []), ignore_text, ignore_text)
    return ChatReading("", ignore_text, ignore_text)


@pytest.mark.parametrize("vendor", VENDORS[:2], ids=["anthropic", "openai"])
@pytest.mark.parametrize("script", [CALLED, THOUGHT], ids=["calls", "thoughts"])
def test_no_beginning_of_a_stream_is_an_answer(vendor: Vendor, script: object) -> None:
    stream = b"".join(vendor.events(script, vendor.model))  # pyright: ignore[reportArgumentType]
    for end in range(len(stream)):
        reading, reader = reading_of(vendor), EventReader(10**6)
        assert not any(reading.take(event) for event in reader.feed(stream[:end]))
        with pytest.raises(Garbled, match="in the middle"):
            reading.answer()


@pytest.mark.parametrize("vendor", VENDORS[:2], ids=["anthropic", "openai"])
def test_a_stream_with_any_one_byte_changed_is_an_answer_or_none_and_nothing_else(vendor: Vendor) -> None:
    stream = b"".join(vendor.events(CALLED, vendor.model))
    for place in range(len(stream)):
        spoiled = stream[:place] + b"\xff" + stream[place + 1 :]
        reading, reader = reading_of(vendor), EventReader(10**6)
        try:
            for event in reader.feed(spoiled):
                if reading.take(event):
                    break
            reading.answer()
        except Garbled:
            continue


def anthropic_read(*payloads: Json) -> HttpAnswer:
    reading = AnthropicReading("m", PrefixHash([], []), ignore_text, ignore_text)
    for data in payloads:
        reading.take(SseEvent(data["type"], json.dumps(data)))
    return reading.answer()


START: Json = {"type": "message_start", "message": {"usage": {"input_tokens": 3}}}
OPEN: Json = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}
CLOSE: Json = {"type": "content_block_stop", "index": 0}
ENDING: list[Json] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]


def test_unknown_events_of_anthropic_are_ignored() -> None:
    news = {"type": "brand_new", "index": 9}
    other = {"type": "content_block_start", "index": 7, "content_block": {"type": "server_tool_use", "id": "x"}}
    answer = anthropic_read(START, news, OPEN, CLOSE, other, {"type": "content_block_stop", "index": 7}, *ENDING)
    assert (answer.text, answer.usage) == ("a", Usage(3, 5))


@pytest.mark.parametrize(
    "payloads",
    [
        (OPEN,),
        (START, OPEN, OPEN),
        (START, CLOSE),
        (START, OPEN, CLOSE, CLOSE),
        (START, OPEN, *ENDING),
        (START, OPEN, CLOSE, ENDING[1]),
        (START, {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}}),
        ({"no": "type"},),
        (START, {**OPEN, "index": "0"}),
    ],
)
def test_events_out_of_order_are_no_answer(payloads: tuple[Json, ...]) -> None:
    reading = AnthropicReading("m", PrefixHash([], []), ignore_text, ignore_text)
    with pytest.raises(Garbled):
        for data in payloads:
            reading.take(SseEvent("", json.dumps(data)))
        reading.answer()


def test_a_call_may_come_at_once_and_an_error_in_the_middle() -> None:
    whole = {"type": "tool_use", "id": "c", "name": "grep", "input": {"n": 1}}
    opened = {"type": "content_block_start", "index": 0, "content_block": whole}
    assert anthropic_read(START, opened, CLOSE, *ENDING).calls == (ToolCall("c", "grep", {"n": 1}),)
    reading = AnthropicReading("m", PrefixHash([], []), ignore_text, ignore_text)
    (event,) = EventReader(1_000).feed(in_stream_error())
    with pytest.raises(BrokenOff, match="overloaded_error Overloaded"):
        reading.take(event)


def test_both_servers_stream_each_call_once() -> None:
    assert b"".join(events(CALLED, "m")).count(b"call_a") == b"".join(chunks(CALLED, "m")).count(b"call_a") == 1
