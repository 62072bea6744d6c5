"""A gate runs as written, on exactly the tree to verify, and passes only by a normal exit with 0."""

import asyncio
import socket
from hashlib import sha256
from pathlib import Path

import pytest

from interlock.domain.values.gates import Blob, Gate, GateDefaults, GateResult
from interlock.domain.values.tickets import TicketSpec
from interlock.ports.processes import Finished
from interlock.runners.gate import ShellGates, to_result, with_hint
from interlock.runners.setup import WorkspaceSetup
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from tests.runners.fake_workspaces import FolderWorkspaces
from tests.sandbox.scenes import ENV


class Bench:
    def __init__(self, root: Path) -> None:
        self.workspaces = FolderWorkspaces(root)
        self.blobs: dict[str, bytes] = {}

    async def answer(self, track: str, ticket: str) -> str | None:
        return f"the answer of {track}/{ticket}\n"

    def put_blob(self, content: bytes) -> str:
        name = sha256(content).hexdigest()
        self.blobs[name] = content
        return name

    def run(self, *gates: Gate, number: int = 0, commit: str = "base", setup: str | None = None) -> GateResult:
        runner = ShellGates(
            BubblewrapSandbox(),
            self.workspaces.port,
            self.put_blob,
            ENV,
            GateDefaults(timeout_s=30),
            WorkspaceSetup(BubblewrapSandbox(), self.workspaces.port, ENV, setup),
            answer=self.answer,
        )
        return asyncio.run(runner.run("track", TicketSpec(id="T-1", verify=gates), number, commit))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def judged(result: GateResult) -> tuple[str, int, str]:
    return result.status, result.exit_code, result.explanation


def test_a_gate_reads_the_workers_answer_if_it_asks_and_otherwise_nothing(bench: Bench) -> None:
    assert bench.run(Gate("cat", stdin="answer")).stdout == "the answer of track/T-1\n"
    assert bench.run(Gate("cat; echo end")).stdout == "end\n"
    assert bench.run(Gate("exec < /dev/null; true", stdin="answer")).passed, "a gate need not read it"


def test_a_gate_that_exits_0_passes(bench: Bench) -> None:
    result = bench.run(Gate('echo "it is fine"; echo but >&2'))
    assert (result.status, result.passed, result.stdout, result.stderr) == ("passed", True, "it is fine\n", "but\n")
    assert (result.command, result.explanation) == ('echo "it is fine"; echo but >&2', "")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("exit 1", ("failed", 1, "")),
        ("no-such-tool", ("failed", 127, "exit code 127: a command was not found")),
        (
            "/etc/passwd",
            (
                "failed",
                126,
                "exit code 126: a command was found but could not be executed",
            ),
        ),
        (
            "sh -c 'kill -9 $$'; exit $?",
            ("failed", 137, "exit code 137: as a shell reports a command killed by signal 9 (Killed)"),
        ),
        ("exit 200", ("failed", 200, "")),
        ("kill -9 $$", ("killed", 137, "killed by signal 9 (Killed)")),
        ("kill -SEGV $$", ("killed", 139, "killed by signal 11 (Segmentation fault)")),
    ],
)
def test_every_other_ending_fails_and_is_explained(bench: Bench, command: str, expected: tuple[str, int, str]) -> None:
    result = bench.run(Gate(command))
    assert judged(result) == expected
    assert not result.passed


def test_a_gate_that_takes_too_long_times_out(bench: Bench) -> None:
    result = bench.run(Gate("echo begun; sleep 1000", timeout_s=0.1))  # clamped to a second
    assert (result.status, result.exit_code, result.timed_out, result.stdout) == ("timed_out", -1, True, "begun\n")
    assert result.explanation.startswith("timed out after 1")
    assert result.explanation.endswith(" s; everything it started was killed")


@pytest.mark.parametrize("command", ["", "  \n "])
def test_an_empty_command_is_an_error(bench: Bench, command: str) -> None:
    assert judged(bench.run(Gate(command))) == ("error", -1, "the gate has no command")


def test_the_right_gate_runs_on_the_commit_asked_for(bench: Bench) -> None:
    bench.workspaces.commit("one", {"file": "first"})
    bench.workspaces.commit("two", {"file": "second"})
    gates = (Gate("exit 9"), Gate("cat file"))
    assert bench.run(*gates, number=1, commit="one").stdout == "first"
    assert bench.run(*gates, number=1, commit="two").stdout == "second"
    assert bench.run(*gates, number=0, commit="two").exit_code == 9


def test_a_gate_does_not_see_changes_of_the_gate_before(bench: Bench) -> None:
    bench.workspaces.commit("one", {"file": "first"})
    assert bench.run(Gate("echo changed > file; echo new > other; cat file"), commit="one").stdout == "changed\n"
    assert bench.run(Gate("cat file; ls"), commit="one").stdout == "firstfile\n"


def test_a_gate_has_its_own_folder_and_environment(bench: Bench) -> None:
    bench.workspaces.commit("one", {"sub/dir/file": ""})
    result = bench.run(Gate('pwd; echo "$WORD"; echo "$HOME"', cwd="sub/dir", env={"WORD": "a 'b'"}), commit="one")
    assert result.stdout == f"{bench.workspaces.path_for('track', 'T-1')}/sub/dir\na 'b'\n{ENV['HOME']}\n"


@pytest.mark.parametrize("cwd", ["..", "/", "/etc", "sub/../..", "gone", "file", "out", "../T-10"])
def test_a_folder_outside_the_worktree_is_refused(bench: Bench, tmp_path: Path, cwd: str) -> None:
    bench.workspaces.commit("one", {"file": "", "sub/x": ""})
    (tmp_path / "commits" / "one" / "out").symlink_to("/etc")
    assert judged(bench.run(Gate("true", cwd=cwd), commit="one")) == (
        "error",
        -1,
        f"the gate's folder {cwd!r} is not a folder inside the worktree",
    )


def test_a_result_holds_tails_and_the_whole_is_a_blob(bench: Bench) -> None:
    result = bench.run(Gate("seq 100000; seq 3 >&2"))
    whole = "".join(f"{n}\n" for n in range(1, 100_001))
    mark = "[… 583,895 bytes of 588,895 are not here; 'interlock tickets show ID --output' …]\n"
    assert (result.stdout, result.stderr, result.stderr_blob) == (mark + whole[-5_000:], "1\n2\n3\n", None)
    assert result.stdout_blob == Blob(sha256(whole.encode()).hexdigest(), len(whole))
    assert list(bench.blobs.values()) == [whole.encode()]


def test_output_just_longer_than_a_tail_is_not_lost(bench: Bench) -> None:
    result = bench.run(Gate("head -c 5001 /dev/zero | tr '\\0' x"))
    assert result.stdout.partition("\n")[2] == "x" * 5_000
    assert result.stdout_blob is not None and bench.blobs[result.stdout_blob.sha256] == b"x" * 5_001
    assert bench.run(Gate("head -c 5000 /dev/zero | tr '\\0' x")).stdout == "x" * 5_000


def test_quotes_and_operators_arrive_unchanged_at_the_shell(bench: Bench) -> None:
    assert (
        bench.run(Gate("""printf '%s\\n' "a\\"b" ' * 3 ' '-->' '::' "it's" """)).stdout
        == "a\"b\n * 3 \n-->\n::\nit's\n"
    )


def test_a_worktree_is_set_up_before_a_gate_and_the_tree_is_still_exact(bench: Bench) -> None:
    bench.workspaces.commit("one", {"file": "first"})
    setup = "touch ready.ignored; echo touched by setup > file"
    assert bench.run(Gate("ls; cat file"), commit="one", setup=setup).stdout == "file\nready.ignored\nfirst"


def test_a_setup_that_fails_is_an_error_of_the_gate(bench: Bench) -> None:
    assert judged(bench.run(Gate("true"), setup="echo no luck >&2; exit 1")) == (
        "error",
        -1,
        "the workspace's setup failed: exit code 1\nno luck",
    )


def test_a_command_that_could_not_be_run_is_an_error() -> None:
    finished = Finished(
        status="error", exit_code=-1, signal=None, stdout="", stderr="", duration_ms=0, message="there is no bwrap"
    )
    assert to_result(finished, "x") == GateResult(
        status="error",
        exit_code=-1,
        command="x",
        duration_ms=0,
        explanation="it could not be run: there is no bwrap",
    )


def test_only_a_gate_that_says_so_has_the_network(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {server.getsockname()[1]}), 5)'"
        assert bench.run(Gate(reach, network=True)).passed
        assert not bench.run(Gate(reach)).passed


def test_a_gate_runs_without_the_ignored_files_of_an_earlier_command(bench: Bench) -> None:
    bench.run(Gate("touch left.ignored"))
    result = bench.run(Gate("test -e left.ignored"))
    assert (result.status, result.exit_code) == ("failed", 1)


def test_the_setup_runs_before_the_work_where_it_can_and_on_the_tree_where_it_must(bench: Bench) -> None:
    bench.workspaces.commit("work", {"made-by-work": "1"})
    setup = "test -e made-by-work && echo work >> where.ignored || echo base >> where.ignored"
    assert bench.run(Gate("cat where.ignored"), commit="work", setup=setup).stdout == "base\n"
    needs_work = "test -e made-by-work && touch venv.ignored"
    other = Bench(bench.workspaces.root / "other")
    other.workspaces.commit("work", {"made-by-work": "1"})
    assert other.run(Gate("test -e venv.ignored"), commit="work", setup=needs_work).passed


def test_a_failed_gate_names_removed_files_and_a_passed_one_does_not() -> None:
    failed = GateResult(status="failed", exit_code=1, command="x", duration_ms=1)
    explanation = with_hint(failed, ("node_modules", "target")).explanation
    assert explanation.startswith("Files that are not in git were removed before the gate: node_modules, target.")
    assert "[workspace] setup" in explanation
    passed = GateResult(status="passed", exit_code=0, command="x", duration_ms=1)
    assert with_hint(passed, ("node_modules",)) == passed
