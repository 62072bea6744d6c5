"""Connections without a token are bounded, and never keep others from being served."""

import asyncio
import resource
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import cast

from interlock.api.connections import MOST_UNPROVEN, Unproven
from tests.api.serving import served


@contextmanager
def _open_files(number: int) -> Generator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_many_connections_that_send_nothing_do_not_stop_the_service() -> None:
    with served() as bench, _open_files(4_096), ExitStack() as opened:
        address = ("127.0.0.1", bench.port)
        client = bench.client()
        assert client.get_mma_status()
        for number in range(1_100):
            connection = opened.enter_context(socket.create_connection(address, timeout=10))
            connection.sendall(b"GET /api/gui/state HTTP/1.1\r\nHost: x\r\n" if number % 2 else b"")
        assert bench.raw("GET", "/api/gui/state")[0] == 200
        assert client.get_mma_status()


class Transport:
    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


def _transports(number: int) -> list[asyncio.Transport]:
    return [cast("asyncio.Transport", Transport()) for _ in range(number)]


def _aborted(transports: list[asyncio.Transport]) -> list[int]:
    return [number for number, each in enumerate(transports) if cast("Transport", each).aborted]


def test_a_new_connection_closes_the_oldest_that_has_shown_no_token() -> None:
    async def story() -> None:
        unproven, transports = Unproven(most=3), _transports(5)
        for each in transports[:3]:
            unproven.add(each)
        unproven.remove(transports[0])  # it has shown its token
        for each in transports[3:]:
            unproven.add(each)
        assert _aborted(transports) == [1]
        assert len(unproven) == 3

    asyncio.run(story())


def test_a_connection_has_some_time_to_show_its_token() -> None:
    async def story() -> None:
        unproven, transports = Unproven(seconds=0), _transports(1)
        unproven.add(transports[0])
        ended = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.001, ended.set_result, None)  # timers run in their order
        await ended
        assert _aborted(transports) == [0]

    asyncio.run(story())


def test_the_bound_is_below_the_usual_limit_of_open_files() -> None:
    assert MOST_UNPROVEN < 512
