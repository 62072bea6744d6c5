"""A CLI agent as the model of a served workbench: its own before-tool hook asks from inside its sandbox."""

import json
import shlex
from typing import Any

import pytest

from tests.cli.project import Project
from tests.cli.serving import PYTHON, serving

AGENT = """
import http.client, json, os, subprocess, sys
from urllib.parse import urlsplit

def can_open(path):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        return error.errno == 6  # the path is a socket
    return True

def report():
    hook = {"hook_event_name": "BeforeTool", "tool_name": "write_file", "tool_input": {"path": "a.txt"}}
    command = [sys.executable, "-m", "interlock.cli.main", "ask-hook", "--agent", "gemini"]
    done = subprocess.run(command, input=json.dumps(hook), capture_output=True, text=True)
    found = {"exit": done.returncode, "told": json.loads(done.stdout or "null"), "err": done.stderr}
    place, token = urlsplit(os.environ["INTERLOCK_ASK_URL"]), os.environ["INTERLOCK_ASK_TOKEN"]
    tries = [("GET", "/api/approvals"), ("POST", "/api/approvals/A-1"), ("GET", "/api/events"),
             ("GET", "/openapi.json"), ("POST", "/api/gui"), ("GET", "/api/gui/state"),
             ("POST", "/api/shutdown"), ("GET", "/status")]
    for method, path in tries:
        talk = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        talk.request(method, path, b"{}" if method == "POST" else None,
                     {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        found[f"{method} {path}"] = talk.getresponse().status
    found["files"] = [path for path in WANTED if can_open(path)]
    found["names"] = sorted(name for name in os.environ if name.startswith("INTERLOCK"))
    return found

sys.stdin.read()
text = json.dumps(report())
print(json.dumps({"type": "message", "role": "assistant", "content": text}), flush=True)
print(json.dumps({"type": "result", "status": "success", "session_id": "s-1"}), flush=True)
"""


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_the_agents_own_hook_asks_a_person_and_can_do_nothing_else(project: Project, level: str) -> None:
    project.settings(f"sandbox = {level!r}\n")
    with serving(project, "--test-policy") as bench:
        wanted = [*map(str, bench.files), str(bench.api_file.parent), str(bench.api_file.parent / "control.sock")]
        agent = project.home / "agent.py"
        agent.write_text(f"WANTED = {wanted!r}\n{AGENT}")
        client = bench.client()
        client.set_value("current_provider", "gemini_cli")
        client.set_value("gcli_path", shlex.join([PYTHON, str(agent)]))
        client.set_value("ai_input", "Write something")
        client.click("btn_gen_send")
        assert client.wait_for_value("pending_ask", True, 60), client.get_value("ai_error")
        asked = client.get_value("ask")
        assert (asked["tool"], asked["args"]) == ("write_file", {"path": "a.txt"})
        bench.client(approve=True).answer(asked["id"], "approve", edits={"arguments": {"path": "b.txt"}})
        assert client.wait_for_value("ai_response", bool, 60), client.get_value("ai_error")
        outcome: dict[str, Any] = json.loads(client.get_value("ai_response"))
        assert outcome.pop("told") == {
            "decision": "allow",
            "reason": "a person changed the arguments",
            "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"path": "b.txt"}},
        }
        assert outcome == {
            "exit": 0,
            "err": "",
            "files": [],
            "names": ["INTERLOCK_ASK_TOKEN", "INTERLOCK_ASK_URL"],
            "GET /api/approvals": 403,
            "POST /api/approvals/A-1": 403,
            "GET /api/events": 403,
            "GET /openapi.json": 403,
            "POST /api/gui": 403,
            "GET /api/gui/state": 403,
            "POST /api/shutdown": 403,
            "GET /status": 403,
        }
        (asker,) = {approval["asker"] for approval in client.list_approvals("all")}
        assert asker == "program:gemini"


def test_without_a_server_the_agent_gets_no_variables_of_interlock(project: Project) -> None:
    agent = project.home / "agent.py"
    agent.write_text(
        "import json, os, sys; sys.stdin.read(); names = [n for n in os.environ if 'INTERLOCK' in n]\n"
        "print(json.dumps({'type': 'message', 'role': 'assistant', 'content': f'names: {names}'}))\n"
        "print(json.dumps({'type': 'result', 'status': 'success', 'session_id': 's'}))\n"
    )
    project.settings(f"[gemini_cli]\ncommand = {json.dumps(shlex.join([PYTHON, str(agent)]))}\n")
    result = project.run("chat", "Hello", "--provider", "gemini_cli", "--json")
    assert (result.code, result.json["answer"]) == (0, "names: []"), result
