"""The exact bytes of Anthropic requests: four cache marks at fixed positions, and a stable prefix."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from interlock.engine.agents.conversation import for_request
from interlock.ports.model import Message, ModelRequest, ToolCall
from interlock.providers.anthropic.cache_marks import LARGEST_BLOCK, context_blocks, marked
from interlock.providers.anthropic.request import MOST_PROMPT, Anthropic
from interlock.providers.http.http_model import TokenLimits
from interlock.providers.http.own_state import kept_state
from interlock.providers.http.trimming import estimated_tokens
from tests.providers.anthropic_server import KEY, MODEL, check, marks, signature
from tests.providers.histories import histories
from tests.providers.loopback import Json, Request
from tests.providers.vendors import READ, request

HEADERS = {"x-api-key": KEY, "anthropic-version": "2026-10-21"}


def sent(asked: ModelRequest, limits: TokenLimits | None = None) -> bytes:
    return Anthropic().body(asked, MODEL, limits or TokenLimits(), estimated_tokens)


def taken(body: bytes) -> Json:
    """The body as the vendor accepts it; raises Refused otherwise."""
    return check(Request("POST", "/v1/messages", HEADERS, body))


def test_a_request_is_these_bytes() -> None:
    history = (
        Message("user", "Fix it."),
        Message("assistant", "I look.", (ToolCall("c1", "read_file", {"path": "ä.py", "at": 1}),)),
        Message("tool", "x = 1", call_id="c1"),
    )
    body = sent(request(*history, context="# Files", tools=(READ,)))
    assert body.decode() == (
        '{"model":"claude-sonnet-5-5","max_tokens":8192,"stream":true,'
        '"tools":[{"name":"read_file","description":"Reads.","input_schema":{"type":"object","properties":'
        '{"path":{"type":"string"}}},"cache_control":{"type":"ephemeral"}}],'
        '"system":[{"type":"text","text":"Be exact.","cache_control":{"type":"ephemeral"}},'
        '{"type":"text","text":"# Files","cache_control":{"type":"ephemeral"}}],'
        '"messages":[{"role":"user","content":[{"type":"text","text":"Fix it.","cache_control":{"type":"ephemeral"}}]},'
        '{"role":"assistant","content":[{"type":"text","text":"I look."},'
        '{"type":"tool_use","id":"c1","name":"read_file","input":{"path":"ä.py","at":1}}]},'
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1",'
        '"content":[{"type":"text","text":"x = 1"}]}]}]}'
    )
    taken(body)


def test_over_thirty_turns_there_are_never_more_than_four_marks_and_always_at_their_places() -> None:
    history: list[Message] = [Message("user", "Go.")]
    for number in range(30):
        body = taken(sent(request(*history, context="x" * 250_000)))
        users = [n for n, message in enumerate(body["messages"]) if message["role"] == "user"]
        places = ["tools.1", "system.0", "system.3"]
        if len(users) > 1:
            last = len(body["messages"][users[-2]]["content"]) - 1
            places.append(f"messages.{users[-2]}.content.{last}")
        assert marks(body) == places
        calls = tuple(ToolCall(f"c{number}-{n}", "grep", {"n": n}) for n in range(1 + number % 3))
        history.append(Message("assistant", f"round {number}", calls))
        history += [Message("tool", f"found {call.id}", call_id=call.id) for call in calls]
        if number % 5 == 4:
            history += [Message("assistant", "Done."), Message("user", "And now?")]


def test_marks_that_are_there_already_go_first() -> None:
    old = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    system, tools, messages = marked([old, old], [], [], [{"role": "user", "content": [old]}] * 3)
    assert marks({"tools": tools, "system": system, "messages": messages}) == ["system.1", "messages.1.content.0"]
    assert old["cache_control"] == {"type": "ephemeral", "ttl": "1h"}, "the given request is unchanged"


def test_nothing_to_mark_is_no_mark() -> None:
    assert marked([], [], [], [{"role": "user", "content": [{"type": "text", "text": "a"}]}])[:2] == ([], [])


@given(st.text(st.sampled_from("ab \n"), max_size=40), st.integers(0, 4))
def test_context_is_cut_between_lines_into_blocks_that_are_not_too_large(text: str, times: int) -> None:
    context = "".join(f"{text}{'z' * 50_000}\n" for _ in range(times)) + text
    blocks = context_blocks(context)
    assert all(0 < len(block["text"]) <= LARGEST_BLOCK and block["text"].strip() for block in blocks)
    assert "".join(block["text"] for block in blocks).split() == context.split()
    assert all(block["text"].endswith("\n") for block in blocks[:-1])


def unmarked(body: bytes) -> bytes:
    return body.replace(b',"cache_control":{"type":"ephemeral"}', b"")


@given(histories(), st.booleans())
def test_every_history_is_taken_and_begins_as_the_one_before(history: tuple[Message, ...], with_context: bool) -> None:
    """The marked part of a request, without its marks, is the prefix of all later requests."""
    context = "the context" if with_context else ""
    ends = [n for n in range(1, len(history) + 1) if n == len(history) or history[n].role == "assistant"]
    bodies = [sent(request(*history[:end], context=context)) for end in ends if history[end - 1].role != "assistant"]
    for body in bodies:
        accepted = taken(body)
        assert len(marks(accepted)) <= 4
        assert json.loads(unmarked(body)) == _without(accepted)
    for earlier, later in pairwise(bodies):
        assert unmarked(later).startswith(prefix(earlier))


def test_results_that_are_shortened_after_their_round_leave_the_marked_part_alone() -> None:
    history: list[Message] = [Message("user", "Go.")]
    bodies: list[bytes] = []
    for number in range(12):
        bodies.append(sent(request(*for_request(history))))
        history.append(Message("assistant", "", (ToolCall(f"c{number}", "grep", {}),)))
        history.append(Message("tool", f"{number} " * 10_000, call_id=f"c{number}"))
    for earlier, later in pairwise(bodies):
        assert unmarked(later).startswith(prefix(earlier))
        assert not unmarked(later).startswith(unmarked(earlier)[:-2]) or earlier == bodies[0]


def prefix(body: bytes) -> bytes:
    """The body up to the block with the last mark, without the marks."""
    end = body.rfind(b',"cache_control":{"type":"ephemeral"}')
    return unmarked(body[:end])


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(inner) for name, inner in value.items() if name != "cache_control"}
    return [_without(inner) for inner in value] if isinstance(value, list) else value


def test_a_prompt_has_at_most_180_000_tokens() -> None:
    history: list[Message] = [Message("user", "Go.")]
    for number in range(60):
        history.append(Message("assistant", "", (ToolCall(f"c{number}", "grep", {}),)))
        history.append(Message("tool", "x" * 30_000, call_id=f"c{number}"))
    body = sent(request(*history), TokenLimits(context=1_000_000))
    taken(body)
    assert 120_000 < estimated_tokens(body.decode()) <= MOST_PROMPT
    small = sent(request(*history), TokenLimits(context=60_000, output=10_000))
    assert estimated_tokens(small.decode()) <= 50_000


# ── thinking ─────────────────────────────────────────────────────────────────────────────


def thinking_round(model: str = MODEL) -> tuple[Message, ...]:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": signature("Hm.")}
    state = kept_state("anthropic", {"model": model, "thoughts": [thought]})
    return (
        Message("user", "Go."),
        Message("assistant", "", (ToolCall("c", "grep", {}),), session=state),
        Message("tool", "found", call_id="c"),
    )


def test_thoughts_go_back_as_they_came_to_the_model_that_had_them() -> None:
    body = taken(sent(request(*thinking_round()), TokenLimits(thinking=4_000)))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 4_000}
    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": signature("Hm.")}


@pytest.mark.parametrize(
    "history", [thinking_round("another"), tuple(replace(m, session="") for m in thinking_round())]
)
def test_where_the_thoughts_of_a_round_are_not_there_it_goes_on_without_thinking(history: tuple[Message, ...]) -> None:
    body = taken(sent(request(*history), TokenLimits(thinking=4_000)))
    assert "thinking" not in body


def test_a_budget_for_thinking_leaves_room_for_an_answer() -> None:
    assert taken(sent(request(), TokenLimits(thinking=100_000)))["thinking"]["budget_tokens"] == 8_192 - 1_024
    assert "thinking" not in taken(sent(request(), TokenLimits(output=2_000, thinking=100_000)))


def test_a_model_may_think_as_it_sees_fit_whatever_was_thought_before() -> None:
    body = taken(sent(request(*thinking_round("another")), TokenLimits(thinking="adaptive")))
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}


def test_state_that_cannot_be_read_is_none() -> None:
    for session in ("anthropic", "anthropic {", "anthropic []", 'anthropic {"model":"claude-sonnet-5-5"}', ""):
        history = (Message("user", "a"), Message("assistant", "b", session=session), Message("user", "c"))
        assert taken(sent(request(*history)))["messages"][1]["content"] == [{"type": "text", "text": "b"}]
    assert msgspec.json.decode(kept_state("anthropic", {"a": 1}).split(" ", 1)[1]) == {"a": 1}
    assert kept_state("anthropic", {}) == ""
