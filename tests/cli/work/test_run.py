"""`interlock run`: from a file of tickets to commits on a branch, and its output for scripts."""

import json
from pathlib import Path

from tests.cli.project import Project, shell

TWO = [
    shell("one", "echo 1 > one.txt", verify=['verify:"test -s one.txt" :fast']),
    shell("two", "cat one.txt > two.txt", "one"),
]


def test_tickets_become_one_commit_each_on_the_tracks_branch_and_nothing_else_changes(project: Project) -> None:
    before = project.git("rev-parse", "HEAD")
    result = project.run("run", "--tickets", project.tickets("plan.json", TWO), "--approve", "all")
    assert result.code == 0, result
    assert project.branch_tickets("plan") == ["one", "two"]
    assert project.git("show", "interlock/plan:two.txt") == "1"
    assert (project.git("rev-parse", "HEAD"), project.git("status", "--porcelain")) == (before, "")
    assert project.git("worktree", "list").count("\n") == 0
    project.check_whole()


def test_on_the_level_made_with_landlock_tickets_become_commits_too(project: Project) -> None:
    folder = Path(project.env["XDG_CONFIG_HOME"]) / "interlock"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('sandbox = "landlock"\n')
    evil = "echo 'gitdir: /tmp/evil' > .git; rm -rf .git; mkdir .git; echo 1 > one.txt"
    plan = [shell("one", evil, verify=['verify:"git log --oneline && test -s one.txt" :fast']), TWO[1]]
    result = project.run("run", "--tickets", project.tickets("plan.json", plan), "--approve", "all")
    assert result.code == 0, result
    assert project.branch_tickets("plan") == ["one", "two"]
    assert project.git("show", "interlock/plan:two.txt") == "1"
    project.check_whole()


def test_a_ticket_without_gates_is_unverified_and_says_so(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", TWO), "--approve", "all")
    tickets = {t["id"]: (t["status"], t["unverified"]) for t in project.run("tickets", "list", "--json").json}
    assert tickets == {"one": ("completed", False), "two": ("completed", True)}


def test_without_a_terminal_it_goes_as_far_as_it_can_then_exits_4_and_says_how_to_go_on(project: Project) -> None:
    result = project.run("run", "--tickets", project.tickets("plan.json", TWO))
    assert result.code == 4
    assert "interlock approvals answer A-1 approve" in result.out
    assert "interlock resume" in result.out
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    result = project.run("resume", "--json")
    assert result.code == 4
    assert [a["ticket"] for a in result.json["pending_approvals"]] == ["two"]
    assert project.run("approvals", "answer", "A-2", "approve").code == 0
    result = project.run("resume", "plan")
    assert result.code == 0, result
    project.check_whole()


def test_an_edited_script_is_what_runs(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", [shell("one", "echo wrong > one.txt")]))
    edited = project.home / "edited.sh"
    edited.write_text("echo right > one.txt\n")
    assert project.run("approvals", "answer", "A-1", "approve", "--edit", str(edited)).code == 0
    assert project.run("resume").code == 0
    assert project.git("show", "interlock/plan:one.txt") == "right"


def test_a_rejected_script_blocks_with_the_message_and_a_retry_asks_again(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", TWO))
    project.run("approvals", "answer", "A-1", "reject", "--message", "not like this")
    result = project.run("resume")
    assert result.code == 3, result
    ticket = project.run("tickets", "show", "one", "--json").json
    assert (ticket["status"], ticket["blocked_reason"]) == ("blocked", "not like this")
    assert project.run("tickets", "retry", "one").code == 0
    assert project.run("resume").code == 4
    assert [a["id"] for a in project.run("approvals", "list", "--json").json] == ["A-2"]


def test_a_script_that_fails_blocks_its_ticket_and_keeps_its_work_on_a_ref(project: Project) -> None:
    tickets = [shell("one", "echo half > half.txt; echo 'cannot go on' >&2; exit 7"), shell("two", "true", "one")]
    result = project.run("run", "--tickets", project.tickets("plan.json", tickets), "--approve", "all")
    assert result.code == 3
    tickets = {t["id"]: t for t in project.run("tickets", "list", "--json").json}
    assert tickets["one"]["blocked_reason"] == "the script failed with exit code 7\ncannot go on"
    assert (tickets["two"]["status"], project.run("tracks", "show", "plan", "--json").json["status"]) == (
        "todo",
        "blocked",
    )
    assert project.git("show", "refs/interlock/attempts/plan/one/1:half.txt") == "half"
    project.check_whole()


def test_a_gate_that_fails_to_the_end_asks_and_skip_goes_on_unverified(project: Project) -> None:
    tickets = [shell("one", "echo x > x", verify=[{"command": "echo seen >&2; false", "max_attempts": 2}])]
    file = project.tickets("plan.json", tickets)
    project.run("run", "--tickets", file)
    project.run("approvals", "answer", "A-1", "approve")
    assert project.run("resume").code == 4
    asked = project.run("approvals", "show", "A-2", "--json").json
    assert (asked["kind"], asked["answers"]) == ("gate", ["retry", "skip", "abort"])
    assert "**Attempts:** 2/2" in asked["payload"]["message"]
    assert "seen" in asked["payload"]["message"]
    assert project.run("approvals", "answer", "A-2", "approve").code == 1
    assert project.run("approvals", "answer", "A-2", "skip").code == 0
    assert project.run("resume").code == 0
    assert project.run("tickets", "show", "one", "--json").json["unverified"] is True


def test_with_approve_all_a_failing_gate_blocks_and_exits_3(project: Project) -> None:
    tickets = [shell("one", "echo x > x", verify=['verify:"false" max:2'])]
    result = project.run("run", "--tickets", project.tickets("plan.json", tickets), "--approve", "all", "--json")
    assert (result.code, result.json["exit_code"], result.json["pending_approvals"]) == (3, 3, [])
    runs = [row for row in project.journal() if row["event"]["type"] == "gate_finished"]
    assert len(runs) == 2


def test_two_tickets_that_change_the_same_line_both_end_merged_or_one_gets_the_conflict(project: Project) -> None:
    tickets = [
        shell("left", "sed -i 's/two/two left/' a.txt; sleep 0.3", verify=['verify:"grep -q left a.txt"']),
        shell("right", "sed -i 's/two/two right/' a.txt; sleep 0.3", verify=['verify:"grep -q right a.txt"']),
    ]
    result = project.run("run", "--tickets", project.tickets("plan.json", tickets), "--approve", "all")
    assert result.code == 0, result
    text = project.git("show", "interlock/plan:a.txt")
    assert "left" in text
    assert "right" in text
    assert sorted(project.branch_tickets("plan")) == ["left", "right"]
    returned = [row["event"] for row in project.journal() if row["event"]["type"] == "attempt_returned"]
    assert len(returned) == 1
    assert "conflicts" in returned[0]["why"]


def test_landing_shows_the_diff_asks_and_brings_the_work_to_the_branch(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", TWO), "--approve", "all")
    result = project.run("tracks", "land", "plan")
    assert result.code == 4
    waiting = project.run("approvals", "list", "--json").json
    assert (waiting[0]["kind"], "+1" in waiting[0]["payload"]["diff"]) == ("merge", True)
    project.write("a.txt", "changed meanwhile\n")
    refused = project.run("approvals", "answer", waiting[0]["id"], "approve")
    assert (refused.code, "not landed: " in refused.err) == (3, True)
    failed = project.run("tracks", "show", "plan", "--json").json["landing"]
    assert (failed["state"], "a.txt" in failed["detail"]) == ("failed", True)
    project.git("checkout", "-q", "a.txt")
    assert project.run("tracks", "land", "plan", "--approve", "all").code == 0
    assert (project.root / "two.txt").read_text() == "1\n"
    assert project.git("status", "--porcelain") == ""


def test_step_mode_asks_before_it_starts_and_then_really_runs(project: Project) -> None:
    tickets = [shell("one", "echo 1 > one.txt", step_mode=True)]
    assert project.run("run", "--tickets", project.tickets("plan.json", tickets)).code == 4
    assert [a["kind"] for a in project.run("approvals", "list", "--json").json] == ["step"]
    project.run("approvals", "answer", "A-1", "approve")
    assert project.run("resume").code == 0
    script = project.run("approvals", "show", "A-2", "--json").json
    assert (script["kind"], script["answer"]["by"]) == ("script", "policy:approved-step")


def test_a_folder_that_is_no_repository_works_the_same_and_stays_a_plain_folder(project: Project) -> None:
    plain = project.home / "plain"
    plain.mkdir()
    (plain / "old.txt").write_text("old\n")
    file = project.tickets("plan.json", [shell("one", "cat old.txt > new.txt", verify=['verify:"test -s new.txt"'])])
    result = project.run("run", "--tickets", file, "--approve", "all", "--land", cwd=plain)
    assert result.code == 0, result
    assert (plain / "new.txt").read_text() == "old\n"
    assert not (plain / ".git").exists()


def test_the_setup_of_worktrees_runs_only_when_trusted_and_then_before_gates(project: Project) -> None:
    project.write("interlock.toml", '[workspace]\nsetup = "echo ready > .ready"\n')
    project.write(".gitignore", ".ready\n.env.test\n")
    project.write(".worktreeinclude", ".env.test\n")
    project.write(".env.test", "COLOUR=blue\n")
    project.git("add", ".gitignore", ".worktreeinclude", "interlock.toml")
    project.git("commit", "-q", "-m", "setup")
    tickets = [shell("one", "cat .env.test > seen.txt", verify=['verify:"test -s .ready && grep -q blue seen.txt"'])]
    file = project.tickets("plan.json", tickets)
    result = project.run("run", "--tickets", file, "--approve", "all")
    assert result.code == 1
    assert "interlock trust" in result.err
    assert project.run("trust").code == 4
    assert project.run("trust", "--yes").code == 0
    result = project.run("run", "--tickets", file, "--approve", "all")
    assert result.code == 0, result
    assert ".env.test" not in project.git("ls-tree", "-r", "--name-only", "interlock/plan")
    project.write("interlock.toml", '[workspace]\nsetup = "echo changed > .ready"\n')
    assert project.run("run", "--tickets", file, "--approve", "all").code == 1


def test_a_script_cannot_reach_the_network_the_home_or_the_journal(project: Project) -> None:
    (project.home / "secret").write_text("secret")
    script = (
        f"cat {project.home}/secret 2>/dev/null && exit 11\n"
        f"ls {project.root}/.interlock 2>/dev/null && exit 12\n"
        f"touch {project.root}/written 2>/dev/null\n"  # at most into a private /tmp
        "git commit --allow-empty -m x 2>/dev/null && exit 14\n"
        "[ $(cat /proc/net/dev | tail -n +3 | grep -vc ' lo:') -eq 0 ] || exit 15\n"
        "git log --oneline > log.txt\n"
    )
    result = project.run("run", "--tickets", project.tickets("plan.json", [shell("one", script)]), "--approve", "all")
    assert result.code == 0, result
    assert not (project.root / "written").exists()
    assert "first" in project.git("show", "interlock/plan:log.txt")


def test_tickets_can_come_from_standard_input(project: Project) -> None:
    result = project.run("run", "--tickets", "-", "--approve", "all", stdin=json.dumps(TWO))
    assert result.code == 0, result


def test_a_second_run_of_the_same_file_is_a_track_of_its_own(project: Project) -> None:
    file = project.tickets("plan.json", TWO)
    for name in ("plan", "plan-2"):
        result = project.run("run", "--tickets", file, "--approve", "all", "--json")
        assert result.json["tracks"][0]["id"] == name
    named = project.tickets("named.json", {"id": "plan", "tickets": TWO})
    result = project.run("run", "--tickets", named, "--approve", "all")
    assert (result.code, "exists already" in result.err) == (1, True)
