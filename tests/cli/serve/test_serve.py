"""`interlock serve` as a process: start, other commands at the same time, end."""

import json
import os
import random
import signal
import socket
import stat
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.api.control_client import ControlClient
from interlock.client import ApiError, ApiHookClient, NotServing
from tests.cli.project import Project, left_running, shell
from tests.cli.serving import Serving, finished, hook, script, serving

SLOW = {"match": "", "reply": "At last.", "delay_s": 30}
PORTS = range(8999, 9011)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_server_announces_its_address_and_its_files_are_private(project: Project) -> None:
    with serving(project) as bench:
        result = bench.announced
        assert result == {
            "url": f"http://127.0.0.1:{bench.port}",
            "port": bench.port,
            "project": str(project.root),
            "sandbox": "bubblewrap",
            "api_file": str(project.root / ".interlock" / "run" / "api.json"),
            "approve_file": result["approve_file"],
        }
        assert [mode(file) for file in bench.files] == [0o600] * 3
        assert mode(bench.api_file.parent) == 0o700
        contents = [json.loads(file.read_text()) for file in bench.files]
        assert {(content["host"], content["port"], content["pid"]) for content in contents} == {
            ("127.0.0.1", bench.port, bench.process.pid)
        }
        assert len({content["token"] for content in contents}) == 3
        assert min(len(content["token"]) for content in contents) >= 40
        assert contents[0]["approve_file"] == result["approve_file"]
        approve = Path(result["approve_file"])
        assert approve.is_relative_to(project.env["XDG_STATE_HOME"])
        assert not approve.is_relative_to(project.root)
        assert mode(approve.parent) == 0o700
        assert project.git("status", "--porcelain") == ""
        listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        lines = [line.split() for line in listening.splitlines() if f":{bench.port:04X} " in line]
        assert {line[1] for line in lines if line[3] == "0A"} == {f"0100007F:{bench.port:04X}"}, "loopback alone"


def test_the_plain_output_names_the_address_and_unusual_settings(project: Project) -> None:
    process = project.start("serve", "--port", "0", "--test-policy")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(5)]
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    result = "".join(lines) + rest
    assert process.returncode == 0, result
    assert f"serving {project.root} at http://127.0.0.1:" in result
    assert "TEST POLICY: the drive token may answer approvals." in result
    assert "ended; everything is in the journal" in result


@contextmanager
def taken(ports: range) -> Generator[None]:
    """All ports are taken, by this test or by other programs."""
    with ExitStack() as closing:
        for port in ports:
            try:
                closing.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
        yield


def test_a_taken_port_leads_to_the_next_and_no_free_port_is_reported(project: Project) -> None:
    with taken(range(8999, 9009)), serving(project, "--port", "8999") as bench:
        assert bench.port in (9009, 9010)
        assert bench.client().get_status()["status"] == "ok"
    with taken(PORTS):
        result = project.run("serve", "--port", "8999")
    assert (result.code, result.out) == (1, "")
    assert "no port is free from 8999 to 9010; choose another with --port" in result.err
    assert "Traceback" not in result.err
    assert not (project.root / ".interlock" / "run" / "api.json").exists()
    project.check_whole()


def test_a_second_one_on_the_same_project_is_refused_with_the_pid_of_the_first(project: Project) -> None:
    with serving(project) as bench:
        before = bench.api_file.read_text()
        result = project.run("serve", "--port", "0")
        assert (result.code, f"in use by process {bench.process.pid}" in result.err) == (1, True), result
        assert "end that first" in result.err
        assert bench.api_file.read_text() == before
        assert bench.client().get_status()["status"] == "ok"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--port", "65536"], 2, "a port from 0 (any) to 65535"),
        (["--port", "http"], 2, "a port from 0 (any) to 65535"),
        (["--no-such"], 2, "--no-such"),
        (["--provider", "gpt"], 2, "gpt"),
        (["--script", "x.json"], 1, "--script goes with --provider scripted"),
        (["--provider", "scripted", "--script", "/no/such.json"], 1, "cannot be read"),
        (["-C", "/no/such/folder"], 1, "is not a folder"),
    ],
)
def test_wrong_words_are_answered_with_a_sentence(project: Project, words: list[str], code: int, sentence: str) -> None:
    result = project.run("serve", *words)
    assert (result.code, sentence in result.err, "Traceback" in result.err) == (code, True, False), result
    assert not (project.root / ".interlock" / "run").exists()


@pytest.mark.parametrize("text", ["provider = [", "[provder]\nname = 'x'\n", "\x00\xff"])
def test_broken_settings_are_named_with_file_and_line(project: Project, text: str) -> None:
    project.write("interlock.toml", text)
    result = project.run("serve", "--port", "0")
    assert (result.code, "interlock.toml" in result.err, "Traceback" in result.err) == (1, True, False), result
    as_json = project.run("serve", "--port", "0", "--json")
    assert as_json.code == 1
    assert "interlock.toml" in as_json.json["error"]


def asking(project: Project, bench: Serving) -> None:
    """A track of two tickets in step mode; each waits for its approval."""
    file = project.tickets("plan.json", [shell("one", "echo 1 > one.txt"), shell("two", "echo 2 > two.txt")])
    assert project.run("tracks", "import", file).code == 0
    client = bench.client()
    client.click("btn_mma_start_track", "plan")
    assert client.wait_until(lambda: len(client.list_approvals()) == 2, 60)


def test_other_commands_work_through_its_socket_while_it_serves(project: Project) -> None:
    with serving(project) as bench:
        asking(project, bench)
        client = bench.client()
        assert [a["id"] for a in project.run("approvals", "list", "--json").json] == ["A-1", "A-2"]
        assert project.run("approvals", "show", "A-1").code == 0
        result = project.run("approvals", "answer", "A-1", "approve")
        assert (result.code, "approve by human:ann" in result.out) == (0, True), result
        with pytest.raises(ApiError, match="already answered by human:ann"):
            bench.client(approve=True).answer("A-1", "reject")
        bench.client(approve=True).answer("A-2", "approve")
        again = project.run("approvals", "answer", "A-2", "reject")
        assert (again.code, "already answered by human:" in again.err) == (1, True)
        assert client.wait_until(lambda: client.get_mma_status()["tracks"][0]["status"] == "done", 60)
        assert project.run("tracks", "list", "--json").json[0]["status"] == "done"
        assert project.run("status", "--json").code == 0
        events = [row["event"]["type"] for row in project.journal()]
        assert events.count("approval_answered") == 4
        assert project.run("journal", "verify").code == 0
        assert project.run("tracks", "show", "plan").code == 0
        assert project.run("tickets", "list", "--json").code == 0
    assert sorted(project.branch_tickets("plan")) == ["one", "two"]
    project.check_whole()


# ── how it ends ──────────────────────────────────────────────────────────────────────────


def stop_by(bench: Serving, way: str) -> None:
    match way:
        case "SIGINT" | "SIGTERM" | "SIGHUP":
            bench.process.send_signal(signal.Signals[way])
        case "http":
            bench.client().shutdown()
        case _:
            control = ControlClient(bench.project.root / ".interlock" / "run" / "control.sock")
            control.stop()
            control.close()


WAYS = ["SIGINT", "SIGTERM", "SIGHUP", "http", "socket"]


@pytest.mark.parametrize("way", WAYS)
def test_the_server_ends_and_nothing_is_left(project: Project, way: str) -> None:
    with serving(project) as bench:
        stop_by(bench, way)
        bench.ended()
    project.check_whole()


@pytest.mark.parametrize("way", WAYS)
def test_the_server_ends_while_everything_is_pending(project: Project, way: str) -> None:
    """A slow model, a sleeping script, a waiting hook, and clients that hang."""
    with serving(project, "--auto-queue", *script(project, SLOW)) as bench, ExitStack() as closing:
        client = bench.client()
        client.set_value("ai_input", "Take your time")
        client.click("btn_gen_send")
        file = project.tickets("long.json", [shell("long", "trap '' TERM; sleep 600 & sleep 601")])
        assert project.run("tracks", "import", file).code == 0
        client.click("btn_mma_start_track", "long")
        assert client.wait_until(lambda: client.get_value("active_tier") != "" and bool(client.list_approvals()), 60)
        for approval in client.list_approvals():
            bench.client(approve=True).answer(approval["id"], "approve")
        asker = hook(project, {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}})
        assert client.wait_until(lambda: any(a["kind"] == "ask" for a in client.list_approvals()), 60)
        assert client.wait_until(lambda: client.get_indicator_state("thinking")["thinking"], 60)
        assert client.wait_until(lambda: bool(left_running(project.env["XDG_STATE_HOME"])), 60)
        many = [shell(f"t{number}", "true", description="x" * 1_500) for number in range(3_000)]
        assert project.run("tracks", "import", project.tickets("many.json", many)).code == 0
        token = json.loads(bench.api_file.read_text())["token"]
        for _ in range(3):  # followers that never read, with more data than any buffer holds
            hung = closing.enter_context(socket.socket())
            hung.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            hung.connect(("127.0.0.1", bench.port))
            hung.sendall(
                f"GET /api/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\n"
                f"Authorization: Bearer {token}\r\n\r\n".encode()
            )
        half = closing.enter_context(socket.create_connection(("127.0.0.1", bench.port)))
        half.sendall(b"GET /sta")  # an unfinished request
        stop_by(bench, way)
        print(f"[TIME] ended by {way} after {bench.ended():.2f} s")
        code, result, _ = finished(asker)
        assert (code, result["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")
    assert left_running(project.env["XDG_STATE_HOME"]) == []
    assert project.run("journal", "verify").code == 0


def test_interrupted_twice_it_still_ends(project: Project) -> None:
    with serving(project, *script(project, SLOW)) as bench:
        client = bench.client()
        client.set_value("ai_input", "Take your time")
        client.click("btn_gen_send")
        assert client.wait_until(lambda: client.get_indicator_state("thinking")["thinking"], 60)
        bench.process.send_signal(signal.SIGINT)
        bench.process.send_signal(signal.SIGINT)
        bench.process.communicate(timeout=30)
        assert bench.process.returncode in (0, 130)
    assert project.run("journal", "verify").code == 0


def interrupted(project: Project, chance: random.Random) -> None:
    process = project.start("serve", "--json", "--port", "0")
    threading.Event().wait(chance.uniform(0.05, 1))
    process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
    result, _ = process.communicate(timeout=30)
    killed_before_it_began = (-signal.SIGINT, -signal.SIGTERM)
    assert process.returncode in (0, 130, *killed_before_it_began), result
    assert "Traceback" not in result or process.returncode in killed_before_it_began, result
    assert [file.name for file in (project.root / ".interlock" / "run").glob("*")] == []


def test_interrupted_at_any_moment_of_its_start_it_leaves_nothing(project: Project) -> None:
    chance = random.Random(7)
    for _ in range(8):
        interrupted(project, chance)
    assert project.run("init").code == 0  # on a slow machine none of them made a journal
    project.check_whole()


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_interrupted_a_hundred_times_at_its_start(project: Project) -> None:
    chance = random.Random(8)
    for _ in range(100):
        interrupted(project, chance)
    project.check_whole()


# ── which servers a client trusts ─────────────────────────────────────────────────────────────────


class Stranger:
    """Listens on a port and records everything it receives."""

    def __init__(self, port: int) -> None:
        self.received: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                talk, _ = self._server.accept()
            except OSError:
                return
            with talk:
                self.received.append(talk.recv(65536))
                talk.sendall(
                    b"HTTP/1.1 200 OK\r\nX-Interlock-Proof-Drive: 0\r\nContent-Length: 15\r\n\r\n" + b'{"status":"ok"}'
                )

    def __enter__(self) -> "Stranger":
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.close()


def test_files_left_by_a_killed_server_are_not_trusted(project: Project) -> None:
    with serving(project) as bench:
        old = bench.client()
        assert old.get_status()["status"] == "ok"
        tokens = [json.loads(file.read_text())["token"].encode() for file in bench.files]
        bench.kill()
        assert [file.exists() for file in bench.files] == [True] * 3
        with Stranger(bench.port) as stranger:
            for approve in (False, True):
                with pytest.raises(NotServing, match="was left behind: no workbench has this project open"):
                    bench.client(approve=approve).get_status()
            code, result, _ = finished(
                hook(project, {"hook_event_name": "BeforeTool", "tool_name": "T", "tool_input": {}})
            )
            assert (code, result["decision"], "was left behind" in result["reason"]) == (0, "deny", True)
            assert stranger.received == []
            # Another process holds the lock but does not serve: the port still belongs to another program.
            run = project.start(
                "run", "--tickets", project.tickets("p.json", [shell("one", "sleep 30")]), "--approve", "all"
            )
            try:
                assert run.stdout is not None
                assert any("one" in line for line in run.stdout)
                for approve in (False, True):
                    with pytest.raises(NotServing, match="is not the workbench of this project"):
                        bench.client(approve=approve).get_status()
            finally:
                run.kill()
                run.communicate()
            assert len(stranger.received) >= 2
            assert [token for token in tokens for data in stranger.received if token in data] == []


def test_a_client_from_before_a_kill_sends_its_token_to_no_other_server(project: Project) -> None:
    """The client has cached the address and does not read the file again."""
    with serving(project) as bench:
        old = bench.client()
        assert old.get_status()["status"] == "ok"
        token = json.loads(bench.api_file.read_text())["token"].encode()
        bench.kill()
        with Stranger(bench.port) as stranger:
            with pytest.raises(NotServing):
                old.get_status()
            assert [data for data in stranger.received if token in data] == []


def test_after_a_kill_the_next_one_starts_and_is_found_by_the_same_client(project: Project) -> None:
    with serving(project) as first:
        client = first.client()
        assert client.get_status()["status"] == "ok"
        first.kill()
    with serving(project) as second:
        assert client.wait_for_server(30)
        assert client.get_status()["status"] == "ok"
        assert [mode(file) for file in second.files] == [0o600] * 3
        assert os.getpid() != second.process.pid
        stop_by(second, "SIGTERM")
        second.ended()


def test_the_file_can_be_named_by_the_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(project) as bench:
        monkeypatch.setenv("INTERLOCK_API_FILE", str(bench.api_file))
        assert ApiHookClient().get_status()["status"] == "ok"
        monkeypatch.delenv("INTERLOCK_API_FILE")
        deep = project.root / "src" / "deep"
        deep.mkdir(parents=True)
        monkeypatch.chdir(deep)
        monkeypatch.setenv("XDG_STATE_HOME", project.env["XDG_STATE_HOME"])
        assert ApiHookClient().get_status()["status"] == "ok"
        monkeypatch.setenv("XDG_STATE_HOME", str(project.home))
        with pytest.raises(NotServing, match="interlock adopt"):
            ApiHookClient().get_status()
