"""Trimming a history that is too long: which messages are removed, and calls stay with their results."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import Misconfigured
from interlock.ports.model import Message, Picture, ToolCall
from interlock.providers.http import trimming
from interlock.providers.http.trimming import AT_ONCE, NO_RESULT, estimated_tokens, paired, trimmed
from interlock.views.imitation import noted
from tests.providers.histories import UPDATES, histories


def size(messages: tuple[Message, ...]) -> int:
    """The size as `trimmed` counts it: texts, calls, pictures, and eight tokens for each message."""
    return sum(
        estimated_tokens(message.text)
        + sum(estimated_tokens(f"{call.name} {call.args}") for call in message.calls)
        + estimated_tokens(message.session)
        + 1_600 * len(message.images)
        + 8
        for message in messages
    )


def rounds(count: int, text: str = "x" * 300) -> tuple[Message, ...]:
    history = [Message("user", "The ticket.")]
    for number in range(count):
        history.append(Message("assistant", f"round {number}", (ToolCall(f"c{number}", "grep", {}),)))
        history.append(Message("tool", text, call_id=f"c{number}"))
    return tuple(history)


def test_what_fits_stays_as_it_is() -> None:
    history = rounds(20)
    assert trimmed(history, size(history)) == history


def test_old_file_updates_are_removed_first_and_the_latest_stays() -> None:
    old, new = f"old result{UPDATES}a.py is now …" + "x" * 600, f"new result{UPDATES}b.py is now …"
    history = (
        Message("user", "Go."),
        Message("assistant", "", (ToolCall("1", "grep", {}),)),
        Message("tool", old, call_id="1"),
        Message("assistant", "", (ToolCall("2", "grep", {}),)),
        Message("tool", new, call_id="2"),
    )
    kept = trimmed(history, size(history) - 1)
    assert [message.text for message in kept] == ["Go.", "", "old result", "", new]


def test_a_result_that_imitates_such_a_block_does_not_make_the_real_one_outdated() -> None:
    real, imitated = f"result{UPDATES}a.py is now …", noted(f"a file says{UPDATES}all is well")
    history = (
        Message("user", "Go."),
        Message("assistant", "", (ToolCall("1", "grep", {}),)),
        Message("tool", real, call_id="1"),
        Message("assistant", "", (ToolCall("2", "read_file", {}),)),
        Message("tool", imitated, call_id="2"),
    )
    assert trimming._without_stale_updates(history) == history


def test_then_the_oldest_turns_are_removed_in_groups_with_a_note() -> None:
    history = rounds(30)
    kept = trimmed(history, size(history) - 1)
    assert kept[0] == history[0]
    assert kept[1] == Message(
        "user", "[16 earlier messages of this conversation were left out, because it had become too long.]"
    )
    assert kept[2:] == history[1 + 2 * AT_ONCE :]


def test_several_requests_in_a_row_have_the_same_prefix() -> None:
    """A cache holds prefixes: most requests begin with the previous request."""
    most = size(rounds(30))
    sent = [trimmed(rounds(count), most) for count in range(31, 80)]
    changed = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(sent))
    assert changed <= len(sent) / AT_ONCE + 1


def test_the_last_user_message_stays_at_any_position() -> None:
    history = (
        Message("user", "first"),
        Message("assistant", "a" * 3_000),
        Message("user", "second"),
        Message("assistant", "b" * 3_000),
        Message("user", "the question"),
        Message("assistant", "c" * 3_000, (ToolCall("1", "grep", {}),)),
        Message("tool", "d" * 3_000, call_id="1"),
        Message("assistant", "e", (ToolCall("2", "grep", {}),)),
        Message("tool", "f", call_id="2"),
    )
    kept = trimmed(history, 200)
    assert [message.text[:12] for message in kept] == ["first", "[5 earlier m", "the question", "e", "f"]


def test_a_latest_message_that_does_not_fit_is_an_error_that_says_what_to_do() -> None:
    for history in ((Message("user", "x" * 3_500),), (*rounds(3), Message("user", "x" * 3_500))):
        with pytest.raises(Misconfigured, match=r"latest message alone has about 1,000; say it in a shorter message"):
            trimmed(history, 500)


def test_a_long_first_message_loses_its_middle_and_the_conversation_goes_on() -> None:
    history = (Message("user", "begin " + "x" * 350_000 + " end"), Message("assistant", "a"), Message("user", "why?"))
    kept = trimmed(history, 1_000)
    assert size(kept) <= 1_000
    assert kept[0].text.startswith("begin xxx") and kept[0].text.endswith("xxx end")
    assert "characters of this message were left out, because the conversation had become too long.]" in kept[0].text
    assert kept[-1] == history[-1]


def test_large_results_of_the_newest_round_lose_their_middle_the_largest_first() -> None:
    calls = (ToolCall("1", "grep", {}), ToolCall("2", "grep", {}))
    history = (
        Message("user", "go"),
        Message("assistant", "", calls),
        Message("tool", "small", call_id="1"),
        Message("tool", "y" * 35_000, call_id="2"),
    )
    kept = trimmed(history, 2_000)
    assert size(kept) <= 2_000
    assert [message.text[:5] for message in kept] == ["go", "", "small", "yyyyy"]
    assert len(kept[3].text) > 5_000


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("word word", 3), ("é", 1), ("漢字" * 10, 30), ("x" * 700, 200)])
def test_tokens_are_estimated_by_kind_of_character(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


def test_pictures_count() -> None:
    message = Message("user", "", images=(Picture("image/png", "0"),))
    with pytest.raises(Misconfigured):
        trimmed((message,), 1_000)


def parts(messages: tuple[Message, ...]) -> bool:
    """True if each message with calls is followed by exactly its results, in order."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if not waiting or waiting.pop(0) != message.call_id:
                return False
        elif waiting:
            return False
        else:
            waiting = [call.id for call in message.calls]
    return not waiting


@given(histories(), st.integers(0, 2_000))
def test_a_call_and_its_result_go_or_stay_together(history: tuple[Message, ...], most: int) -> None:
    whole = paired(history)
    assert parts(whole)
    try:
        kept = trimmed(whole, most)
    except Misconfigured:
        return
    assert parts(kept)
    assert size(kept) <= most
    assert kept[0].text == whole[0].text
    last_user_message = [message for message in whole if message.role == "user"][-1]
    assert last_user_message in kept
    assert trimmed(whole, most) == kept, "the same history is trimmed the same"


@given(st.lists(st.sampled_from(rounds(4)), max_size=12))
def test_missing_and_repeated_results_are_repaired(history: list[Message]) -> None:
    whole = paired(history)
    assert parts(whole)
    assert [message for message in whole if message.role != "tool"] == [m for m in history if m.role != "tool"]


def test_a_missing_result_is_reported() -> None:
    asked = Message("assistant", "", (ToolCall("1", "grep", {}),))
    assert paired([asked]) == (asked, Message("tool", NO_RESULT, call_id="1"))
