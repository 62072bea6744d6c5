"""Policy rules, trust and “always” from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import Project, shell

RULES = '[[policy]]\nname = "tests"\nverdict = "allow"\ncommand = "make"\nmatch = ["make x"]\n'


def check(project: Project, command: str, *words: str) -> tuple[str, str]:
    result = project.run("policy", "check", "--json", *words, "--", command)
    assert (result.code, set(result.json)) == (0, {"verdict", "rule", "reason"}), result
    return result.json["verdict"], result.json["rule"]


def config(project: Project) -> Path:
    path = Path(project.env["XDG_CONFIG_HOME"]) / "interlock" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def scripted(project: Project, *rules: dict[str, Any]) -> list[str]:
    file = project.home / "model.json"
    file.write_text(json.dumps(rules))
    return ["--provider", "scripted", "--script", str(file)]


def test_a_verdict_is_an_answer_whatever_it_says(project: Project) -> None:
    assert check(project, "ls -la") == ("allow", "list-files")
    assert check(project, "make") == ("ask", "default")
    assert check(project, "rm -rf /") == ("deny", "no-removing-outside")
    result = project.run("policy", "check", "--", "cat .env")
    assert (result.code, result.out) == (0, "ask (default): cat: '.env' may hold secrets\n")
    assert project.run("policy", "check").code == 2
    assert project.run("policy", "check", "ls", "-la").code == 2


def test_the_users_names_of_secret_files_count(project: Project) -> None:
    assert check(project, "cat notes.private") == ("allow", "read-files")
    config(project).write_text('[secrets]\nfiles = ["*.private"]\nexceptions = ["test.pem"]\n')
    assert check(project, "cat notes.private") == ("ask", "default")
    assert check(project, "cat test.pem") == ("allow", "read-files")


def test_without_a_project_the_users_rules_and_the_shipped_ones_count(project: Project, tmp_path: Path) -> None:
    config(project).write_text(RULES)
    plain = tmp_path / "plain"
    plain.mkdir()
    result = project.run("policy", "check", "--json", "--", "make", cwd=plain)
    assert result.json == {"verdict": "allow", "rule": "tests", "reason": ""}
    (project.root / "sub").mkdir()
    assert check(project, "cat ../a.txt") == ("ask", "default")
    assert check(project, "cat ../a.txt", "--cwd", str(project.root / "sub")) == ("ask", "default")
    assert project.run("policy", "check", "--cwd", "nowhere", "--", "ls").code == 1


def test_the_projects_rules_allow_only_when_trusted_and_tighten_at_once(project: Project) -> None:
    project.write("interlock.toml", RULES + '[[policy]]\nname = "no-ls"\nverdict = "deny"\ncommand = "ls"\n')
    assert (check(project, "make"), check(project, "ls")) == (("ask", "default"), ("deny", "no-ls"))
    listed = {row["name"]: row["counts"] for row in project.run("policy", "list", "--json").json}
    assert (listed["tests"], listed["no-ls"], listed["list-files"]) == (False, True, True)
    assert "not trusted" in project.run("policy", "list").out
    shown = project.run("trust", "--show", "--json").json
    assert [(one["name"], one["state"]) for one in shown["things"]] == [("policy", "new")]
    assert project.run("trust", "--yes").code == 0
    assert check(project, "make") == ("allow", "tests")
    project.write("interlock.toml", RULES.replace("make", "gcc"))
    assert check(project, "gcc") == ("ask", "default")
    assert project.run("trust", "--show", "--json").json["things"][0]["state"] == "changed"
    config(project).write_text('[[policy]]\nname = "mine"\nverdict = "ask"\ncommand = "gcc"\n')
    project.run("trust", "--yes")
    assert check(project, "gcc") == ("ask", "mine")


def test_examples_are_tested_and_mistakes_name_file_and_line(project: Project) -> None:
    assert project.run("policy", "test", "--json").json == {"ok": True, "failed": []}
    config(project).write_text(RULES.replace("make x", "cmake"))
    result = project.run("policy", "test")
    assert (result.code, result.out) == (1, f"{config(project)}:1: rule 'tests' should match but does not: cmake\n")
    assert project.run("policy", "check", "--", "ls").code == 1
    config(project).write_text('# mine\n[[policy]]\nverdict = "allow"\ncomand = "x"\n')
    result = project.run("policy", "check", "--json", "--", "ls")
    assert result.code == 1
    assert "config.toml:4: unknown key 'policy.comand'; did you mean 'command'?" in result.json["error"]


def test_what_rules_allow_runs_without_asking_and_is_recorded(project: Project) -> None:
    result = project.run("run", "--tickets", project.tickets("plan.json", [shell("look", "git log --oneline && ls")]))
    assert result.code == 0, result
    (approval,) = project.run("approvals", "list", "--state", "all", "--json").json
    assert approval["answer"]["by"] == "policy:git-log+list-files"
    assert "GIT_CONFIG_COUNT" in approval["payload"]["env_names"]
    denied = project.run("run", "--tickets", project.tickets("bad.json", [shell("bad", "sudo ls")]), "--approve", "all")
    assert denied.code == 3
    reason = project.run("tickets", "show", "bad/bad", "--json").json["blocked_reason"]
    assert reason == "denied by no-other-user: nothing runs with the rights of another user"


def test_a_workers_scripts_are_allowed_or_denied(project: Project) -> None:
    model = scripted(
        project,
        {"match": "DENIED by the rule", "reply": "Then not."},
        {"match": "Ticket", "tool_calls": [
            {"name": "run_shell", "args": {"script": "git log --format=%s"}},
            {"name": "run_shell", "args": {"script": "rm -rf ~"}},
        ]},
    )  # fmt: skip
    ticket = {"id": "look", "description": "Look", "assigned_to": "tier3-worker"}
    result = project.run("run", "--tickets", project.tickets("plan.json", [ticket]), "--approve", "all", *model)
    assert (result.code, "the worker changed no file" in result.out) == (3, True), result
    finished = [row["event"] for row in project.journal() if row["event"]["type"] == "tool_finished"]
    assert [(one["by"], one["failed"]) for one in finished] == [
        ("policy:git-log", False),
        ("policy:no-removing-outside", True),
    ]


def test_without_a_sandbox_a_person_answers(project: Project) -> None:
    config(project).write_text('sandbox = "off"\n')
    result = project.run("run", "--tickets", project.tickets("plan.json", [shell("look", "ls")]))
    assert result.code == 4, result
    (approval,) = project.run("approvals", "list", "--json").json
    assert approval["why"] == "the sandbox is off: rules allow nothing then"


def test_a_ticket_is_judged_by_the_files_of_its_own_worktree(project: Project) -> None:
    (project.root / "away").symlink_to("/etc/passwd")
    project.git("add", "away")
    project.git("commit", "-q", "-m", "a link that leads out")
    (project.root / "away").unlink()  # only the worktree has it
    result = project.run("run", "--tickets", project.tickets("plan.json", [shell("look", "cat away")]))
    assert result.code == 4, result
    (approval,) = project.run("approvals", "list", "--json").json
    assert approval["why"] == "cat: away is outside the project"


def test_always_everywhere_shows_the_narrowest_rule_and_adds_it_to_the_users_file(project: Project) -> None:
    config(project).write_text("# mine\n[gates]\ntimeout_s = 9")
    project.run("run", "--tickets", project.tickets("plan.json", [shell("one", "touch made.txt")]))
    result = project.run("approvals", "answer", "A-1", "approve", "--always", "--everywhere")
    rule = '[[policy]]\nname = "always-1"\nverdict = "allow"\nexactly = "touch made.txt"\nmatch = ["touch made.txt"]\n'
    assert (result.code, rule in result.err) == (0, True), result
    assert config(project).read_text() == f"# mine\n[gates]\ntimeout_s = 9\n\n{rule}"
    assert check(project, "touch made.txt") == ("allow", "always-1")
    assert check(project, "touch made.txt x") == ("ask", "default")
    assert project.run("resume").code == 0
    assert project.run("run", "--tickets", project.tickets("more.json", [shell("one", "touch made.txt")])).code == 0


def test_always_counts_only_in_this_project_unless_everywhere_is_said(project: Project, tmp_path: Path) -> None:
    project.write("build.sh", "touch made.txt\n")
    project.run("run", "--tickets", project.tickets("plan.json", [shell("one", "sh ./build.sh")]))
    result = project.run("approvals", "answer", "A-1", "approve", "--always")
    assert (result.code, "new rule for this project in " in result.err) == (0, True), result
    assert not config(project).exists()
    assert check(project, "sh ./build.sh") == ("allow", "always-1")
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    result = project.run("policy", "check", "--json", "--", "sh ./build.sh", cwd=other)
    assert result.json["verdict"] == "ask"
    assert project.run("approvals", "answer", "A-1", "approve", "--everywhere").code == 1


def test_a_project_cannot_bring_rules_of_the_user(project: Project) -> None:
    rules = '[[policy]]\nverdict = "allow"\ncommand = "make"\n'
    for name in ("rules.toml", ".interlock/rules.toml", ".interlock/rules/rules.toml"):
        project.write(name, rules)
    assert check(project, "make") == ("ask", "default")


def test_always_allows_a_tool_by_its_name(project: Project) -> None:
    write = {"name": "write_file", "args": {"path": "made.txt", "content": "x"}}
    model = scripted(project, {"match": "", "tool_calls": [write], "times": 1}, {"match": "", "reply": "Done."})
    ticket = {"id": "one", "description": "Write it", "assigned_to": "tier3-worker"}
    project.run("run", *model, "--tickets", project.tickets("plan.json", [ticket]))
    for spawn in project.run("approvals", "list", "--json").json:
        project.run("approvals", "answer", spawn["id"], "approve")
    project.run("resume", *model)
    (asked,) = project.run("approvals", "list", "--json").json
    assert asked["kind"] == "tool", asked
    result = project.run("approvals", "answer", asked["id"], "approve", "--always")
    assert (result.code, 'tool = "write_file"' in result.err) == (0, True), result
    assert {row["name"] for row in project.run("policy", "list", "--json").json} >= {"always-1"}


@pytest.mark.parametrize(
    ("script", "decision", "why"),
    [
        ("touch a; touch b", "approve", "it is more than one command"),
        ("echo x > y", "approve", "it writes to a file"),
        ("touch a", "reject", "--always is for approving a script or a tool call as it is"),
    ],
)
def test_always_without_a_possible_rule_answers_nothing(project: Project, script: str, decision: str, why: str) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", [shell("one", script)]))
    result = project.run("approvals", "answer", "A-1", decision, "--always")
    assert (result.code, why in result.err) == (1, True), result
    assert [one["id"] for one in project.run("approvals", "list", "--json").json] == ["A-1"]
    assert not config(project).exists()


def test_files_of_the_project_are_used_only_when_trusted(project: Project) -> None:
    project.write("prompts/plan.md", "Plan it.\n")
    project.write("gates/quick.md", "---\ncommand: true\n---\n")
    model = scripted(project, {"match": "", "reply": "Planned."})
    result = project.run("do", ">>plan x", *model)
    assert (result.code, "interlock trust" in result.err, "prompts/plan.md" in result.err) == (1, True, True)
    assert project.run("do", "%judge >>plan x", *model).code == 0
    result = project.run("trust", "--json")
    assert (result.code, result.json["trusted"]) == (4, False)
    assert [one["name"] for one in result.json["things"]] == ["prompts/plan.md", "gates/quick.md"]
    assert "Plan it." in project.run("trust", "--show").out
    assert project.run("trust", "--yes").code == 0
    assert "trusted already: prompts/plan.md, gates/quick.md" in project.run("trust").out
    assert project.run("do", ">>plan x", *model).code == 0
    project.write("prompts/plan.md", "Plan something else.\n")
    assert project.run("do", ">>plan x", *model).code == 1
