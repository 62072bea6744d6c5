"""A prompt to an ACP agent: text, tools, permission, sessions, and agents that die or misbehave."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import acp
import pytest
from acp.schema import ToolCallLocation

from interlock.cli_workers.acp_events import MOST_TEXT
from interlock.cli_workers.acp_session import AcpEnd, Decision, PermissionRequest, run_prompt
from interlock.errors import Misconfigured, Unavailable
from tests.cli_workers.acp_agent import Agent, Receiver, asking, ends, with_agent


async def _greets(agent: Agent, session: str) -> str:
    await agent.client.session_update(session, acp.update_agent_thought_text("hm"))
    await agent.says("Hello", session)
    await agent.says(" there", session)
    return "end_turn"


def _asks(*titles: str) -> Callable[[Agent, str], Awaitable[str]]:
    async def work(agent: Agent, session: str) -> str:
        chosen = await asyncio.gather(*(agent.asks(title, f"c{at}") for at, title in enumerate(titles)))
        await agent.says(" ".join(chosen))
        return "end_turn"

    return work


def test_text_and_reasoning_arrive_in_order_and_the_end_names_the_session() -> None:
    receiver = Receiver()
    end, agent = with_agent(lambda: Agent(_greets), receiver)
    assert end == AcpEnd("Hello there", "end_turn", "new", None)
    assert (receiver.pieces, receiver.thoughts) == (["Hello", " there"], ["hm"])
    assert agent.seen == [
        ("initialize", {"fs": {"read_text_file": False, "write_text_file": False}, "terminal": False}),
        ("new", "/tmp"),
        ("prompt", "do it"),
    ]


def test_an_allowed_call_gets_the_option_for_this_call_alone() -> None:
    end, _ = with_agent(lambda: Agent(_asks("rm x")), Receiver())
    assert end.text == "once"


def test_a_denied_call_gets_the_rejection_of_this_call_alone() -> None:
    async def deny(request: PermissionRequest) -> Decision:
        return Decision(allow=False, message="no")

    end, _ = with_agent(lambda: Agent(_asks("rm x")), Receiver(deny))
    assert end.text == "no"


def test_permission_is_never_given_where_only_always_is_offered() -> None:
    async def work(agent: Agent, session: str) -> str:
        raw = await agent.client._conn.send_request(
            "session/request_permission",
            {
                "sessionId": session,
                "toolCall": {"toolCallId": "c1", "title": "rm"},
                "options": [{"optionId": "a", "name": "Always", "kind": "allow_always"}],
            },
        )
        await agent.says(raw["outcome"]["outcome"])
        return "end_turn"

    end, _ = with_agent(lambda: Agent(work), Receiver())
    assert end.text == "cancelled"


def test_a_request_shows_the_input_with_diffs_and_locations() -> None:
    async def work(agent: Agent, session: str) -> str:
        await agent.client.session_update(
            session,
            acp.start_tool_call(
                "c1", "Edit\x1b[31m a.txt\nnow", kind="edit", raw_input={"path": "a.txt", "diffs": "none at all"}
            ),
        )
        await agent.asks(
            "Edit\x1b[31m a.txt\nnow",
            content=[acp.tool_diff_content("/tmp/a.txt", "new", "old")],
            locations=[ToolCallLocation(path="/tmp/a.txt", line=3)],
        )
        return "end_turn"

    receiver = Receiver()
    with_agent(lambda: Agent(work), receiver)
    assert receiver.asked == [
        PermissionRequest(
            "Edit a.txt",
            "edit",
            {
                "path": "a.txt",
                "raw_diffs": "none at all",
                "diffs": [{"path": "/tmp/a.txt", "old": "old", "new": "new"}],
                "locations": [{"path": "/tmp/a.txt", "line": 3}],
            },
            "c1",
        )
    ]
    assert receiver.tools == [("c1", "Edit a.txt", "edit", "pending", "")]


def test_two_permission_requests_wait_at_once_and_each_gets_its_own_answer() -> None:
    both = asyncio.Event()
    asked: list[str] = []

    async def decide(request: PermissionRequest) -> Decision:
        asked.append(request.tool)
        if len(asked) == 2:
            both.set()
        await both.wait()  # a request that waited for the other's answer would hang here
        return Decision(allow=request.tool == "first")

    end, _ = with_agent(lambda: Agent(_asks("first", "second")), Receiver(decide))
    assert end.text == "once no"


def test_files_and_terminals_are_refused() -> None:
    async def work(agent: Agent, session: str) -> str:
        refused = 0
        for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
            try:
                await agent.client._conn.send_request(method, {"sessionId": session, "path": "/etc/passwd"})
            except acp.RequestError as error:
                refused += error.code == -32601
        await agent.says(str(refused))
        return "end_turn"

    assert with_agent(lambda: Agent(work), Receiver())[0].text == "3"


# ── sessions, modes, login ───────────────────────────────────────────────────────────────


def test_a_session_is_loaded_and_its_history_is_not_reported_as_new_text() -> None:
    receiver = Receiver()
    end, agent = with_agent(lambda: Agent(_greets, loads=True), receiver, session="old")
    assert (end.session, end.text) == ("old", "Hello there")
    assert ("new", "/tmp") not in agent.seen


@pytest.mark.parametrize("loads", [True, False])
def test_a_session_that_cannot_be_loaded_is_replaced_by_a_new_one(loads: bool) -> None:
    end, _ = with_agent(lambda: Agent(_greets, loads=loads), Receiver(), session="gone")
    assert end.session == "new"


@pytest.mark.parametrize(("mode", "set_"), [("plan", [("mode", "plan")]), ("code", []), ("other", []), (None, [])])
def test_a_mode_is_set_only_if_the_agent_offers_it(mode: str | None, set_: list[Any]) -> None:
    _, agent = with_agent(lambda: Agent(_greets), Receiver(), mode=mode)
    assert [one for one in agent.seen if one[0] == "mode"] == set_


def test_a_login_is_used_only_when_the_agent_asks_for_it() -> None:
    _, agent = with_agent(lambda: Agent(_greets, auth="key"), Receiver(), login="key")
    assert ("authenticate", "key") in agent.seen
    _, agent = with_agent(lambda: Agent(_greets), Receiver(), login="key")
    assert ("authenticate", "key") not in agent.seen
    with pytest.raises(Misconfigured, match="wants a login"):
        with_agent(lambda: Agent(_greets, auth="key"), Receiver())


# ── ends ─────────────────────────────────────────────────────────────────────────────────


def test_cancelling_the_caller_cancels_the_agents_turn_and_its_open_request() -> None:
    """The agent sees session/cancel, and its permission request is answered as cancelled."""

    async def run() -> tuple[str, bool]:
        asked, outcome = asyncio.Event(), asyncio.get_running_loop().create_future()

        async def work(agent: Agent, session: str) -> str:
            outcome.set_result(await agent.asks("rm x"))
            await agent.cancelled.wait()
            return "cancelled"

        async def wait(request: PermissionRequest) -> Decision:
            asked.set()
            await asyncio.Event().wait()
            return Decision(allow=True)

        agent = Agent(work)
        (reader, writer), (their_reader, their_writer) = await ends()
        serving = asyncio.create_task(acp.run_agent(agent, their_writer, their_reader))  # pyright: ignore[reportArgumentType]
        prompt = asyncio.create_task(run_prompt(reader, writer, **asking(Receiver(wait))))
        await asked.wait()
        prompt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await prompt
        await asyncio.wait_for(serving, 20)  # the connection is closed, so the agent ends by itself
        their_writer.close()
        return await outcome, agent.cancelled.is_set()

    assert asyncio.run(run()) == ("cancelled", True)


def test_an_agent_that_ends_in_the_middle_is_an_error_and_not_a_wait() -> None:
    async def work(agent: Agent, session: str) -> str:
        await agent.says("half")
        agent.client._conn._transport._sender._writer.close()
        return "end_turn"

    with pytest.raises(Unavailable, match="ended before it answered session/prompt"):
        with_agent(lambda: Agent(work), Receiver())


def _against(answers: Callable[[dict[str, Any]], list[bytes]]) -> AcpEnd:
    """A prompt to an agent that writes these bytes after each request."""

    async def run() -> AcpEnd:
        (reader, writer), (their_reader, their_writer) = await ends()

        async def answer() -> None:
            with suppress(ConnectionError):  # it was hung up on
                while line := await their_reader.readline():
                    their_writer.writelines(answers(json.loads(line)))
            their_writer.close()

        answering = asyncio.create_task(answer())
        try:
            return await run_prompt(reader, writer, **asking(Receiver()))
        finally:
            await asyncio.wait_for(answering, 20)

    return asyncio.run(run())


def _answer(request: dict[str, Any], result: Any) -> list[bytes]:
    return [json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n"]


def _plainly(request: dict[str, Any]) -> list[bytes]:
    results = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
    return _answer(request, results.get(request["method"], {"stopReason": "end_turn"}))


@pytest.mark.parametrize(
    "line",
    [b"\xff\xfe\n", b"not json\n", b"[1,2]\n", b"7\n", b"[" * 100_000 + b"\n", b"\n\n", b'{"id":99,"result":{}}\n'],
)
def test_a_little_garbage_is_skipped(line: bytes) -> None:
    assert _against(lambda request: [line, *_plainly(request)]).stop == "end_turn"


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "agent_message_chunk"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}},
        {"sessionUpdate": ["x"]},
        {"sessionUpdate": "tool_call", "toolCallId": 5},
        {"sessionUpdate": "tool_call", "toolCallId": "c", "content": [1, {"content": []}], "locations": {}},
        {"sessionUpdate": "usage_update", "cost": {"amount": "1e999", "currency": "USD"}},
        "nothing",
    ],
)
def test_updates_of_unknown_shapes_are_ignored(update: Any, caplog: pytest.LogCaptureFixture) -> None:
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    line = json.dumps(message).encode() + b"\n"
    with caplog.at_level(logging.DEBUG, logger="root"):
        assert _against(lambda request: [line, *_plainly(request)]).text == ""
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_endless_garbage_ends_the_prompt() -> None:
    with pytest.raises(Unavailable, match="100 lines were no JSON objects"):
        _against(lambda request: [b"garbage\n" * 1_000])


def test_an_endless_line_ends_the_prompt() -> None:
    with pytest.raises(Unavailable, match="a line has more than 16,777,216 bytes"):
        _against(lambda request: [b"x" * (18 * 1024 * 1024)])


def test_another_version_of_the_protocol_is_refused() -> None:
    with pytest.raises(Misconfigured, match="speaks version 2 of ACP"):
        _against(lambda request: _answer(request, {"protocolVersion": 2}))


def test_an_error_of_the_agent_is_shown_on_one_line_without_escapes() -> None:
    def answers(request: dict[str, Any]) -> list[bytes]:
        if request["method"] != "session/prompt":
            return _plainly(request)
        error = {"code": -32603, "message": "\x1b[2Jboom\nsecond line"}
        return [json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode() + b"\n"]

    with pytest.raises(Unavailable) as caught:
        _against(answers)
    assert str(caught.value) == "the agent answered session/prompt with error -32603: boom"


def test_usage_and_cost_are_read_where_the_agent_reports_them() -> None:
    def answers(request: dict[str, Any]) -> list[bytes]:
        if request["method"] != "session/prompt":
            return _plainly(request)
        cost = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.25, "currency": "USD"}}
        update = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": cost}}
        usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cachedReadTokens": -3}
        return [json.dumps(update).encode() + b"\n", *_answer(request, {"stopReason": "end_turn", "usage": usage})]

    usage = _against(answers).usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cost) == (10, 5, 0, 250_000)


def test_fifty_megabytes_of_text_are_cut_and_the_prompt_still_ends() -> None:
    piece = "x" * 50_000

    async def work(agent: Agent, session: str) -> str:
        for _ in range(1_000):
            await agent.says(piece)
        return "end_turn"

    receiver = Receiver()
    end, _ = with_agent(lambda: Agent(work), receiver)
    assert end.stop == "end_turn"
    assert len(end.text) < MOST_TEXT + 100
    assert end.text.endswith("more than 2,000,000 characters]") or len(end.text) == MOST_TEXT
    assert "".join(receiver.pieces) == end.text


def test_a_receiver_that_fails_ends_the_prompt_with_its_error() -> None:
    async def broken(request: PermissionRequest) -> Decision:
        raise RuntimeError("the journal is gone")

    with pytest.raises(RuntimeError, match="the journal is gone"):
        with_agent(lambda: Agent(_asks("rm x")), Receiver(broken))
