"""The other commands, run as a user would."""

import gzip
import json
import shutil
from datetime import UTC, datetime

from tests.cli.project import Project, shell

CHAIN = [shell("one", "echo 1 > 1"), shell("two", "echo 2 > 2", "one"), shell("three", "echo 3 > 3")]


def test_init_asks_nothing_and_git_ignores_what_it_makes(project: Project) -> None:
    result = project.run("init", "--json")
    assert (result.code, result.json["created"], result.json["git"]) == (0, True, "repository")
    assert project.git("status", "--porcelain") == ""
    assert project.run("init", "--json").json["created"] is False
    assert project.run("tracks", "list").out.startswith("no tracks yet")


def test_doctor_names_the_provider_that_would_be_used(project: Project) -> None:
    assert "no provider has a key yet" in project.run("doctor").out
    project.env["ANTHROPIC_API_KEY"] = "sk-planted"
    result = project.run("doctor")
    assert ("model      anthropic" in result.out, "sk-planted" in result.out + result.err) == (True, False)


def test_doctor_prints_the_guarantees_of_the_sandbox(project: Project) -> None:
    result = project.run("doctor", "--json")
    assert (result.code, result.json["sandbox"]["detail"]) == (0, "bubblewrap")
    assert "has no network, and sees no process but its own" in result.json["promises"]
    assert result.json["missing"] == []
    assert "writes only in its own worktree" in project.run("doctor").out


def test_import_stores_without_running_and_adds_to_a_track(project: Project) -> None:
    file = project.tickets("plan.json", CHAIN)
    assert project.run("tracks", "import", file, "--json").json == {"track": "plan", "tickets": 3}
    more = project.tickets("more.json", [shell("four", "true", "three")])
    assert project.run("tracks", "import", more, "--into", "plan").code == 0
    looped = project.tickets("bad.json", [shell("five", "true", "nine")])
    result = project.run("tracks", "import", looped, "--into", "plan")
    assert (result.code, "which does not exist" in result.err) == (1, True)
    rows = project.run("tracks", "list", "--json").json
    assert (rows[0]["status"], rows[0]["progress"]) == ("ready", {"completed": 0, "total": 4})


def test_tickets_can_be_edited_moved_skipped_blocked_cancelled_and_bulk_is_all_or_nothing(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", CHAIN))
    assert project.run("tickets", "edit", "two", "--set", "priority=high", "--set", "step_mode=true").code == 0
    two = project.run("tickets", "show", "two", "--json").json
    assert (two["priority"], two["step_mode"]) == ("high", True)
    assert "did you mean 'priority'" in project.run("tickets", "edit", "two", "--set", "prioriti=high").err
    assert project.run("tickets", "move", "three", "1").code == 0
    assert [t["id"] for t in project.run("tickets", "list", "plan", "--json").json] == ["three", "one", "two"]
    assert "cannot come before 'one'" in project.run("tickets", "move", "two", "1").err
    result = project.run("tickets", "skip", "one", "nope")
    assert result.code == 1
    assert project.run("tickets", "show", "one", "--json").json["status"] == "todo"
    assert project.run("tickets", "skip", "one").code == 0
    assert project.run("tickets", "block", "two", "-m", "wait").code == 0
    assert project.run("tickets", "cancel", "three").code == 0
    tickets = {t["id"]: (t["status"], t["result"]) for t in project.run("tickets", "list", "--json").json}
    assert tickets == {"one": ("completed", "skipped"), "two": ("blocked", None), "three": ("cancelled", None)}
    result = project.run("tickets", "retry", "one")
    assert (result.code, "completed -> todo is not possible" in result.err) == (1, True)
    assert [t["id"] for t in project.run("tickets", "list", "--status", "blocked", "--json").json] == ["two"]
    assert [t["id"] for t in project.run("tickets", "list", "--limit", "1", "--offset", "1", "--json").json] == ["one"]


def test_a_track_can_be_renamed(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", CHAIN))
    assert project.run("tracks", "edit", "plan", "--title", "A better name").code == 0
    assert project.run("tracks", "show", "plan", "--json").json["title"] == "A better name"
    assert "changes nothing" in project.run("tracks", "edit", "plan", "--title", "A better name").err


def test_a_deadline_denies_what_nobody_answers(project: Project) -> None:
    project.write("interlock.toml", "[approvals]\ndeadline_s = 1\n")
    project.run("run", "--tickets", project.tickets("plan.json", [shell("one", "exit 0"), shell("long", "sleep 3")]))
    project.run("approvals", "answer", "A-2", "approve")
    result = project.run("resume")  # runs the long ticket while the other's deadline passes
    assert result.code == 3, result
    reason = project.run("tickets", "show", "one", "--json").json["blocked_reason"]
    assert reason.startswith("no answer by its deadline")


def test_a_deadline_denies_while_nothing_runs(project: Project) -> None:
    project.write("interlock.toml", "[approvals]\ndeadline_s = 1\n")
    assert project.run("run", "--tickets", project.tickets("plan.json", [shell("one", "exit 0")])).code == 4
    deadline = project.run("approvals", "show", "A-1", "--json").json["deadline"]
    while datetime.now(UTC) < datetime.fromisoformat(deadline):
        project.run("status")
    assert "overdue" in project.run("approvals", "list").out
    result = project.run("approvals", "answer", "A-1", "approve")
    assert (result.code, "no answer by its deadline" in result.err) == (1, True), result
    assert project.run("resume").code == 3
    assert not [row for row in project.journal() if row["event"]["type"] == "work_submitted"]


def test_approve_all_never_decides_about_a_failed_gate(project: Project) -> None:
    file = project.tickets("plan.json", [shell("one", "echo 1 > b", verify=[{"command": "false", "max_attempts": 1}])])
    assert project.run("run", "--tickets", file).code == 4
    project.run("approvals", "answer", "A-1", "approve")
    assert project.run("resume").code == 4
    result = project.run("resume", "--approve", "all")
    assert result.code == 3, result
    assert "a person must decide (A-2, gate)" in project.run("tickets", "show", "one", "--json").json["blocked_reason"]


def test_pause_and_resume(project: Project) -> None:
    file = project.tickets("plan.json", CHAIN)
    project.run("run", "--tickets", file)
    assert project.run("tracks", "pause", "plan").code == 0
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    result = project.run("run", "--resume")
    assert "nothing is unfinished" in result.out
    assert project.run("tickets", "show", "one", "--json").json["attempts"] == 1
    assert project.run("tracks", "resume", "plan").code == 0
    assert project.run("run", "--resume", "--approve", "all").code == 0


def test_a_repository_that_is_made_after_the_project_can_add_everything(project: Project) -> None:
    """git refuses to add a folder that looks like a repository of its own, unless it is ignored."""
    shutil.rmtree(project.root / ".git")
    assert project.run("init").code == 0
    project.git("init", "-q")
    project.write("a.txt", "a\n")
    project.git("add", "-A")
    assert project.git("ls-files").split() == ["a.txt"]
    assert project.run("tracks", "import", project.tickets("plan.json", CHAIN)).code == 0
    project.git("add", "-A")
    project.git("clean", "-fdx")
    assert project.run("journal", "verify").code == 0


def test_git_clean_and_git_stash_leave_the_journal_where_it_is(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", CHAIN), "--approve", "all")
    before = project.run("journal", "verify", "--json").json
    project.write("scratch.txt", "mine\n")
    project.git("stash", "--all")
    project.git("clean", "-fdx")
    assert not (project.root / "scratch.txt").exists()
    assert project.run("journal", "verify", "--json").json == before
    assert project.run("status").code == 0
    # A folder of an earlier version, and one whose making was interrupted, are completed by the next command.
    for left_out in ("HEAD", "config"):
        (project.root / ".interlock" / ".git" / left_out).unlink()
        assert project.run("tracks", "edit", "plan", "--title", left_out).code == 0
        assert (project.root / ".interlock" / ".git" / "HEAD").exists()
    project.git("clean", "-fdx")
    project.check_whole()


def test_journal_words(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", CHAIN), "--approve", "all")
    events = project.journal()
    assert [row["version"] for row in events] == list(range(1, len(events) + 1))
    assert {row["actor"] for row in events} == {"human:ann", "policy:approve-all", "system"} | {
        f"worker:{name}/1" for name in ("one", "two", "three")
    }
    assert len(project.run("journal", "show", "--last", "3").out.splitlines()) == 3
    assert len(project.run("journal", "show", "--after", "2", "--json").out.splitlines()) == len(events) - 2
    assert project.run("journal", "verify", "--json").json["rows"] == len(events)
    exported = [json.loads(line) for line in project.run("journal", "export").out.splitlines()]
    assert [row["event"]["type"] for row in exported] == [row["event"]["type"] for row in events]
    assert all(len(row["hash"]) == 64 for row in exported)
    assert project.run("journal", "archive", "copy.gz").code == 0
    assert gzip.decompress((project.root / "copy.gz").read_bytes()).count(b"\n") == len(events)
    assert project.run("journal", "archive", "copy.gz").code == 1
    states = [project.run("journal", "replay", "--to", "5", "--json").out for _ in range(2)]
    assert states[0] == states[1]
    state = json.loads(states[0])
    assert (state["version"], state["tracks"][0]["id"], state["tracks"][0]["tickets"][0]["spec"]["id"]) == (
        5,
        "plan",
        "one",
    )
    for file in ("copy.gz", "copy.jsonl"):
        project.run("journal", "export", "copy.jsonl")
        assert project.run("journal", "verify", "--file", file, "--json").json["rows"] == len(events)
        assert len(project.run("journal", "show", "--file", file, "--last", "3").out.splitlines()) == 3
        assert project.run("journal", "replay", "--file", file, "--to", "5", "--json").out == states[0]
    assert project.run("journal", "show", "--file", "copy.gz", "--follow").code == 2
    assert project.run("journal", "verify", "--file", "copy.gz", "--rebuild-head").code == 2
    assert project.run("journal", "verify", "--file", "none.gz").code == 1
    assert "plan: done, 3 of 3 done" in project.run("journal", "replay").out
    assert project.run("journal", "replay", "--to", "999").code == 1


def test_showing_for_people(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", CHAIN))
    assert "waiting for A-1" in project.run("tracks", "show", "plan").out
    assert "waiting for A-1" in project.run("tickets", "list").out
    assert "echo 1 > 1" in project.run("tickets", "show", "one").out
    assert "waiting for A-1" in project.run("workers", "list").out
    assert "run the script of one" in project.run("approvals", "list").out
    shown = project.run("approvals", "show", "A-1").out
    assert "sandbox bubblewrap" in shown
    assert "network off" in shown
    assert project.run("approvals", "list", "--state", "answered").out == "none\n"


def test_demo_takes_a_sample_repository_from_red_to_green(project: Project) -> None:
    result = project.run("demo", "--dir", str(project.home / "demo"))
    assert result.code == 0, result
    assert "policy:approve-all" in result.out
    assert "landed on main" in result.out
    for line in (
        "Tier 1 answered",
        "Tier 2 answered",
        "back to the worker",
        "Tier 4",
        "1 merge, 4 spawn, 5 tool, 1 tracks",
    ):
        assert line in result.out, line
    assert project.run("journal", "verify", cwd=project.home / "demo").code == 0
    result = project.run("demo", "--dir", str(project.home / "demo"))
    assert (result.code, "is not empty" in result.err) == (1, True)
    result = project.run("demo", "--json", "--dir", str(project.home / "demo2"))
    assert result.json["track"]["status"] == "done"
    assert sorted(result.json["usage"]) == ["Tier 1", "Tier 2", "Tier 3", "Tier 4"]
    assert next(gate["result"]["status"] for gate in result.json["gates"] if gate["ticket"] == "T-001") == "failed"
