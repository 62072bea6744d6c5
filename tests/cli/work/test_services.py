"""A project with services, from its settings to verified tickets, by the real program."""

import json
from pathlib import Path

import pytest

from tests.cli.project import CommandResult, Project, shell

SERVER = """
import os, socket
server = socket.create_server(("127.0.0.1", int(os.environ["ECHO_PORT"])))
while True:
    connection, _ = server.accept()
    connection.sendall(b"answered\\n")
    connection.close()
"""
CLIENT = """
import os, socket
print(socket.create_connection((os.environ["ECHO_HOST"], int(os.environ["ECHO_PORT"]))).recv(100).decode(), end="")
"""
SETTINGS = """
[workspace]
tests = "python3 -S client.py"
[workspace.services.echo]
command = "exec python3 -S server.py"
port = 8123
ready_timeout_s = 60
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("server.py", SERVER)
    project.write("client.py", CLIENT)
    project.write("interlock.toml", SETTINGS)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "a server")
    return project


def trusted(project: Project, settings: str = SETTINGS) -> Project:
    project.write("interlock.toml", settings)
    assert project.run("trust", "--yes").code == 0
    return project


def test_try_starts_the_services_and_names_them(project: Project) -> None:
    refused = project.run("try")
    assert (refused.code, "only after you trust them" in refused.err) == (1, True)
    result = trusted(project).run("try")
    assert result.code == 0, result
    assert "starting echo\n" in result.out
    assert "answered\n" in result.out


def test_tickets_in_parallel_are_verified_beside_services_on_one_port(project: Project) -> None:
    plan = [shell(f"t{number}", f"python3 -S client.py > {number}.txt", verify=["tests"]) for number in range(4)]
    result = trusted(project).run("run", "--tickets", project.tickets("plan.json", plan), "--approve", "all")
    assert result.code == 0, result
    answers = [project.git("show", f"interlock/plan:{number}.txt") for number in range(4)]
    assert (sorted(project.branch_tickets("plan")), answers) == (["t0", "t1", "t2", "t3"], ["answered"] * 4)
    project.check_whole()


def test_a_service_that_is_not_ready_is_the_reason_of_the_failed_gate(project: Project) -> None:
    settings = SETTINGS.replace("exec python3 -S server.py", "echo the disk is full; exit 3")
    plan = [{"id": "one", "assigned_to": "shell", "script": "echo 1 > one.txt", "verify": ["tests"]}]
    why = "the service echo ended with exit code 3 before it was ready.\nIts last output:\nthe disk is full"
    assert json.loads(trusted(project, settings).run("try", "--json").out)["explanation"] == f"exit code 125; {why}"
    result = project.run("run", "--tickets", project.tickets("plan.json", plan), "--approve", "all")
    assert result.code == 3, result
    ticket = project.run("tickets", "show", "one", "--json").json
    assert ticket["blocked_reason"].startswith(f"the script failed with exit code 125; {why}")


def _asked(project: Project) -> CommandResult:
    plan = project.tickets("plan.json", [shell("one", "python3 -S client.py > one.txt")])
    return trusted(project).run("run", "--tickets", plan)


def test_an_approval_says_which_services_start(project: Project) -> None:
    assert _asked(project).code == 4
    shown = project.run("approvals", "show", "A-1", "--json").json["payload"]
    (line,) = shown["services"]
    assert line.startswith("echo: exec python3 -S server.py; port 8123; digest ")
    assert {"ECHO_HOST", "ECHO_PORT", "ECHO_DATA"} <= set(shown["env_names"])
    assert f"  service {line}\n" in project.run("approvals", "show", "A-1").out


def test_a_service_that_changes_after_the_approval_does_not_start(project: Project) -> None:
    assert _asked(project).code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    trusted(project, SETTINGS.replace("exec python3", "touch evil; exec python3"))
    result = project.run("resume", "--json")
    assert result.code == 4, result
    (again,) = result.json["pending_approvals"]
    changes = project.run("approvals", "show", again["id"], "--json").json["again"]["changes"]
    assert [change["field"] for change in changes] == ["services"]
    assert "touch evil" in changes[0]["after"]
    assert project.branch_tickets("plan") == []


def test_a_worker_starts_services_beside_a_script_if_it_asks_and_the_approval_shows_them(project: Project) -> None:
    script = "python3 -S client.py > out.txt; echo done"
    rules = [
        {
            "match": "# Ticket one",
            "tool_calls": [{"name": "run_shell", "args": {"script": script, "services": True}}],
        },
        {"match": "done", "reply": "It answered."},
    ]
    file = project.home / "rules.json"
    file.write_text(json.dumps(rules))
    model = ("--provider", "scripted", "--script", str(file))
    plan = project.tickets("plan.json", [{"id": "one", "description": "Ask it", "verify": ["test -s out.txt"]}])
    assert trusted(project).run("run", "--tickets", plan, *model).code == 4
    project.run("approvals", "answer", "A-1", "approve")
    assert project.run("resume", *model).code == 4
    payload = project.run("approvals", "show", "A-2", "--json").json["payload"]
    assert (payload["script"], payload["services"][0].partition(";")[0]) == (script, "echo: exec python3 -S server.py")
    project.run("approvals", "answer", "A-2", "approve")
    result = project.run("resume", *model)
    assert result.code == 0, result
    assert project.git("show", "interlock/plan:out.txt") == "answered"


def test_with_landlock_nothing_starts_and_the_reason_names_bubblewrap(project: Project) -> None:
    project.settings('sandbox = "landlock"\n')
    plan = project.tickets("plan.json", [shell("one", "echo 1 > one.txt")])
    for words in (("try",), ("run", "--tickets", plan, "--approve", "all")):
        result = trusted(project).run(*words)
        assert (result.code, "refuses connections" in result.err, "install bubblewrap" in result.err) == (1, True, True)
    report = project.run("doctor", "--json").json
    assert (report["ok"], report["services"]["ok"]) == (False, False)


def test_doctor_lists_the_services(project: Project) -> None:
    assert project.run("doctor", "--json").json["services"] == {
        "ok": True,
        "detail": "echo (port 8123): started beside each script and gate",
    }


def test_without_a_sandbox_each_job_gets_a_free_port(project: Project) -> None:
    project.settings('sandbox = "off"\n')
    result = trusted(project).run("try", "python3 -S client.py && test $ECHO_PORT != 8123")
    assert result.code == 0, result
    assert "answered\n" in result.out
