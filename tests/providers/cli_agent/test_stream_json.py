"""JSON lines of a CLI agent, split at any byte: read completely or refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.values.budgets import Usage
from interlock.providers.cli_agent import stream_json
from interlock.providers.cli_agent.stream_json import AgentReply, StreamJson

OK = {"type": "result", "status": "success"}


def message(content: object, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": content, **more}


def lines(*events: object) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


class Receiver:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.stopped = 0
        self.stream = StreamJson(self.texts.append, self._stop)

    def _stop(self) -> None:
        self.stopped += 1

    def feed(self, *chunks: bytes) -> AgentReply | None:
        for chunk in chunks:
            self.stream.feed(chunk)
        return self.stream.end()


def test_an_answer_has_its_text_its_session_and_what_it_used() -> None:
    stats = {"total_tokens": 130, "input_tokens": 100, "output_tokens": 30, "cached": 60, "input": 40}
    receiver = Receiver()
    answered = receiver.feed(
        lines(
            {"type": "init", "session_id": "s-1", "model": "gemini-x"},
            {"type": "message", "role": "user", "content": "not this"},
            message("Hel", delta=True),
            message("lo.", delta=True),
            {"type": "something_new", "anything": 1},
            {**OK, "stats": stats},
        )
    )
    assert answered == AgentReply("Hello.", "s-1", "gemini-x", Usage(40, 30, cache_read=60))
    assert receiver.texts == ["Hel", "lo."]


def test_the_session_may_come_at_the_end_and_the_last_line_without_its_end() -> None:
    receiver = Receiver()
    assert receiver.feed(lines(message("a")) + json.dumps({**OK, "session_id": "s-2"}).encode()) == AgentReply(
        "a", "s-2", "", None
    )


def test_messages_that_are_whole_are_paragraphs_and_its_own_tools_are_shown_but_not_said() -> None:
    receiver = Receiver()
    answered = receiver.feed(
        lines(
            message("One."),
            message("Two."),
            {"type": "tool_use", "tool_name": "read_file", "tool_id": "t", "parameters": {"path": "x"}},
            {"type": "tool_result", "tool_id": "t", "status": "error", "error": {"type": "x", "message": "no file"}},
            {"type": "error", "severity": "warning", "message": "slow"},
            message("Th", delta=True),
            message("ree.", delta=True),
            OK,
        )
    )
    assert answered is not None
    assert answered.text == "One.\n\nTwo.\n\nThree."
    assert "".join(receiver.texts) == (
        'One.\n\nTwo.\n[read_file of its own: {"path":"x"}]\n\n[it failed: no file]\n\n[warning: slow]\n\n\nThree.'
    )


@pytest.mark.parametrize(
    ("output", "fault"),
    [
        (b"", "it said nothing"),
        (b"\n \n", "its answer broke off"),
        (lines(message("half")), "its answer broke off"),
        (lines(message("half")) + b'{"type": "resu', 'it printed a line that cannot be read: \'{"type": "resu\''),
        (b"Loaded credentials.\n" + lines(message("a"), OK), "it printed a line that cannot be read: 'Loaded"),
        (b"[1]\n" + lines(OK), "it printed a line that cannot be read: '[1]'"),
        (b'{"no": "type"}\n' + lines(OK), "it printed a line that cannot be read"),
        (b"\xff\xfe\n" + lines(OK), "it printed a line that cannot be read"),
        (b'{"type": ' + b"[" * 100_000 + b"\n" + lines(OK), "it printed a line that cannot be read"),
        (lines(message(["no", "text"]), OK), 'it said a message that is no text: ["no","text"]'),
        (lines({"type": "error", "message": "quota exceeded"}, message("a"), OK), "quota exceeded"),
        (lines(message("a"), {"type": "result", "status": "error", "error": {"message": "limit"}}), "limit"),
        (lines({"type": "result"}), '{"type":"result"}'),
    ],
)
def test_incomplete_output_is_no_answer(output: bytes, fault: str) -> None:
    receiver = Receiver()
    assert receiver.feed(output) is None
    assert receiver.stream.fault.startswith(fault)


def test_lines_and_their_sum_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_json, "LONGEST_LINE", 1_000)
    monkeypatch.setattr(stream_json, "MOST", 10_000)
    long = Receiver()
    assert long.feed(*[b"x" * 100] * 11, lines(OK)) is None
    assert (long.stopped, "a line of more than" in long.stream.fault) == (1, True)
    much = Receiver()
    assert much.feed(*[lines(message("a" * 500))] * 20, lines(OK)) is None
    assert (much.stopped, "it said more than" in much.stream.fault) == (1, True)
    assert len(much.stream._rest) == 0


@pytest.mark.parametrize(
    ("stats", "usage"),
    [
        (None, None),
        ({}, None),
        ({"input_tokens": "many", "output_tokens": True}, None),
        ({"total_tokens": 10}, Usage(10, 0)),
        ({"total_tokens": 10, "output_tokens": 4}, Usage(6, 4)),
        ({"input_tokens": 7, "output_tokens": -1}, Usage(7, 0)),
        ({"input_tokens": 7, "cached": 9, "output_tokens": 1}, Usage(0, 1, cache_read=9)),
    ],
)
def test_usage_is_read_from_the_stats_if_reported(stats: object, usage: Usage | None) -> None:
    answered = Receiver().feed(lines(message("a"), {**OK, "stats": stats}))
    assert answered == AgentReply("a", "", "", usage)


_EVENTS = st.lists(
    st.sampled_from(
        [message("one "), message("zwei é ", delta=True), {"type": "tool_use"}, {"type": "init", "session_id": "s"}]
    ),
    max_size=6,
)


@given(_EVENTS, st.lists(st.integers(1, 40), max_size=30))
def test_any_split_of_the_output_gives_the_same_answer(events: list[dict[str, Any]], cuts: list[int]) -> None:
    output = lines(*events, OK)
    chunks: list[bytes] = []
    at = 0
    for size in cuts:
        chunks.append(output[at : at + size])
        at += size
    whole, pieces = Receiver(), Receiver()
    assert pieces.feed(*chunks, output[at:]) == whole.feed(output)
    assert pieces.texts == whole.texts


@given(st.binary(max_size=300), st.integers(0, 300))
def test_no_bytes_make_it_raise_and_none_without_a_result_make_an_answer(output: bytes, cut: int) -> None:
    if b"result" not in output:
        assert Receiver().feed(output[:cut], output[cut:]) is None
