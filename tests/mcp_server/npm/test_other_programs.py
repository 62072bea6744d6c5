"""Other implementations of MCP: the official conformance suite, the Inspector, and servers from npm and PyPI.

`make test-mcp` fetches them into build/mcp and sets INTERLOCK_MCP_PROGRAMS; without it these tests are skipped.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.mcp_server.test_http import serving
from tests.mcp_tools.test_http_servers import chat

PROGRAMS = Path(os.environ.get("INTERLOCK_MCP_PROGRAMS", "/nowhere"))
NODE = PROGRAMS / "node_modules" / ".bin" / "node"
PACKAGES = PROGRAMS / "node_modules" / "@modelcontextprotocol"

pytestmark = pytest.mark.skipif(not PROGRAMS.is_dir(), reason="only with make test-mcp")

SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "prompts-get-simple",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
"""Those that need no tools of the suite's own reference server."""


@contextmanager
def proxied(project: Project) -> Generator[str]:
    """The address of a server to which neither program can send a token: a proxy adds it."""
    with serving(project) as server:
        argv = (sys.executable, str(Path(__file__).with_name("token_proxy.py")), server.host, server.token)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as proxy:
            try:
                assert proxy.stdout is not None
                yield f"http://localhost:{proxy.stdout.readline().strip()}/mcp"
            finally:
                proxy.kill()


def run(*argv: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=90, check=False)


def test_the_conformance_suite_passes(project: Project) -> None:
    project.write("prompts/test_simple_prompt.md", "This is a simple prompt for testing.\n")
    assert project.run("trust", "--yes").code == 0
    suite = PACKAGES / "conformance" / "dist" / "index.js"
    with proxied(project) as url:
        for scenario in SCENARIOS:
            done = run(NODE, suite, "server", "--url", url, "--scenario", scenario)
            passed = re.search(r"Passed: (\d+)/(\d+), 0 failed", done.stdout)
            assert passed is not None, f"{scenario}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            assert passed[1] == passed[2] != "0", scenario


def test_the_inspector_lists_and_calls(project: Project) -> None:
    inspector = PACKAGES / "inspector-cli" / "build" / "index.js"
    with proxied(project) as url:
        listed = run(NODE, inspector, url, "--transport", "http", "--method", "tools/list")
        assert "read_file" in [tool["name"] for tool in json.loads(listed.stdout)["tools"]], listed
        read = ("tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt")
        called = run(NODE, inspector, url, "--transport", "http", "--method", *read)
        assert json.loads(called.stdout)["content"][0]["text"] == "one\ntwo\nthree\n", called


@pytest.mark.parametrize(
    ("command", "args", "tool", "given", "says"),
    [
        ("python/bin/mcp-server-time", ["--local-timezone", "UTC"], "get_current_time", {"timezone": "UTC"}, "UTC"),
        ("python/bin/mcp-server-git", ["--repository", "."], "git_log", {"repo_path": "."}, "Message: first"),
        ("node_modules/.bin/mcp-server-filesystem", ["."], "list_directory", {"path": "."}, "[FILE] a.txt"),
        (
            "node_modules/.bin/node",
            ["node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"],
            "echo",
            {"message": "hello"},
            "hello",
        ),
    ],
)
def test_servers_of_others_are_sources_of_tools(
    project: Project, command: str, args: list[str], tool: str, given: dict[str, str], says: str
) -> None:
    words = [str(PROGRAMS / word) if word.startswith("node_modules") else word for word in args]
    entry = {"command": str(PROGRAMS / command), "args": words}
    project.write(".mcp.json", json.dumps({"mcpServers": {"other": entry}}))
    project.settings(f'[mcp]\ntool_budget = 100000\n[mcp.servers.other]\nreadable = ["{PROGRAMS}"]\n')
    assert project.run("trust", "--yes").code == 0
    accepted = project.run("mcp-servers", "tools", "other", "--accept")
    assert accepted.code == 0, accepted
    assert says in chat(project, f"mcp__other__{tool}", **given)
