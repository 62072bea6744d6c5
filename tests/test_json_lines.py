"""JSON objects as lines: bounded, and strict about what counts as one."""

import asyncio
import json
import socket

from interlock.json_lines import JsonLines


def received(sent: bytes, most: int = 1_000) -> tuple[list[object], str, bytes]:
    """The messages, the problem, and what was answered."""

    async def run() -> tuple[list[object], str, bytes]:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        their_reader, their_writer = await asyncio.open_connection(sock=theirs)
        lines = JsonLines(reader, writer, most, answer_garbage=True)
        their_writer.write(sent)
        their_writer.write_eof()
        messages: list[object] = []
        while (message := await lines.receive()) is not None:
            messages.append(message)
        await lines.close()
        answered = await their_reader.read()
        their_writer.close()
        return messages, lines.problem, answered

    return asyncio.run(run())


def test_each_line_is_a_message_and_blank_lines_are_none() -> None:
    assert received(b'{"a":1}\n\n  \r\n{"b":"\xc3\xa9"}\n') == ([{"a": 1}, {"b": "é"}], "", b"")


def test_a_line_without_its_end_is_no_message() -> None:
    assert received(b'{"a":1}\n{"b":2}')[0] == [{"a": 1}]


def test_garbage_is_answered_as_a_parse_error() -> None:
    messages, problem, answered = received(b'[]\nx\n{"a":1}\n')
    assert (messages, problem) == ([{"a": 1}], "")
    assert [json.loads(line)["error"]["code"] for line in answered.splitlines()] == [-32700, -32700]


def test_a_line_over_the_limit_ends_the_stream_without_being_kept() -> None:
    messages, problem, _ = received(b'{"a":1}\n' + b"x" * 200_000)
    assert (messages, problem) == ([{"a": 1}], "a line has more than 1,000 bytes")


def test_garbage_without_end_ends_the_stream() -> None:
    messages, problem, _ = received(b"x\n" * 500 + b'{"a":1}\n')
    assert (messages, problem) == ([], "more than 100 lines were no JSON objects")


def test_a_request_to_a_peer_that_is_gone_fails_and_an_answer_is_dropped() -> None:
    async def run() -> str:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        theirs.close()
        lines = JsonLines(reader, writer, 1_000)
        await lines.receive()
        try:
            for _ in range(100):
                await lines.send({"id": 1, "result": "x" * 10_000})
            for _ in range(100):
                await lines.send({"method": "x", "params": "x" * 10_000})
        except ConnectionError as error:
            return str(error)
        finally:
            await lines.close()
        return ""

    assert "the other side does not read" in asyncio.run(run())
