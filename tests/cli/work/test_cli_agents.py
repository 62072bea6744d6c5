"""CLI agents at work on tickets: approvals, edits, gates, limits of the sandbox, and crashes."""

import json
import shutil
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import Project
from tests.cli.serving import serving

RECORDED = Path(__file__).parents[2] / "cli_workers" / "recorded_claude.py"

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="agents need bubblewrap")


@pytest.fixture
def bench(project: Project) -> Project:
    """A project of a user who has the agent, and a secret that is not the agent's."""
    folder = project.home / "bin"
    folder.mkdir()
    shutil.copy(RECORDED, folder / "claude")
    (folder / "claude").chmod(0o755)
    (project.home / ".ssh").mkdir()
    (project.home / ".ssh" / "id_rsa").write_text("the user's key")
    project.env |= {
        "PATH": f"{folder}:{project.env['PATH']}",
        "ANTHROPIC_API_KEY": "login-of-the-agent",
        "GITHUB_TOKEN": "token-of-the-user",
    }
    return project


def ticket(*turns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"id": "T-1", "description": f"STEPS: {json.dumps(turns)}", "assigned_to": "claude", **more}


def run(bench: Project, spec: dict[str, Any], *words: str) -> Any:
    return bench.run("run", "--tickets", bench.tickets("plan.json", [spec]), *words)


def shown(bench: Project) -> dict[str, Any]:
    return bench.run("tickets", "show", "T-1", "--json").json


def pending(bench: Project) -> list[dict[str, Any]]:
    return bench.run("approvals", "list", "--json").json


def content(bench: Project, name: str) -> str:
    return bench.git("show", f"interlock/plan:{name}")


def test_an_agent_takes_a_ticket_from_start_to_merged_commit(bench: Project) -> None:
    steps = [{"edit": ["a.txt", "two", "TWO"]}, {"bash": "grep TWO a.txt"}]
    result = run(bench, ticket(steps, target_file="a.txt", verify=["grep -q TWO a.txt"]), "--approve", "all")
    assert result.code == 0, result
    assert content(bench, "a.txt") == "one\nTWO\nthree"
    ticket_now = shown(bench)
    assert (ticket_now["status"], ticket_now["result"]) == ("completed", "Edit done\nBash exit 0: TWO")
    usage = bench.run("usage", "--json").json
    assert "0.25" in json.dumps(usage)
    bench.check_whole()
    assert list((Path(bench.env["XDG_STATE_HOME"]) / "interlock" / "cli_agents").rglob("settings.json")) == []


def test_the_start_and_each_change_are_asked_with_their_exact_content(bench: Project) -> None:
    result = run(bench, ticket([{"edit": ["a.txt", "two", "TWO"]}]))
    assert result.code == 4, result
    (start,) = pending(bench)
    assert start["kind"] == "spawn"
    terms = "\n".join(start["payload"]["terms"])
    assert "network: only api.anthropic.com" in terms
    assert "login it sees: ANTHROPIC_API_KEY" in terms
    bench.run("approvals", "answer", start["id"], "approve")
    assert bench.run("resume").code == 4
    (edit,) = pending(bench)
    assert (edit["kind"], edit["payload"]["tool"], edit["payload"]["hunks"]) == ("tool", "edit_file", 0)
    assert "-two\n+TWO" in edit["payload"]["diff"]
    bench.run("approvals", "answer", edit["id"], "approve")
    result = bench.run("resume")
    assert result.code == 0, result
    assert content(bench, "a.txt") == "one\nTWO\nthree"
    assert len([row for row in bench.journal() if row["event"]["type"] == "approval_requested"]) == 2


def test_a_denied_call_does_not_happen_and_the_agent_learns_why(bench: Project) -> None:
    steps = [{"bash": "touch forbidden"}, {"write": ["b.txt", "allowed\n"]}]
    run(bench, ticket(steps))
    bench.run("approvals", "answer", pending(bench)[0]["id"], "approve")
    bench.run("resume")
    (script,) = pending(bench)
    assert (script["kind"], script["payload"]["script"]) == ("script", "touch forbidden")
    bench.run("approvals", "answer", script["id"], "reject", "--message", "not in this project")
    bench.run("resume")
    bench.run("approvals", "answer", pending(bench)[0]["id"], "approve")
    result = bench.run("resume")
    assert result.code == 0, result
    assert "not in this project" in shown(bench)["result"]
    assert bench.git("ls-tree", "--name-only", "interlock/plan").split() == ["a.txt", "b.txt"]


def test_an_edited_call_runs_as_edited(bench: Project) -> None:
    run(bench, ticket([{"bash": "echo theirs > b.txt"}]))
    bench.run("approvals", "answer", pending(bench)[0]["id"], "approve")
    bench.run("resume")
    edited = bench.home / "edited.sh"
    edited.write_text("echo mine > b.txt")
    bench.run("approvals", "answer", pending(bench)[0]["id"], "approve", "--edit", str(edited))
    result = bench.run("resume")
    assert result.code == 0, result
    assert content(bench, "b.txt") == "mine"


def test_an_answer_is_not_asked_again_although_the_agent_began_anew_each_time(bench: Project) -> None:
    run(bench, ticket([{"bash": f"echo {number} >> b.txt"} for number in range(3)]))
    asked: list[str] = []
    while questions := pending(bench):
        asked += [str(question["payload"].get("script", "")) for question in questions]
        bench.run("approvals", "answer", questions[0]["id"], "approve")
        bench.run("resume")
    assert asked == ["", "echo 0 >> b.txt", "echo 1 >> b.txt", "echo 2 >> b.txt"]
    assert content(bench, "b.txt") == "0\n1\n2"


def test_a_failed_gate_goes_back_into_the_same_conversation(bench: Project) -> None:
    turns = [{"write": ["b.txt", "wrong\n"]}], [{"write": ["b.txt", "right\n"]}]
    result = run(bench, ticket(*turns, verify=["grep -q right b.txt"]), "--approve", "all")
    assert result.code == 0, result
    assert (content(bench, "b.txt"), shown(bench)["attempts"]) == ("right", 1)


def test_contained_work_of_an_agent_asks_once_for_its_review(bench: Project) -> None:
    steps = [{"bash": "echo one > b.txt"}, {"write": ["c.txt", "two\n"]}, {"fetch": "https://example.com"}]
    result = run(bench, ticket(steps), "--autonomy", "review")
    assert result.code == 4, result
    (question,) = pending(bench)
    assert (question["kind"], question["payload"]["tool"]) == ("tool", "WebFetch")  # not contained: it always asks
    bench.run("approvals", "answer", question["id"], "reject")
    assert bench.run("resume", "--autonomy", "review").code == 4
    (review,) = pending(bench)
    assert review["kind"] == "review"


def test_what_autonomy_allowed_in_a_lost_attempt_is_asked_about_without_it(bench: Project) -> None:
    steps = [{"bash": "echo one > b.txt"}, {"fetch": "https://example.com"}]
    assert run(bench, ticket(steps), "--autonomy", "review").code == 4
    bench.run("approvals", "answer", pending(bench)[0]["id"], "reject")
    assert bench.run("resume", "--autonomy", "ask").code == 4
    (question,) = pending(bench)
    assert question["payload"]["script"] == "echo one > b.txt"


def test_the_agent_sees_its_own_login_and_nothing_else_of_the_user(bench: Project) -> None:
    secret = str(bench.home / ".ssh" / "id_rsa")
    steps = [
        {"env": "ANTHROPIC_API_KEY"},
        {"env": "GITHUB_TOKEN"},
        {"unasked": f"cat {secret}; ls -a {bench.root} {bench.home}"},
        {"unasked": f"find / -name control.sock -o -name journal.db 2>{'/dev/null'}"},
        {"write": ["b.txt", "x"]},
    ]
    result = run(bench, ticket(steps), "--approve", "all")
    assert result.code == 0, result
    said = json.dumps([row for row in bench.journal() if row["event"]["type"] == "ticket_completed"])
    assert "token-of-the-user" not in said
    assert "the user's key" not in said
    assert "GITHUB_TOKEN=nothing" in shown(bench)["result"]
    assert "journal.db" not in shown(bench)["result"].partition("find")[2]


def test_the_agent_reaches_only_its_vendor(bench: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_server(("127.0.0.1", 0)) as vendor:
        bench.env["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{vendor.getsockname()[1]}"
        steps = [
            {"connect": ["127.0.0.1", other.getsockname()[1]]},
            {"connect": ["127.0.0.1", vendor.getsockname()[1]]},
            {"connect": ["1.1.1.1", 443]},
            {"proxy": "example.com:443"},
            {"proxy": "api.anthropic.com:22"},
            {"proxy": f"127.0.0.1:{other.getsockname()[1]}"},
            {"write": ["b.txt", "x"]},
        ]
        result = run(bench, ticket(steps), "--approve", "all")
    assert result.code == 0, result
    assert shown(bench)["result"].splitlines() == [
        "no connection: ConnectionRefusedError",
        "connected",
        "no connection: OSError",
        "HTTP/1.1 403 Forbidden",
        "HTTP/1.1 403 Forbidden",
        "HTTP/1.1 403 Forbidden",
        "Write done",
    ]


def test_an_agent_cannot_change_the_settings_that_make_it_ask(bench: Project) -> None:
    steps = [
        {"unasked": 'echo "{}" > "$CLAUDE_CONFIG_DIR/settings.json"'},
        {"unasked": 'rm -f "$CLAUDE_CONFIG_DIR/settings.json"; mv "$CLAUDE_CONFIG_DIR" "$HOME/elsewhere"'},
        {"bash": "touch b.txt"},
    ]
    assert run(bench, ticket(steps)).code == 4
    bench.run("approvals", "answer", pending(bench)[0]["id"], "approve")
    assert bench.run("resume").code == 4
    assert pending(bench)[0]["payload"]["script"] == "touch b.txt"


def test_an_agent_that_dies_blocks_the_ticket_with_the_reason(bench: Project) -> None:
    result = run(bench, ticket([{"die": 9}]), "--approve", "all")
    assert result.code == 3, result
    assert "Claude Code failed" in shown(bench)["blocked_reason"]


def test_an_agent_that_is_not_installed_or_not_known_is_named(bench: Project) -> None:
    result = run(bench, ticket([], assigned_to="codex"), "--approve", "all")
    assert result.code == 3
    assert "Codex is not installed" in shown(bench)["blocked_reason"]
    result = run(bench, ticket([], assigned_to="cloude"))
    assert (result.code, "agent:NAME" in result.err) == (1, True), result


def test_an_agent_that_asks_nothing_starts_only_by_a_person(bench: Project) -> None:
    bench.settings('[agents.mine]\ncommand = "claude"\noutput = "claude"\npermissions = "none"\n')
    spec = ticket([{"unasked": "touch b.txt"}], assigned_to="agent:mine")
    result = run(bench, spec, "--approve", "all", "--autonomy", "land")
    assert result.code == 4, result
    (start,) = pending(bench)
    assert "asks nothing" in "\n".join(start["payload"]["terms"])
    bench.run("approvals", "answer", start["id"], "approve")
    assert bench.run("resume").code == 0
    assert content(bench, "b.txt") == ""


def test_an_agent_plans_if_there_is_no_model(bench: Project) -> None:
    del bench.env["ANTHROPIC_API_KEY"]
    plan = [{"id": "better", "title": "Better", "description": "Make it better"}]
    epic = f"Make it better. STEPS: {json.dumps([[{'say': json.dumps(plan)}]])}"
    result = bench.run("run", epic, "--agent", "claude")
    assert result.code == 4, result
    (proposed,) = pending(bench)
    assert (proposed["kind"], [track["id"] for track in proposed["payload"]["tracks"]]) == ("tracks", ["better"])


def test_a_killed_workbench_asks_nothing_twice_and_leaves_no_agent(bench: Project) -> None:
    steps = [{"bash": "echo once >> b.txt"}, {"bash": "echo twice >> b.txt"}]
    spec = bench.tickets("plan.json", [ticket(steps)])
    assert bench.run("run", "--tickets", spec).code == 4
    bench.run("approvals", "answer", pending(bench)[0]["id"], "approve")
    for _ in range(4):
        process = bench.start("resume")
        wait_for(lambda ended=process.poll: bool(pending(bench)) or ended() is not None)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for question in pending(bench):
            bench.run("approvals", "answer", question["id"], "approve")
    assert bench.run("resume").code == 0
    assert content(bench, "b.txt") == "once\ntwice"
    scripts = [row["event"]["payload"] for row in bench.journal() if row["event"]["type"] == "approval_requested"]
    assert len([one for one in scripts if "script" in one]) == 2
    bench.check_whole()


def wait_for(true: Any) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


def test_agents_are_listed_and_tested(bench: Project) -> None:
    rows = {row["name"]: row for row in bench.run("agents", "list", "--json").json}
    assert rows["claude"]["login"] == ["ANTHROPIC_API_KEY"]
    assert (rows["claude"]["problem"], rows["codex"]["program"]) == ("", "")
    result = bench.run("agents", "test", "claude", "--json")
    assert (result.code, result.json["version"], result.json["answer"]) == (0, "9.9.9 (stand-in)", "ok"), result
    assert bench.run("agents", "test", "codex").code == 3
    assert bench.run("agents", "test", "cloude").code == 1


def test_a_server_gives_tickets_of_workers_to_its_agent(bench: Project) -> None:
    spec = {**ticket([{"write": ["b.txt", "x"]}]), "assigned_to": "tier3-worker"}
    with serving(bench, "--agent", "claude", "--auto-queue"):
        bench.run("tracks", "import", bench.tickets("plan.json", [spec]))
        assert bench.run("resume", "plan").code == 4
        (start,) = pending(bench)
        assert (start["kind"], start["payload"]["model"]) == ("spawn", "Claude Code")
    result = bench.run("serve", "--agent", "cloude")
    assert (result.code, "there is no agent 'cloude'" in result.err) == (1, True), result
