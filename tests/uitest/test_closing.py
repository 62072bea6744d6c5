"""A busy window with harness and HTTP API closes and leaves nothing behind."""

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from interlock.assembly.build import conducting
from interlock.assembly.project import open_project
from interlock.assembly.service import ModelSelection, Service, approve_file
from interlock.client import ApiHookClient
from interlock.errors import Misconfigured
from tests.cli.project import Project, shell
from tests.uitest.program import DrivenWindow, driven


def by_request(window: DrivenWindow, client: ApiHookClient) -> None:
    client.shutdown()


def by_signal(window: DrivenWindow, client: ApiHookClient) -> None:
    os.kill(window.process.pid, signal.SIGTERM)


def is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections linger for a minute
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def descendants(pid: int) -> set[int]:
    children: set[int] = set()
    with suppress(OSError):  # the process or one of its threads has just ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                for child in (task / "children").read_text().split():
                    children |= {int(child)} | descendants(int(child))
    return children


def holds_within(so: Callable[[], bool], seconds: float = 60) -> bool:
    """Poll: the kernel sends no notification about other processes."""
    until = time.monotonic() + seconds
    while not so():
        if time.monotonic() > until:
            return False
        threading.Event().wait(0.02)
    return True


def test_a_client_that_hangs_up_does_not_end_it(tmp_path: Path) -> None:
    """The test engine would take SIGPIPE for a crash."""
    with driven(Project(tmp_path)) as window:
        assert window.client.wait("exists:btn_reset").number(1) == 1
        os.kill(window.process.pid, signal.SIGPIPE)
        assert window.client.click("btn_reset").number(1) == 1
        assert window.process.poll() is None


@pytest.mark.parametrize("close", [by_request, by_signal])
def test_ports_are_free_and_no_child_is_left(
    tmp_path: Path, close: Callable[[DrivenWindow, ApiHookClient], None]
) -> None:
    project = Project(tmp_path)
    rules = project.home / "rules.json"
    rules.write_text(json.dumps([{"match": "", "reply": "a long while", "delay_s": 600}]))
    words = ("--enable-test-hooks", "--port", "0", "--auto-queue", "--provider", "scripted", "--script", str(rules))
    run = project.root / ".interlock" / "run"
    with driven(project, *words) as window:
        client = ApiHookClient(run / "api.json", timeout_s=60)
        assert client.wait_for_server(60)
        ports = [json.loads((run / name).read_text())["port"] for name in ("api.json", "harness.json")]
        assert not any(is_free(port) for port in ports)
        tickets = project.tickets("t.json", {"id": "slow", "title": "Slow", "tickets": [shell("T-1", "sleep 600")]})
        assert project.run("tracks", "import", tickets).code == 0
        client.click("btn_mma_start_track", "slow")

        def at_work() -> bool:
            if client.list_approvals():
                window.client.click("inbox.approve")
            return bool(descendants(window.process.pid))

        assert holds_within(at_work), (client.list_approvals(), client.get_mma_status())
        client.set_value("ai_input", "hello")
        client.click("btn_gen_send")
        assert client.wait_until(lambda: client.get_indicator_state("thinking")["thinking"], 60)
        children = descendants(window.process.pid)
        close(window, client)
        assert window.process.wait(20) == 0
        assert [port for port in ports if not is_free(port)] == []
        assert not (run / "api.json").exists()
        assert not (run / "harness.json").exists()
        assert holds_within(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 20), children


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_disturb_the_end(tmp_path: Path, number: signal.Signals) -> None:
    project = Project(tmp_path)
    with driven(project) as window:
        os.kill(window.process.pid, number)
        os.kill(window.process.pid, number)
        assert window.process.wait(60) == 0
    assert list((project.root / ".interlock" / "run").iterdir()) == []


def test_http_that_starts_when_the_window_closes_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    root = tmp_path / "project"
    root.mkdir()
    project = open_project(root)
    conduct = conducting(project, auto_queue=False, approve_all=False, workers=None)
    service = Service(project, conduct, ModelSelection(), "human:ann", test_policy=False)
    opened = service.open()
    service.stop()
    with pytest.raises(Misconfigured, match="closing"):
        opened.serve_http(0)
    assert list((project.folder / "run").iterdir()) == []
    assert not approve_file(project).exists()
