"""A history that is too long: what goes, what stays, and that nothing is torn apart (SPEC P4)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import Misconfigured
from interlock.ports.model import Message, Picture, ToolCall
from interlock.providers.http.trimming import AT_ONCE, NO_RESULT, estimated_tokens, paired, trimmed
from tests.providers.histories import UPDATES, histories


def size(messages: tuple[Message, ...]) -> int:
    """What `trimmed` counts, counted again: texts, calls, pictures, and eight for each message."""
    return sum(
        estimated_tokens(message.text)
        + sum(estimated_tokens(f"{call.name} {call.args}") for call in message.calls)
        + estimated_tokens(message.session)
        + 1_600 * len(message.images)
        + 8
        for message in messages
    )


def rounds(count: int, text: str = "x" * 300) -> tuple[Message, ...]:
    told = [Message("user", "The ticket.")]
    for number in range(count):
        told.append(Message("assistant", f"round {number}", (ToolCall(f"c{number}", "grep", {}),)))
        told.append(Message("tool", text, call_id=f"c{number}"))
    return tuple(told)


def test_what_fits_stays_as_it_is() -> None:
    history = rounds(20)
    assert trimmed(history, size(history)) == history


def test_stale_news_of_files_goes_first_and_the_latest_stays() -> None:
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


def test_then_the_oldest_turns_go_several_at_a_time_and_it_is_said() -> None:
    history = rounds(30)
    kept = trimmed(history, size(history) - 1)
    assert kept[0] == history[0]
    assert kept[1] == Message(
        "user", "[16 earlier messages of this conversation were left out, because it had become too long.]"
    )
    assert kept[2:] == history[1 + 2 * AT_ONCE :]


def test_it_begins_the_same_for_several_requests() -> None:
    """A cache holds beginnings: most requests begin as the one before."""
    most = size(rounds(30))
    sent = [trimmed(rounds(count), most) for count in range(31, 80)]
    changed = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(sent))
    assert changed <= len(sent) / AT_ONCE + 1


def test_what_a_person_said_last_stays_wherever_it_stands() -> None:
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


def test_where_too_little_can_go_a_person_is_told() -> None:
    with pytest.raises(Misconfigured, match="too long for the model: about"):
        trimmed((Message("user", "x" * 3_000),), 500)
    with pytest.raises(Misconfigured, match="start a new one"):
        trimmed((*rounds(3), Message("user", "x" * 3_000)), 500)


def test_pictures_count() -> None:
    told = Message("user", "", images=(Picture("image/png", "0"),))
    with pytest.raises(Misconfigured):
        trimmed((told,), 1_000)


def parts(messages: tuple[Message, ...]) -> bool:
    """Whether every call is followed at once by its results, in order, and there are no others."""
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
    said = [message for message in whole if message.role == "user"][-1]
    assert said in kept
    assert trimmed(whole, most) == kept, "the same history is trimmed the same"


@given(st.lists(st.sampled_from(rounds(4)), max_size=12))
def test_whatever_is_lost_or_twice_is_made_whole(history: list[Message]) -> None:
    whole = paired(history)
    assert parts(whole)
    assert [message for message in whole if message.role != "tool"] == [m for m in history if m.role != "tool"]


def test_a_result_that_is_missing_is_said_to_be() -> None:
    asked = Message("assistant", "", (ToolCall("1", "grep", {}),))
    assert paired([asked]) == (asked, Message("tool", NO_RESULT, call_id="1"))
