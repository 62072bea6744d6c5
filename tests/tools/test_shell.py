"""run_shell, in the real sandbox."""

import os
from pathlib import Path

import pytest

from interlock.codeviews.python.structure import PythonStructure
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.values.runs.services import Service
from interlock.ports.processes import Finished, Job, OnOutput
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace
from interlock.runners.services import JobServices
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.tools.registry import WorkerTools
from tests.sandbox.scenes import ENV
from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "worktree").mkdir()
    return Desk(tmp_path / "worktree", BubblewrapSandbox())


def test_the_result_has_exit_code_and_both_streams(desk: Desk) -> None:
    assert desk.outcome("run_shell", script="echo out; echo err >&2") == ToolOutcome(
        "exit code: 0\nstdout:\nout\nstderr:\nerr", exit_code=0, warned=True
    )


@pytest.mark.parametrize(
    ("script", "code", "meaning"),
    [
        ("exit 3", 3, ""),
        ("no-such-command 2>&-", 127, " (a command was not found)"),
        ("kill -9 $$", 137, " (killed: Killed)"),
    ],
)
def test_a_script_that_ends_badly_is_a_failure(desk: Desk, script: str, code: int, meaning: str) -> None:
    message = f"exit code: {code}{meaning}\nstdout: (empty)\nstderr: (empty)"
    assert desk.outcome("run_shell", script=script) == ToolOutcome(message, True, code)


def test_a_script_is_announced_before_it_runs_and_one_that_cannot_run_is_not(desk: Desk) -> None:
    announced: list[tuple[str, bool]] = []

    def before(script: str) -> None:
        announced.append((script, (desk.folder / "made").exists()))

    desk.tools = WorkerTools(BubblewrapSandbox(), ENV, PythonStructure(), ClosedNames(), before)
    desk.does("run_shell", script="touch made")
    desk.refuses("run_shell", script="  ")
    assert announced == [("touch made", False)]


def test_it_runs_in_the_worktree_and_writes_only_there(desk: Desk, tmp_path: Path) -> None:
    desk.does("run_shell", script="pwd > here")
    assert (desk.folder / "here").read_text() == f"{desk.folder}\n"
    desk.outcome("run_shell", script=f"echo x > {tmp_path}/out; echo x > /usr/bin/x")
    assert sorted(os.listdir(tmp_path)) == ["worktree"]


def test_it_is_bash_where_there_is_bash_and_reads_nothing(desk: Desk) -> None:
    assert "stdout:\nbash" in desk.does("run_shell", script="[[ -n $BASH_VERSION ]] && echo bash; cat")


def test_git_is_only_for_looking(desk: Desk) -> None:
    desk.put(".git/config", "x")
    assert "Read-only" in desk.refuses("run_shell", script="echo y > .git/config")
    assert (desk.folder / ".git/config").read_text() == "x"


def test_a_readable_folder_is_not_writable(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "config").write_text("x")
    desk.place = ToolPlace(str(desk.folder), (str(tmp_path / "git"),))
    assert "stdout:\nx" in desk.does("run_shell", script=f"cat {tmp_path}/git/config")
    desk.refuses("run_shell", script=f"echo y > {tmp_path}/git/config")


def test_there_is_no_network(desk: Desk) -> None:
    script = "python3 -c 'import socket; print([name for _, name in socket.if_nameindex()])'"
    assert "stdout:\n['lo']" in desk.does("run_shell", script=script)


def test_a_script_that_takes_too_long_is_stopped(desk: Desk) -> None:
    text = desk.refuses("run_shell", script="echo before; sleep 100", timeout_s=1)
    assert text.startswith("exit code: -1 (stopped after 1 s, with everything it had started)\nstdout:\nbefore")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"script": " \n"}, "The script is empty."),
        ({"script": "echo \0"}, "The script holds a character that no command can hold."),
        ({"script": "echo \ud800"}, "The script holds a character that no command can hold."),
        ({"script": "ls", "timeout_s": 601}, "run_shell: the argument 'timeout_s' is wrong: expected `int` <= 600."),
    ],
)
def test_a_script_that_cannot_run_is_refused(desk: Desk, args: dict[str, object], message: str) -> None:
    assert desk.refuses("run_shell", **args) == message


def test_the_preview_is_the_script(desk: Desk) -> None:
    preview = desk.preview("run_shell", script="echo  x # as it is\n")
    assert (preview.title, preview.script, preview.hunks) == ("Run a shell script", "echo  x # as it is\n", ())


class Recorder:
    """Implements the part of `Sandbox` that run_shell needs."""

    level = "off"

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        self.jobs.append(job)
        return Finished(status="error", exit_code=-1, signal=None, stdout="", stderr="", duration_ms=0, message="why")


def test_the_job_is_as_small_as_can_be(desk: Desk) -> None:
    recorder = Recorder()
    desk.tools = WorkerTools(recorder, {"PATH": "/nowhere"}, PythonStructure(), ClosedNames())  # pyright: ignore[reportArgumentType]
    assert desk.refuses("run_shell", script="ls").startswith("exit code: -1 (it could not be run: why)")
    folder = str(desk.folder)
    assert recorder.jobs == [
        Job(argv=("sh", "-c", "ls"), cwd=folder, env={"PATH": "/nowhere"}, writable=(folder,), timeout_s=300)
    ]
    assert ENV != {"PATH": "/nowhere"}


def test_services_are_offered_only_in_a_project_that_has_them_and_start_only_if_asked_for(desk: Desk) -> None:
    (plain,) = (spec for spec in desk.tools.offered(changing=True) if spec.name == "run_shell")
    assert "services" not in plain.schema["properties"]
    assert "no argument 'services'" in desk.refuses("run_shell", script="true", services=True)
    sandbox = BubblewrapSandbox()
    echo = Service(name="echo", command="echo up > up; exec sleep 1000", ready="test -s up")
    services = JobServices(sandbox, [echo])
    desk.tools = WorkerTools(sandbox, ENV, PythonStructure(), ClosedNames(), services=services)
    (offered,) = (spec for spec in desk.tools.offered(changing=True) if spec.name == "run_shell")
    assert offered.schema["properties"]["services"]["default"] is False
    assert "started anew for this call: echo. The script finds them by ECHO_DATA." in offered.description
    assert desk.preview("run_shell", script="true", services=True) == Preview(
        "Run a shell script", script="true", services=True
    )
    assert desk.does("run_shell", script="ls") == "exit code: 0\nstdout: (empty)\nstderr: (empty)"
    assert desk.does("run_shell", script="cat up", services=True) == "exit code: 0\nstdout:\nup\nstderr: (empty)"


def test_a_service_that_is_not_ready_is_named_in_the_result(desk: Desk) -> None:
    sandbox = BubblewrapSandbox()
    services = JobServices(sandbox, [Service(name="echo", command="exit 3", ready="false")])
    desk.tools = WorkerTools(sandbox, ENV, PythonStructure(), ClosedNames(), services=services)
    why = "the service echo ended with exit code 3 before it was ready.\nIt wrote nothing."
    assert desk.outcome("run_shell", script="true", services=True) == ToolOutcome(
        f"exit code: 125\n{why}\nstdout: (empty)\nstderr: (empty)", True, 125
    )


def test_a_failed_script_says_what_the_sandbox_has_to_do_with_it(desk: Desk) -> None:
    def explain(worktree: str, output: str) -> str:
        return f"in {worktree}: hidden" if "No such file" in output else ""

    desk.tools = WorkerTools(BubblewrapSandbox(), ENV, PythonStructure(), ClosedNames(), explain=explain)
    failed = desk.outcome("run_shell", script="echo 'No such file' >&2; exit 1")
    assert failed.text == f"exit code: 1\nstdout: (empty)\nstderr:\nNo such file\nin {desk.folder}: hidden"
    assert desk.outcome("run_shell", script="echo 'No such file' >&2").text.endswith("stderr:\nNo such file")
