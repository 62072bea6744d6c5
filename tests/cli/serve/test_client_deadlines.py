"""The client's timeouts hold while the server is stopped: each wait ends at its own deadline, not after 10 seconds."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from interlock.client import ApiHookClient, NotServing
from tests.cli.project import Project
from tests.cli.serving import serving
from tests.processes.tree import stop

SECONDS = 0.6
SLACK = 2.5  # a busy machine


def _wait_for_server(client: ApiHookClient) -> None:
    assert client.wait_for_server(SECONDS) is False


def _wait_for_value(client: ApiHookClient) -> None:
    with pytest.raises(NotServing):
        client.wait_for_value("pending_ask", expected=True, timeout=SECONDS)


def _wait_until(client: ApiHookClient) -> None:
    with pytest.raises(NotServing):
        client.wait_until(lambda: bool(client.get_status()), SECONDS)


def _events(client: ApiHookClient) -> None:
    with pytest.raises((NotServing, TimeoutError)):
        for _ in client.events(deadline=time.monotonic() + SECONDS):
            pass


@pytest.mark.parametrize("wait", [_wait_for_server, _wait_for_value, _wait_until, _events])
def test_a_wait_on_a_stopped_server_ends_at_its_deadline(
    project: Project, wait: Callable[[ApiHookClient], None]
) -> None:
    with serving(project) as served:
        client = served.client()
        assert client.wait_for_server(10)
        stop(served.process.pid)
        try:
            started = time.monotonic()
            wait(client)
            took = time.monotonic() - started
        finally:
            os.kill(served.process.pid, signal.SIGCONT)
        assert SECONDS * 0.9 <= took <= SECONDS + SLACK
        assert client.wait_for_server(10), "the next request is not limited by the earlier deadline"


def test_a_server_that_stops_during_the_wait_is_noticed_at_the_deadline(project: Project) -> None:
    with serving(project) as served:
        client, looked = served.client(), list[float]()

        def looks() -> bool:
            client.get_status()
            looked.append(time.monotonic())
            stop(served.process.pid)
            return False

        started = time.monotonic()
        try:
            with pytest.raises(NotServing):
                client.wait_until(looks, SECONDS * 2)
        finally:
            os.kill(served.process.pid, signal.SIGCONT)
        assert looked
        assert time.monotonic() - started <= SECONDS * 2 + SLACK
