"""`interlock verify`: a shell command as a gate in the current folder, without a project."""

import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import CommandResult, Project


def verify(project: Project, command: str, *words: str, cwd: Path | None = None) -> CommandResult:
    return project.run("verify", command, *words, cwd=cwd)


def facts(project: Project, command: str, *words: str) -> dict[str, Any]:
    result = verify(project, command, *words, "--json")
    shown = result.json
    assert result.code == (0 if shown["passed"] else 3)
    return shown


def test_a_command_that_exits_with_0_passes_and_may_write_here(project: Project) -> None:
    shown = facts(project, "cat a.txt; echo é >&2; echo made > made.txt")
    assert 0 <= shown.pop("duration_ms") < 20_000
    assert shown == {
        "passed": True,
        "status": "passed",
        "timed_out": False,
        "exit_code": 0,
        "stdout": "one\ntwo\nthree\n",
        "stderr": "é\n",
        "command": "cat a.txt; echo é >&2; echo made > made.txt",
        "explanation": "",
    }
    assert (project.root / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize(
    ("command", "status", "code", "words"),
    [
        ("exit 7", "failed", 7, "exit code 7"),
        ("no-such-tool", "failed", 127, "a command was not found"),
        ("./a.txt", "failed", 126, "found but could not be executed"),
        ("sh -c 'kill -SEGV $$'; exit $?", "failed", 139, "killed by signal 11 (Segmentation fault)"),
        ("kill -9 $$", "killed", 137, "killed by signal 9 (Killed)"),
    ],
)
def test_any_other_end_fails_and_is_explained(
    project: Project, command: str, status: str, code: int, words: str
) -> None:
    shown = facts(project, command)
    assert (shown["passed"], shown["status"], shown["exit_code"]) == (False, status, code)
    result = verify(project, command)
    assert (result.code, words in result.out, f"✗ {status}" in result.out) == (3, True, True), result


def test_people_see_the_end_of_the_output_made_safe(project: Project) -> None:
    result = verify(project, "printf 'first\\033[2Jsecond\\n'; printf 'to stderr' >&2; seq 3000")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "bytes dropped" in result.out
    assert result.out.splitlines()[-4:-1] == ["3000", "── stderr", "to stderr"]
    assert result.out.splitlines()[-1].startswith("✓ passed after ")


@pytest.mark.parametrize("command", ["", "  \n"])
def test_no_command_is_an_error_and_does_not_pass(project: Project, command: str) -> None:
    shown = facts(project, command)
    assert (shown["passed"], shown["status"], shown["exit_code"]) == (False, "error", -1)


def test_a_command_that_takes_too_long_is_dead_when_it_returns(project: Project) -> None:
    shown = facts(
        project,
        "trap '' TERM; (setsid sh -c 'while :; do echo x >> late; sleep 0.05; done' &) ; sleep 60",
        "--timeout",
        "1",
    )
    assert (shown["status"], shown["timed_out"], shown["exit_code"]) == ("timed_out", True, -1)
    assert 1_000 <= shown["duration_ms"] < 5_000
    size = (project.root / "late").stat().st_size
    threading.Event().wait(0.3)
    assert (project.root / "late").stat().st_size == size


def test_ctrl_c_kills_everything_it_started(project: Project) -> None:
    script = "(setsid sh -c 'while :; do echo x >> late; sleep 0.05; done' &) ; touch begun; sleep 600"
    with project.start("verify", script) as running:
        deadline = time.monotonic() + 30
        while not (project.root / "late").exists():
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=20)
    assert running.returncode == 130, out
    size = (project.root / "late").stat().st_size
    threading.Event().wait(0.3)
    assert (project.root / "late").stat().st_size == size


def test_git_cannot_be_changed_and_no_file_of_interlock_or_the_user_is_visible(project: Project) -> None:
    project.run("init")
    (project.home / "secret").write_text("key")
    (project.home.parent / "beside").write_text("x")
    shown = facts(
        project,
        "git log --oneline | wc -l; echo x > .git/hooks/pre-commit || echo refused; git config a.b c || echo refused;"
        f" ls -A .interlock; cat {project.home}/secret; cat {project.home.parent}/beside; "
        f"echo x > {project.home.parent}/written; true",
    )
    assert shown["stdout"] == "1\nrefused\nrefused\n"
    assert shown["stderr"].count("No such file") >= 2
    assert not (project.home.parent / "written").exists()
    assert not (project.root / ".git" / "hooks" / "pre-commit").exists()


def test_a_link_called_git_does_not_make_it_writable(project: Project) -> None:
    (project.root / ".git").rename(project.root / "real")
    (project.root / ".git").symlink_to("real")
    assert facts(project, "echo x > real/config || echo refused")["stdout"] == "refused\n"


def test_git_can_be_read_in_a_linked_worktree_but_not_through_a_forged_one(project: Project) -> None:
    linked = project.home / "linked"
    project.git("worktree", "add", "-q", str(linked))
    result = verify(project, "git log --oneline | wc -l; git commit --allow-empty -m x", "--json", cwd=linked).json
    assert (result["stdout"], result["passed"]) == ("1\n", False)
    secret = project.home / "keys"
    (secret / "worktrees" / "mine").mkdir(parents=True)
    (secret / "id").write_text("secret")
    forged = project.home / "forged"
    forged.mkdir()
    (forged / "gitdir").write_text(str(forged / ".git"))
    for place in (secret, secret / "worktrees" / "mine", forged):
        (forged / ".git").write_text(f"gitdir: {place}\n")
        assert verify(project, f"cat {secret}/id", cwd=forged).code == 3


def test_a_missing_folder_is_reported(project: Project) -> None:
    folder = project.home / "gone"
    folder.mkdir()
    words = " ".join(project.argv())
    for command in ("verify true", "parse x", "status"):
        done = subprocess.run(
            ("sh", "-c", f"cd {folder} && rmdir {folder} && {words} {command}"),
            env=project.env,
            capture_output=True,
            text=True,
            check=False,
        )
        folder.mkdir()
        assert (done.returncode, "the current folder cannot be used" in done.stderr) == (1, True), done


def test_it_needs_no_project_no_git_and_makes_none(project: Project) -> None:
    folder = project.home / "plain"
    folder.mkdir()
    (folder / "interlock.toml").write_text("this is not = = toml")
    result = verify(project, "ls -A", cwd=folder)
    assert (result.code, "interlock.toml" in result.out) == (0, True), result
    assert [path.name for path in folder.iterdir()] == ["interlock.toml"]
    elsewhere = verify(project, "pwd", "-C", str(folder), "--json")
    assert elsewhere.json["stdout"] == f"{folder}\n"


def settings(project: Project, text: str) -> None:
    config = Path(project.env["XDG_CONFIG_HOME"]) / "interlock"
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(text)


def without_bubblewrap(project: Project, programs: Path) -> None:
    programs.mkdir()
    for name in ("sh", "touch", "git"):
        (programs / name).symlink_to(shutil.which(name) or name)
    project.env["PATH"] = str(programs)


def test_without_a_sandbox_it_refuses_unless_the_user_allowed_it(project: Project, tmp_path: Path) -> None:
    without_bubblewrap(project, tmp_path / "bin")
    settings(project, 'sandbox = "bubblewrap"\n')
    result = verify(project, "touch ran")
    assert (result.code, "bubblewrap is not installed" in result.err) == (1, True), result
    assert not (project.root / "ran").exists()
    settings(project, 'sandbox = "off"\n')
    result = verify(project, "touch ran")
    assert (result.code, "THE SANDBOX IS OFF" in result.err) == (0, True), result
    assert (project.root / "ran").exists()


def test_the_machine_itself_is_not_a_folder_to_write_in(project: Project) -> None:
    for place in ("/", "/proc", "/dev/shm"):
        result = verify(project, "true", "-C", place)
        assert (result.code, "is a system folder" in result.err) == (1, True), result


def test_a_timeout_is_a_number_and_kept_in_bounds(project: Project) -> None:
    for wrong in ("soon", "-1", "nan", "inf"):
        assert verify(project, "true", f"--timeout={wrong}").code == 2
    assert facts(project, "sleep 0.2", "--timeout", "0")["passed"]


def test_keys_of_the_user_do_not_reach_it(project: Project) -> None:
    project.env["ANTHROPIC_API_KEY"] = "secret"
    assert "secret" not in facts(project, "env")["stdout"]


def test_without_bubblewrap_it_is_landlock_and_doctor_says_why(project: Project, tmp_path: Path) -> None:
    without_bubblewrap(project, tmp_path / "bin")
    folder = project.home / "plain"
    folder.mkdir()
    result = project.run("verify", "touch ran", "--json", cwd=folder)
    assert (result.code, (folder / "ran").exists()) == (0, True), result
    shown = project.run("doctor", "--json").json
    assert shown["sandbox"]["detail"] == (
        "landlock, because bubblewrap is not installed (on Debian: apt install bubblewrap)"
    )
    assert any("mode and times" in promise for promise in shown["promises"])


def test_with_landlock_a_failure_at_the_top_of_a_repository_is_explained(project: Project) -> None:
    settings(project, 'sandbox = "landlock"\n')
    shown = facts(project, "cat a.txt > /dev/null && touch new")
    assert (shown["status"], "nothing new directly in" in shown["explanation"]) == ("failed", True)
    assert facts(project, "git log --format=%s && echo x >> a.txt")["stdout"] == "first\n"


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_a_command_beyond_the_users_limit_is_killed_and_reported(project: Project, level: str) -> None:
    settings(project, f'sandbox = "{level}"\n[limits]\nprocesses = 20\n')
    script = "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; wait"
    shown = facts(project, script)
    assert (shown["status"], shown["exit_code"]) == ("killed", 137)
    assert shown["explanation"].startswith("it had more than 20 processes at once")


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_in_a_folder_above_a_project_its_state_is_not_visible(project: Project, level: str) -> None:
    settings(project, f'sandbox = "{level}"\n')
    assert project.run("init").code == 0
    above, inner = project.root.parent, project.root.name
    script = (
        f"cat {inner}/.interlock/journal.db; echo x > {inner}/.interlock/planted; echo x > {inner}/.git/hooks/planted"
    )
    result = project.run("verify", f"exec 2>&1; {script}; cat {inner}/a.txt", "--json", cwd=above)
    refused, shown = result.json["stdout"].splitlines()[:-3], result.json["stdout"].splitlines()[-3:]
    assert (len(refused), shown) == (3, ["one", "two", "three"]), result
    assert "SQLite" not in "".join(refused)
    assert not (project.root / ".interlock" / "planted").exists()
    assert not (project.root / ".git" / "hooks" / "planted").exists()
