"""MCP servers over HTTP: the server of another project is the source of tools."""

import json
from pathlib import Path

from tests.cli.project import Project
from tests.mcp_server.test_http import serving


def chat(project: Project, tool: str, **args: str) -> str:
    rules = [{"match": "go", "tool_calls": [{"name": tool, "args": args}], "times": 1}, {"match": "", "reply": "done"}]
    script = project.tickets("rules.json", rules)
    words = ("--provider", "scripted", "--script", script, "--approve", "all", "go")
    assert project.run("chat", *words).code == 0
    last = project.run("discussions", "list", "--json").json[-1]["id"]
    messages = project.run("discussions", "show", last, "--json").json["messages"]
    return [message["text"] for message in messages if message["role"] == "tool"][-1]


def two_projects(folder: Path) -> tuple[Project, Project]:
    made: list[Project] = []
    for name in ("near", "far"):
        (folder / name).mkdir()
        made.append(Project(folder / name))
        assert made[-1].run("init").code == 0
    return made[0], made[1]


def test_tools_of_an_http_server_are_used_with_its_headers(tmp_path: Path) -> None:
    near, far = two_projects(tmp_path)
    far.write("a.txt", "from far away\n")
    with serving(far) as server:
        near.env["FAR_TOKEN"] = server.token
        entry = f'url = "{server.url}"\nheaders = {{ Authorization = "Bearer ${{FAR_TOKEN}}" }}\n'
        near.settings(f"[mcp]\ntool_budget = 100000\n[mcp.servers.far]\n{entry}")
        tested = near.run("mcp-servers", "test", "far", "--json")
        assert tested.json["works"], tested
        assert near.run("mcp-servers", "tools", "far", "--accept").code == 0
        assert chat(near, "mcp__far__read_file", path="a.txt") == "from far away\n"
        near.env["FAR_TOKEN"] = "wrong"
        assert "does not work" in chat(near, "mcp__far__read_file", path="a.txt")
        assert near.run("mcp-servers", "test", "far", "--json").code == 1


def test_a_missing_variable_and_a_server_that_is_gone_are_sentences(tmp_path: Path) -> None:
    near, _ = two_projects(tmp_path)
    near.settings(
        '[mcp.servers.far]\nurl = "http://127.0.0.1:9/mcp"\nheaders = { Authorization = "${NOT_SET_HERE}" }\n'
    )
    assert "uses the variable NOT_SET_HERE, which is not set" in near.run("mcp-servers", "test", "far").err
    near.settings('[mcp.servers.far]\nurl = "http://127.0.0.1:9/mcp"\n')
    gone = near.run("mcp-servers", "test", "far", "--json")
    assert gone.code == 1
    assert json.loads(gone.out)["works"] is False
    assert "Traceback" not in gone.err
