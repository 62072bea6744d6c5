"""Streamed text and stored messages together: nothing is shown twice, nothing is missing."""

import pytest

from interlock.editor.history import PIECE, StreamedAnswer, Update, replayed
from interlock.ports.model import Message, ToolCall


def shown(updates: list[Update | None], kind: str = "agent_message_chunk") -> str:
    chosen = [one for one in updates if one is not None and one.session_update == kind]
    return "".join(one.content.text for one in chosen)  # pyright: ignore


@pytest.mark.parametrize(
    ("streamed", "stored", "whole"),
    [
        (["He", "llo"], "Hello", "Hello"),
        ([], "Hello", "Hello"),
        (["He"], "Hello", "Hello"),
        (["\n\n", "Hello"], "Hello", "Hello"),
        (["the key is abc"], "the key is <redacted>", "the key is abc"),
    ],
)
def test_a_message_is_shown_once(streamed: list[str], stored: str, whole: str) -> None:
    answer = StreamedAnswer()
    updates = [answer.piece(piece, thinking=False) for piece in streamed]
    assert shown([*updates, *answer.rest(Message("assistant", stored))]) == whole


def test_text_of_the_next_message_that_comes_early_is_not_repeated() -> None:
    answer = StreamedAnswer()
    updates = [answer.piece(piece, thinking=False) for piece in ("First.", "\n\n", "Sec", "ond.")]
    updates += answer.rest(Message("assistant", "First."))
    updates += answer.rest(Message("assistant", "Second. More."))
    assert shown(updates) == "First.\n\nSecond. More."


def test_reasoning_is_a_thought_and_is_shown_once() -> None:
    answer = StreamedAnswer()
    updates = [answer.piece("hm", thinking=True), answer.piece("Yes.", thinking=False)]
    updates += answer.rest(Message("assistant", "Yes.", reasoning="hm"))
    updates += answer.rest(Message("assistant", "No.", reasoning="not streamed"))
    assert shown(updates, "agent_thought_chunk") == "hmnot streamed"
    assert shown(updates) == "Yes.No."


def test_a_replay_has_every_message_in_order_and_long_ones_in_pieces() -> None:
    messages = [
        Message("user", "u" * (PIECE + 1)),
        Message("assistant", "I look.", (ToolCall("c", "read_file", {"path": "a"}),), reasoning="hm"),
        Message("tool", "DENIED by the rule 'x': no. It did not run; do not ask again.", call_id="c"),
        Message("assistant", "\x1b[2Jdone"),
    ]
    updates = list(replayed("D-1", messages, "/w", {}))
    assert [one.session_update for one in updates] == [
        "user_message_chunk",
        "user_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ]
    assert updates[5].status == "failed"  # pyright: ignore
    assert shown(list(updates)) == "I look.done"
