"""`interlock mcp --http`: the address file, the token, Host and Origin, cancellation by disconnecting."""

import asyncio
import http.client
import json
import signal
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.cli.project import Project
from tests.mcp_server.mcp_client import Client, connected, run
from tests.processes.tree import wait_until

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})


class Serving:
    def __init__(self, project: Project, *words: str) -> None:
        self.file = project.root / ".interlock" / "run" / "mcp.json"
        self.errors = project.home / "mcp-http.err"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                project.argv("mcp", "--http", "--port", "0", *words),
                cwd=project.root,
                env=project.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        wait_until(
            lambda: "Ctrl-C" in self.errors.read_text() or self.process.poll() is not None, "the server is ready"
        )
        facts: dict[str, Any] = json.loads(self.file.read_text())
        self.url, self.token = str(facts["url"]), str(facts["token"])
        self.host = self.url.removeprefix("http://").partition("/")[0]

    def post(self, **headers: str) -> int:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        connection.request("POST", "/mcp", PING, {name.replace("_", "-"): value for name, value in given.items()})
        status = connection.getresponse().status
        connection.close()
        return status


@contextmanager
def serving(project: Project) -> Generator[Serving]:
    server = Serving(project)
    try:
        yield server
    finally:
        server.process.send_signal(signal.SIGINT)
        server.process.communicate(timeout=30)
        assert server.process.returncode == 0
        assert "Traceback" not in server.errors.read_text()
        assert not server.file.exists()


def test_a_client_with_the_token_reads_and_changes(project: Project) -> None:
    async def work() -> None:
        with serving(project) as server:
            headers = {"Authorization": f"Bearer {server.token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as transport,
                streamable_http_client(server.url, http_client=transport) as (read, write),
                ClientSession(read, write) as session,
            ):
                await session.initialize()
                client = Client(session, project)
                assert await client.call("read_file", path="a.txt") == ("one\ntwo\nthree\n", False)
                call = client.start("write_file", path="b.txt", content="new\n")
                await client.answer("approve")
                assert (await call)[1] is False
                call = client.start("write_file", path="c.txt", content="new\n")
                await client.pending()
                call.cancel()
                await client.none_pending()
        assert (project.root / "b.txt").exists()
        assert not (project.root / "c.txt").exists()

    run(work)


def test_the_address_file_is_private(project: Project) -> None:
    with serving(project) as server:
        assert stat.S_IMODE(server.file.stat().st_mode) == 0o600
        assert server.url.startswith("http://127.0.0.1:")
        listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        port = int(server.host.partition(":")[2])
        lines = [line.split() for line in listening.splitlines() if f":{port:04X} " in line]
        assert {line[1] for line in lines if line[3] == "0A"} == {f"0100007F:{port:04X}"}, "loopback alone"


def test_requests_without_the_token_or_from_elsewhere_are_refused(project: Project) -> None:
    with serving(project) as server:
        right = f"Bearer {server.token}"
        assert server.post() == 401
        assert server.post(Authorization="Bearer wrong") == 401
        assert server.post(Authorization=right, Host="evil.example") == 421
        assert server.post(Authorization=right, Origin="http://evil.example") == 403
        assert server.post(Authorization=right, Content_Type="text/plain") == 415


def test_an_http_client_that_disconnects_in_the_new_protocol_withdraws_its_question(project: Project) -> None:
    async def work() -> None:
        with serving(project) as server:
            body = {
                "jsonrpc": "2.0",
                "id": 7,
                "method": "tools/call",
                "params": {
                    "name": "write_file",
                    "arguments": {"path": "b.txt", "content": "x\n"},
                    "_meta": {
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
                        "io.modelcontextprotocol/clientCapabilities": {},
                    },
                },
            }
            headers = {
                "Authorization": f"Bearer {server.token}",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": "write_file",
            }
            async with connected(project) as other:
                async with httpx2.AsyncClient(headers=headers, timeout=60) as client:
                    posting = asyncio.create_task(client.post(server.url, json=body))
                    await other.pending()
                    posting.cancel()
                await other.none_pending()
        assert not (project.root / "b.txt").exists()

    run(work)


@pytest.mark.parametrize("words", [("--port", "9011"), ("--http", "--port", "70000"), ("--http", "--script", "x.json")])
def test_wrong_options_are_refused(project: Project, words: tuple[str, ...]) -> None:
    assert project.run("mcp", *words).code in (1, 2)
