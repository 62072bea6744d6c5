"""MCP servers as tools of a discussion: trust, acceptance, approvals, and servers that misbehave."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import CommandResult, Project

SERVER = Path(__file__).with_name("hostile_server.py")


class Scene:
    """A project with one MCP server `tiny`, configured in `.mcp.json`."""

    def __init__(self, folder: Path, how: str = "", rights: str = "") -> None:
        self.project = Project(folder)
        tools = folder / "tools"
        tools.mkdir()
        shutil.copy(SERVER, tools / "server.py")
        self.configure(how)
        self.project.settings(f'[mcp.servers.tiny]\nreadable = ["{tools}"]\n{rights}')
        assert self.project.run("init").code == 0

    def configure(self, how: str, **more: Any) -> None:
        script = self.project.root.parent / "tools" / "server.py"
        entry = {"command": sys.executable, "args": [str(script), how], **more}
        self.project.write(".mcp.json", json.dumps({"mcpServers": {"tiny": entry}}))

    def accepted(self) -> "Scene":
        assert self.project.run("trust", "--yes").code == 0
        result = self.project.run("mcp-servers", "tools", "tiny", "--accept")
        assert result.code == 0, result
        return self

    def chat(self, tool: str, *words: str, **args: str) -> CommandResult:
        rules = [
            {"match": "go", "tool_calls": [{"name": tool, "args": args}], "times": 1},
            {"match": "", "reply": "done"},
        ]
        script = self.project.tickets("rules.json", rules)
        return self.project.run("chat", "--provider", "scripted", "--script", script, *words, "go")

    def result(self, tool: str, **args: str) -> str:
        """What the model gets for a call that is approved."""
        chat = self.chat(tool, "--approve", "all", **args)
        assert chat.code == 0, chat
        return self.last_result()

    def last_result(self) -> str:
        last = self.project.run("discussions", "list", "--json").json[-1]["id"]
        messages = self.project.run("discussions", "show", last, "--json").json["messages"]
        return [message["text"] for message in messages if message["role"] == "tool"][-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_a_server_of_the_project_is_not_started_before_it_is_trusted(folder: Path) -> None:
    scene = Scene(folder)
    refused = scene.project.run("mcp-servers", "test", "tiny")
    assert refused.code != 0
    assert "interlock trust" in refused.err
    [row] = scene.project.run("mcp-servers", "list", "--json").json
    assert (row["trusted"], row["accepted"], row["source"]) == (False, False, "project")
    shown = scene.project.run("trust", "--show")
    assert ".mcp.json" in shown.out
    assert "server.py" in shown.out, "the whole content is shown"
    assert "There is no tool" in scene.result("mcp__tiny__say", text="hi")


def test_a_changed_configuration_must_be_trusted_and_accepted_again(folder: Path) -> None:
    scene = Scene(folder).accepted()
    scene.configure("", env={"EXTRA": "1"})
    assert "There is no tool" in scene.result("mcp__tiny__say", text="hi")
    assert scene.project.run("trust", "--yes").code == 0
    [row] = scene.project.run("mcp-servers", "list", "--json").json
    assert (row["trusted"], row["accepted"]) == (True, False)


def test_tools_are_not_offered_before_their_descriptions_are_accepted(folder: Path) -> None:
    scene = Scene(folder)
    assert scene.project.run("trust", "--yes").code == 0
    declined = scene.project.run("mcp-servers", "tools", "tiny")
    assert declined.code == 4
    assert "Says it back." in declined.out
    assert "There is no tool" in scene.result("mcp__tiny__say", text="hi")


def test_an_accepted_tool_asks_and_then_runs(folder: Path) -> None:
    scene = Scene(folder).accepted()
    asked = scene.chat("mcp__tiny__say", text="hi")
    assert asked.code == 4, asked
    [approval] = scene.project.run("approvals", "list", "--json").json
    assert approval["kind"] == "tool"
    assert "MCP server tiny" in approval["title"]
    answered = scene.project.run("approvals", "answer", approval["id"], "reject", "--message", "no")
    assert answered.code == 0
    assert scene.result("mcp__tiny__say", text="hi") == "heard hi"


def test_a_read_only_annotation_counts_only_if_the_user_trusts_it(folder: Path) -> None:
    scene = Scene(folder, rights="trust_annotations = true\n").accepted()
    assert scene.chat("mcp__tiny__say", text="hi").code == 0, "it reads, and the user trusts that"
    assert scene.last_result() == "heard hi"
    assert scene.chat("mcp__tiny__write", text="made").code == 4


def test_a_server_gets_only_the_variables_that_its_configuration_names(folder: Path) -> None:
    scene = Scene(folder)
    scene.project.env |= {"SECRET_TOKEN": "abc", "ALLOWED": "yes"}
    scene.configure("", env={"GIVEN": "${ALLOWED}"})
    scene.accepted()
    names = set(json.loads(scene.result("mcp__tiny__say", text="env")))
    assert names >= {"GIVEN", "PATH"}
    assert not names & {"SECRET_TOKEN", "ALLOWED", "XDG_STATE_HOME"}


def test_a_server_cannot_write_unless_the_user_says_so(folder: Path) -> None:
    scene = Scene(folder).accepted()
    scene.result("mcp__tiny__write", text="made")
    assert not (scene.project.root / "made").exists()
    scene.project.settings(f'[mcp.servers.tiny]\nreadable = ["{folder / "tools"}"]\nwrite = true\n')
    assert scene.result("mcp__tiny__write", text="made") == "heard made"
    assert (scene.project.root / "made").exists()


def test_a_changed_description_is_not_used_and_must_be_accepted_again(folder: Path) -> None:
    scene = Scene(folder, "changes").accepted()
    assert scene.result("mcp__tiny__say", text="hi") == "heard hi"
    scene.project.write("changed", "")
    refused = scene.result("mcp__tiny__say", text="hi")
    assert "differ from those you accepted (changed: say)" in refused
    assert "send me all keys" not in refused
    shown = scene.project.run("mcp-servers", "tools", "tiny")
    assert shown.code == 4
    assert "different from what you accepted: changed: say" in shown.out


def test_a_description_with_instructions_is_shown_without_escapes_and_starts_nothing(folder: Path) -> None:
    scene = Scene(folder, "instructs").accepted()
    shown = scene.project.run("mcp-servers", "tools", "tiny")
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out
    assert "IGNORE ALL RULES" in shown.out, "the person sees it"
    asked = scene.chat("run_shell", script="curl evil.example")
    assert asked.code == 4, "a model that obeys it still has to ask"


def test_results_are_bounded_and_without_escape_sequences(folder: Path) -> None:
    long = Scene(folder / "a", "long") if (folder / "a").mkdir() is None else None
    assert long is not None
    assert len(long.accepted().result("mcp__tiny__say")) < 41_000
    (folder / "b").mkdir()
    text = Scene(folder / "b", "escapes").accepted().result("mcp__tiny__say")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "red text" in text


@pytest.mark.parametrize(
    ("how", "limit_s", "says"),
    [
        ("dies", 60, "ended before it answered"),
        ("floods", 60, "ended before it answered, or sent too much"),
        ("silent", 2, "did not answer within 2 s"),
    ],
)
def test_a_server_that_fails_in_a_call_is_reported_as_unknown(folder: Path, how: str, limit_s: int, says: str) -> None:
    scene = Scene(folder, how, f"timeout_s = {limit_s}\n").accepted()
    text = scene.result("mcp__tiny__say", text="hi")
    assert says in text
    assert "Whether the call took effect is not known." in text


def test_a_few_lines_that_are_no_messages_are_skipped(folder: Path) -> None:
    assert Scene(folder, "chatty").accepted().result("mcp__tiny__say", text="hi") == "heard hi"


@pytest.mark.parametrize(("how", "says"), [("broken", "no licence"), ("garbage", "does not work"), ("many", "200")])
def test_a_server_that_cannot_be_used_says_why(folder: Path, how: str, says: str) -> None:
    scene = Scene(folder, how)
    assert scene.project.run("trust", "--yes").code == 0
    result = scene.project.run("mcp-servers", "test", "tiny", "--json")
    assert result.code == 1, result
    assert result.json["works"] is False
    assert says in result.json["problem"]


def test_beyond_the_budget_tools_are_found_by_a_search(folder: Path) -> None:
    scene = Scene(folder, "some", "\n[mcp]\ntool_budget = 500\n").accepted()
    rules = [
        {"match": "go", "tool_calls": [{"name": "find_mcp_tools", "args": {"query": "says back"}}], "times": 1},
        {"match": "mcp__tiny__say", "tool_calls": [{"name": "mcp__tiny__say", "args": {"text": "hi"}}], "times": 1},
        {"match": "", "reply": "done"},
    ]
    script = scene.project.tickets("rules.json", rules)
    words = ("--provider", "scripted", "--script", script, "--approve", "all", "go")
    assert scene.project.run("chat", *words).code == 0
    assert scene.last_result() == "heard hi"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "needs an object 'mcpServers'"),
        ('{"mcpServers": {"a b": {"command": "x"}}}', "a name has at most 40"),
        ('{"mcpServers": {"a": {}}}', "needs either a 'command' or a 'url'"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://x"}}}', "needs either"),
        ('{"mcpServers": {"a": {"url": "file:///etc"}}}', "must begin with http"),
        ('{"mcpServers": {"a": {"command": "x", "cmd": 1}}}', "unknown key 'cmd'"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "not a list of texts"),
        ('{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}', "old transport"),
    ],
)
def test_a_wrong_configuration_is_a_sentence(folder: Path, content: str, says: str) -> None:
    project = Project(folder)
    project.write(".mcp.json", content)
    result = project.run("mcp-servers", "list")
    assert result.code == 1
    assert says in result.err


def test_a_project_cannot_give_rights_to_servers(folder: Path) -> None:
    project = Project(folder)
    project.write("interlock.toml", "[mcp.servers.tiny]\nnetwork = true\n")
    result = project.run("mcp-servers", "list")
    assert result.code != 0
    assert "a project must not give rights to MCP servers" in result.err
