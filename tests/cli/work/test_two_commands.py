"""Two commands that work on one project at the same time, in the process of the first."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.project import Project, shell
from tests.cli.serving import script, serving
from tests.cli.terminal.test_in_use import until_running, wait_for_socket

ALL = ("--approve", "all")


def until(project: Project, name: str) -> tuple[str, Path]:
    """A script that runs until the returned file exists; the sandbox sees the file through the toolchain's folder."""
    flag = project.home / "bin" / name
    flag.parent.mkdir(exist_ok=True)
    project.env["PATH"] = f"{flag.parent}:{project.env.get('PATH', os.defpath)}"
    return f'while [ ! -e "{flag}" ]; do sleep 0.05; done; echo x > {name}.txt', flag


def finish(process: "subprocess.Popen[str]", code: int) -> str:
    try:
        out, _ = process.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        raise AssertionError(f"it does not end:\n{out}") from None
    assert process.returncode == code, out
    return out


def test_the_first_run_keeps_the_workbench_open_for_the_work_of_the_second(project: Project) -> None:
    first_script, first_flag = until(project, "first")
    second_script, second_flag = until(project, "second")
    first = project.start("run", "--tickets", project.tickets("a.json", [shell("one", first_script)]), *ALL)
    wait_for_socket(project, first).close()
    second = project.start("run", "--tickets", project.tickets("b.json", [shell("two", second_script)]), *ALL)
    until_running(project, second, "two  started")
    first_flag.touch()
    until_running(project, first, "other work runs in this process (b)")
    second_flag.touch()
    finish(second, 0)
    out = finish(first, 0)
    assert "track a: done" in out
    assert [row["event"]["type"] for row in project.journal()].count("attempt_lost") == 0
    project.check_whole()


def test_a_run_starts_nothing_that_an_earlier_run_left_unfinished(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("a.json", [shell("one", "echo 1 > one.txt")]))
    result = project.run("run", "--tickets", project.tickets("b.json", [shell("two", "echo 2 > two.txt")]), *ALL)
    assert result.code == 0
    assert [(t["track"], t["status"]) for t in project.run("tickets", "list", "a", "--json").json] == [
        ("a", "in_progress")
    ]
    assert [a["ticket"] for a in project.run("approvals", "list", "--json").json] == ["one"]
    assert project.run("resume", *ALL).code == 0
    assert project.run("tickets", "list", "a", "--json").json[0]["status"] == "completed"


def test_a_paused_track_finishes_its_attempt_and_the_run_goes_on_after_resume(project: Project) -> None:
    one, flag = until(project, "one")
    tickets = [shell("one", one), shell("two", "echo 2 > two.txt", depends_on=["one"])]
    holder = project.start("run", "--tickets", project.tickets("a.json", tickets), *ALL)
    until_running(project, holder, "one  started")
    assert project.run("tracks", "pause", "a").code == 0
    until_running(project, holder, "track a is paused")
    flag.touch()
    until_running(project, holder, "one  completed")
    assert project.run("tracks", "resume", "a").code == 0
    finish(holder, 0)
    kinds = [row["event"]["type"] for row in project.journal()]
    assert (kinds.count("attempt_lost"), kinds.count("ticket_completed")) == (0, 2)


def test_a_run_on_a_served_project_does_not_stop_at_an_approval_that_a_rule_answers(project: Project) -> None:
    """The request and the rule's answer are one batch: a follower must never see only the first."""
    with serving(project, "--auto-queue"):
        tickets = [shell(f"t{number}", "ls") for number in range(5)]
        result = project.run("run", "--tickets", project.tickets("a.json", tickets))
    kinds = [row["event"]["type"] for row in project.journal()]
    assert (result.code, kinds.count("approval_answered")) == (0, 5), result


@pytest.mark.parametrize(
    "words",
    [
        ("--provider", "scripted", "--script", "rules.json"),
        ("--model", "other"),
        ("--max-tool-rounds", "3"),
        ("--approve", "all"),
        ("--workers", "7"),
    ],
)
def test_options_that_the_holder_would_ignore_are_refused_and_nothing_is_submitted(
    project: Project, words: tuple[str, ...]
) -> None:
    (project.root / "rules.json").write_text("[]")
    prompt = Path(project.env["XDG_CONFIG_HOME"]) / "interlock" / "prompts" / "x.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("Do it.\n")
    commands = {"run": ("run", "--tickets", project.tickets("a.json", [shell("one", "exit 0")])), "do": ("do", ">>x")}
    commands["chat"] = ("chat", "hello")
    with serving(project, *script(project, {"match": "", "reply": "ok"})) as bench:
        before = len(project.journal())
        for name, command in commands.items():
            if words[0] == "--workers" and name != "run":
                continue
            result = project.run(*command, *words)
            assert result.code == 1, result
            assert f"process {bench.process.pid} holds this project" in result.err
            assert f"leave out {' '.join(words[:1]) if words[0] != '--approve' else '--approve all'}" in result.err
        assert len(project.journal()) == before


def test_a_run_does_not_join_a_process_that_approves_everything(project: Project) -> None:
    slow, flag = until(project, "slow")
    holder = project.start("run", "--tickets", project.tickets("a.json", [shell("one", slow)]), *ALL)
    try:
        until_running(project, holder, "one  started")
        result = project.run("run", "--tickets", project.tickets("b.json", [shell("two", "exit 0")]))
        assert (result.code, "your approvals would be answered unasked" in result.err) == (1, True), result
    finally:
        flag.touch()
        finish(holder, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_in_a_chat_ends_the_models_turn(project: Project, number: signal.Signals) -> None:
    talk = project.start("chat", "hello", *script(project, {"match": "", "reply": "late", "delay_s": 60}))
    client = wait_for_socket(project, talk)
    for batch in client.follow(0):
        if any(type(record.event).__name__ == "CallReserved" for record in batch):
            break
    client.close()
    talk.send_signal(number)
    out = finish(talk, 130)
    assert "the answer was stopped" in out
    assert project.run("discussions", "list", "--json").json[0]["state"] == "your turn"
