"""Tool results: whole in their own round, shortened later, always readable again."""

import asyncio
import re

import msgspec
import pytest

from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.conversation import for_request
from interlock.engine.agents.tool_calls.tool_outputs import LEAST, NEWEST, OLDER, WARNING, handle_of, read_tool_output
from interlock.ports.model import Message, ToolCall
from tests.engine.world import World


def a_round(number: int, size: int, mark: str = "x") -> list[Message]:
    call = ToolCall(f"c{number}", "look", {})
    return [Message("assistant", "", (call,)), Message("tool", mark * size, call_id=call.id)]


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in for_request(messages) if message.role == "tool"]


def test_the_newest_results_go_whole_up_to_a_bound_and_older_ones_are_cut() -> None:
    messages = [Message("user", "go"), *a_round(1, 50_000)]
    handle = handle_of(messages[2])
    assert texts(messages) == [
        "x" * NEWEST + "\n[… 10,000 of 50,000 characters left out; read them with read_tool_output,"
        f' handle "{handle}", start 40000]'
    ]
    messages += a_round(2, NEWEST)
    assert texts(messages) == [
        "x" * OLDER + "\n[… 42,000 of 50,000 characters left out; read them with read_tool_output,"
        f' handle "{handle}", start 8000]',
        "x" * NEWEST,
    ]


def test_a_short_result_stays_as_it_is_for_ever() -> None:
    messages = [Message("user", "go"), *a_round(1, OLDER), *a_round(2, 3)]
    assert for_request(messages) == tuple(messages)


def test_after_half_a_megabyte_of_results_for_one_request_a_result_says_so_and_is_short() -> None:
    messages = [Message("user", "go")]
    for number in range(5):
        messages += a_round(number, 50_000, "é")
    assert WARNING not in "".join(texts(messages)), "500,000 bytes are just within it"
    messages += a_round(6, LEAST)
    assert texts(messages)[-1] == "x" * LEAST + f"\n{WARNING}"
    messages += a_round(7, LEAST + 1)
    assert texts(messages)[-1].startswith("x" * LEAST + "\n[… 1 of 2,001 characters left out")
    assert texts(messages)[-1].endswith(WARNING)
    messages += [Message("assistant", "done"), Message("user", "next"), *a_round(8, LEAST + 1)]
    assert texts(messages)[-1] == "x" * (LEAST + 1), "another request has a new limit"


def test_a_shortened_result_is_read_by_its_handle_in_pieces() -> None:
    messages = [Message("user", "go"), *a_round(1, 50_000)]
    handle = handle_of(messages[2])
    outcome = read_tool_output(messages, {"handle": handle, "start": "49990", "count": 100})
    assert (outcome.text, outcome.failed) == ("[characters 49,990 to 50,000 of 50,000]\n" + "x" * 10, False)
    assert read_tool_output(messages, {"handle": handle}).text == "[characters 0 to 20,000 of 50,000]\n" + "x" * 20_000


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"handle": "abc"}, "No result of this conversation has the handle 'abc'."),
        ({}, "read_tool_output: Object missing required field `handle`."),
        ({"handle": "HANDLE", "start": 50_000}, "That result has only 50,000 characters."),
        ({"handle": "HANDLE", "count": 40_000}, "read_tool_output: Expected `int` <= 39000 - at `$.count`."),
        ({"handle": "HANDLE", "from": 1}, "read_tool_output: Object contains unknown field `from`."),
    ],
)
def test_an_invalid_reading_fails_with_the_reason(args: dict[str, object], message: str) -> None:
    messages = [Message("user", "go"), *a_round(1, 50_000)]
    if args.get("handle") == "HANDLE":
        args = {**args, "handle": handle_of(messages[2])}
    outcome = read_tool_output(messages, args)
    assert (outcome.text, outcome.failed) == (message, True)


def test_a_handle_is_a_prefix_of_a_stored_texts_name_and_valid_in_one_session_only() -> None:
    async def story() -> None:
        big = {"name": "look", "args": {"size": 9_000}}
        world = World()
        world.rules = [
            {"match": "# Ticket one", "tool_calls": [big]},
            {"match": "look done", "ticket": "one", "tool_calls": [{"name": "look"}], "times": 1},
            {"match": "look done", "ticket": "one", "reply": "done"},
        ]
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            state = await process.until_status("done")
            session = state.ticket("a", "one").session
        match = re.search('handle "([0-9a-f]{12})"', world.requests[-1].messages[2].text)
        assert match
        kept = [blob for blob in session if blob.sha256.startswith(match[1])]
        assert len(kept) == 1
        message = msgspec.json.decode(world.journal.get_blob(kept[0].sha256), type=Message)
        assert len(message.text) > 9_000

        world.rules = [
            {"match": "# Ticket two", "tool_calls": [{"name": "read_tool_output", "args": {"handle": match[1]}}]},
            {"match": "No result of this conversation", "reply": "I see."},
        ]
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="two"), track="b")
            await process.until_status("done", "b")
        assert "xxx" not in world.requests[-1].messages[-1].text

    asyncio.run(story())
