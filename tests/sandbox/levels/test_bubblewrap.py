"""The bubblewrap sandbox: forbidden and permitted actions of a command."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.ports.processes import Finished, Job
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from tests.sandbox.scenes import ENV, alive_in, only_if_confined, pause, sh, until

SANDBOX = BubblewrapSandbox()


def run(job: Job) -> Finished:
    return asyncio.run(SANDBOX.run(job))


def output_of(folder: Path, script: str, **more: object) -> str:
    """The stripped output of the script, stdout and stderr together."""
    finished = run(sh(folder, f"exec 2>&1; {script}", **more))  # pyright: ignore[reportArgumentType]
    assert finished.status == "exited", finished
    return finished.stdout.strip()


def python(folder: Path, program: str, *args: str, network: bool = False) -> str:
    job = Job(
        argv=("python3", "-c", program, *args),
        cwd=str(folder),
        env=ENV,
        writable=(str(folder),),
        network=network,
        timeout_s=30,
    )
    finished = run(job)
    assert finished.stderr == ""
    return finished.stdout.strip()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


# ── files ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["/", "/usr", "/usr/bin", "/etc", "/bin", "/run", "/var", "/dev/pts", "/proc/sys"])
def test_nothing_outside_the_worktree_can_be_written(work: Path, place: str) -> None:
    finished = run(sh(work, f"echo x > {place}/planted"))
    assert finished.exit_code != 0
    assert not Path(place, "planted").exists()


def test_files_written_to_tmp_or_home_stay_inside_and_are_removed(work: Path) -> None:
    assert (
        output_of(work, 'echo x > /tmp/planted; echo y > "$HOME/planted"; cat /tmp/planted "$HOME/planted"') == "x\ny"
    )
    assert not Path("/tmp/planted").exists() and not Path(ENV["HOME"], "planted").exists()
    assert output_of(work, "ls /tmp/planted") == "ls: cannot access '/tmp/planted': No such file or directory"


@pytest.mark.parametrize(
    "secret", ["home/.ssh/id_ed25519", "project/.interlock/journal.db", "state/token", "worktrees/other/file"]
)
def test_other_files_of_the_user_do_not_exist_inside(tmp_path: Path, work: Path, secret: str) -> None:
    path = tmp_path / secret
    path.parent.mkdir(parents=True)
    path.write_text("secret")
    env = {**ENV, "HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir(exist_ok=True)
    for attempt in (f"cat {path}", f"ls {path.parent}", f"cat ../{secret}", f"ln -s {path} link; cat link"):
        assert "No such file or directory" in output_of(work, attempt, env=env)


def test_interlocks_folder_in_a_writable_project_is_empty(work: Path) -> None:
    (work / ".interlock").mkdir()
    (work / ".interlock" / "journal.db").write_text("all that happened")
    assert (
        output_of(work, "ls -A .interlock; echo x > .interlock/y; rm -rf .interlock; mv .interlock z; true").count("\n")
        >= 2
    )
    assert (work / ".interlock" / "journal.db").read_text() == "all that happened"
    assert os.listdir(work) == [".interlock"]


def test_the_real_home_is_empty_but_for_tools(work: Path) -> None:
    inside = output_of(work, 'ls -A "$HOME"; ls -A "$HOME/.ssh" "$HOME/.config" "$HOME/.bashrc" 2>/dev/null')
    assert not {".ssh", ".config", ".bashrc", ".gitconfig", ".netrc", ".npmrc", ".profile"} & set(inside.split())


@pytest.mark.parametrize(
    "attack",
    [
        "echo '[core] fsmonitor = evil' >> .git/config",
        "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "rm -rf .git",
        "mv .git elsewhere",
        "rm -f .git/HEAD",
        "ln -sf /tmp/evil .git/config",
        "mount -o remount,rw .git; echo evil > .git/config",
        "umount .git; echo evil > .git/config",
        "unshare -Ur sh -c 'umount .git; mount -o remount,rw .git; echo evil > .git/config'",
    ],
)
def test_git_is_read_only_also_where_it_has_no_file_yet(work: Path, attack: str) -> None:
    (work / ".git").mkdir()
    (work / ".git" / "config").write_text("[core]\n")
    (work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    run(sh(work, attack, readable=(str(work / ".git"),)))
    assert sorted(p.name for p in (work / ".git").iterdir()) == ["HEAD", "config"]
    assert (work / ".git" / "config").read_text() == "[core]\n"


def test_a_git_file_of_a_worktree_is_read_only(work: Path) -> None:
    (work / ".git").write_text("gitdir: /somewhere\n")
    run(sh(work, "echo evil > .git; rm -f .git; mv .git x; ln -sf evil .git", readable=(str(work / ".git"),)))
    assert (work / ".git").read_text() == "gitdir: /somewhere\n"


def test_a_link_planted_in_the_worktree_is_not_followed_by_a_mount(tmp_path: Path, work: Path) -> None:
    (tmp_path / "secret").mkdir()
    (work / ".git").symlink_to(tmp_path / "secret")
    finished = run(sh(work, "ls .git", readable=(str(work / ".git"),)))
    assert (finished.status, finished.message) == ("error", f"{work}/.git leads elsewhere through a symbolic link")


def test_a_readable_folder_can_be_read_and_not_written(tmp_path: Path, work: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("word\n")
    assert output_of(work, f"cat {other}/file; touch {other}/x", readable=(str(other),)).startswith(
        f"word\ntouch: cannot touch '{other}/x': Read-only file system"
    )


# ── other processes ──────────────────────────────────────────────────────────────────────


def test_the_environment_of_the_parent_cannot_be_read(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PARENT", "1")
    output = output_of(work, "cat /proc/*/environ | tr '\\0' '\\n' | grep -c SECRET_OF_THE_PARENT")
    assert output.splitlines() == ["cat: /proc/1/environ: Permission denied", "0"]


def test_no_process_outside_can_be_seen_signalled_or_traced(work: Path) -> None:
    program = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
outside = int(sys.argv[1])
print(os.path.exists(f"/proc/{outside}"), max(int(p) for p in os.listdir("/proc") if p.isdigit()) < 100)
try:
    os.kill(outside, 0)
except ProcessLookupError:
    print("no such process")
print(libc.ptrace(16, outside, 0, 0), os.strerror(ctypes.get_errno()))
"""
    if os.getpid() <= 100:
        pytest.skip("the number of this process may be another's inside")
    assert python(work, program, str(os.getpid())) == "False True\nno such process\n-1 Operation not permitted"


def test_a_command_has_no_capability_and_gains_none(work: Path) -> None:
    output = output_of(work, "grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
    assert {line.split()[1] for line in output.splitlines() if line.startswith("Cap")} == {"0" * 16}
    assert "NoNewPrivs:\t1" in output


def test_an_end_cannot_be_forged_through_the_keepers_descriptors(work: Path) -> None:
    forging = "for fd in /proc/[0-9]*/fd/*; do printf 'exited 0' > $fd; done 2>/dev/null; exit 1"
    finished = run(sh(work, forging))
    assert (finished.status, finished.exit_code) == ("exited", 1)


def test_the_keeper_cannot_be_killed(work: Path) -> None:
    script = "for signal in KILL STOP TERM HUP SEGV USR1; do kill -$signal $PPID; done; kill -9 -1; exit 3"
    with only_if_confined(script) as guarded:
        finished = run(sh(work, guarded))
    assert (finished.status, finished.exit_code) == ("exited", 3)


def test_orphans_are_reaped_while_the_command_runs(work: Path) -> None:
    script = "for i in 1 2 3 4 5; do (sh -c 'exit 0' &); done; sleep 0.3; ps -o stat= -A | grep -c Z"
    assert output_of(work, script) == "0"


# ── network ──────────────────────────────────────────────────────────────────────────────

_CONNECT = """
import socket, sys
kind, address = sys.argv[1], sys.argv[2]
families = {"tcp": (socket.AF_INET, socket.SOCK_STREAM), "udp": (socket.AF_INET, socket.SOCK_DGRAM),
            "unix": (socket.AF_UNIX, socket.SOCK_STREAM), "abstract": (socket.AF_UNIX, socket.SOCK_STREAM)}
target = {"unix": address, "abstract": "\\0" + address}.get(kind) or ("127.0.0.1", int(address))
with socket.socket(*families[kind]) as s:
    s.settimeout(5)
    try:
        s.connect(target)
        s.send(b"hello")
        s.recv(5)
        print("reached")
    except OSError:
        print("refused")
"""


def test_tcp_reaches_the_host_only_with_network(work: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        assert python(work, _CONNECT, "tcp", port) == "refused"
        assert python(work, _CONNECT.replace("s.recv(5)", "pass"), "tcp", port, network=True) == "reached"


def test_udp_and_sockets_by_name_or_abstract_do_not_reach_the_host(tmp_path: Path, work: Path) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        unix.bind(str(tmp_path / "control.sock"))
        abstract.bind(f"\0interlock-test-{os.getpid()}")
        unix.listen()
        abstract.listen()
        assert python(work, _CONNECT, "udp", str(udp.getsockname()[1])) == "refused"
        with pytest.raises(BlockingIOError):
            udp.recv(5)
        assert python(work, _CONNECT, "unix", str(tmp_path / "control.sock")) == "refused"
        assert python(work, _CONNECT, "abstract", f"interlock-test-{os.getpid()}") == "refused"


def test_there_is_no_other_network_device(work: Path) -> None:
    devices = output_of(work, "tail -n +3 /proc/net/dev | cut -d: -f1")
    assert devices.split() == ["lo"]


# ── bubblewrap itself ────────────────────────────────────────────────────────────────────


def test_the_jobs_environment_never_reaches_bubblewrap_or_the_keeper(work: Path) -> None:
    finished = run(sh(work, "true", env={**ENV, "LD_DEBUG": "libs"}))
    assert "/bin/sh" in finished.stderr
    assert "bwrap" not in finished.stderr and "python" not in finished.stderr


def test_a_missing_or_failing_bubblewrap_is_an_error_that_says_so(tmp_path: Path, work: Path) -> None:
    missing = asyncio.run(BubblewrapSandbox("/no/such/bwrap").run(sh(work, "true")))
    assert (missing.status, missing.message) == ("error", "cannot run /no/such/bwrap: not found")
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: not today' >&2\nexit 1\n")
    fake.chmod(0o755)
    failing = asyncio.run(BubblewrapSandbox(str(fake)).run(sh(work, "true")))
    assert (failing.status, failing.message) == ("error", "bwrap: not today")


def kill_interlock_early(tmp_path: Path, work: Path, delays: list[float]) -> None:
    """`kill -9` while bwrap creates its namespace: no process stays, not even a blocked one."""
    bwrap = tmp_path / "bwrap-of-this-test"
    if not bwrap.exists():
        shutil.copy(shutil.which("bwrap") or "", bwrap)
    program = f"""if True:
        import asyncio
        from pathlib import Path
        from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
        from tests.sandbox.scenes import BEAT, sh
        async def scene():
            sandbox = BubblewrapSandbox({str(bwrap)!r})
            await sandbox.run(sh(Path({str(work)!r}), "true"))
            print("ready", flush=True)
            await sandbox.run(sh(Path({str(work)!r}), BEAT))
        asyncio.run(scene())
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for delay in delays:
        with subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE) as interlock:
            assert interlock.stdout is not None and interlock.stdout.readline() == b"ready\n"
            pause(delay)
            interlock.kill()
        asyncio.run(asyncio.wait_for(until(lambda: not running(str(bwrap)) and not alive_in(work)), 10))


def running(program: str) -> list[str]:
    pids: list[str] = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{entry.name}/cmdline").read_bytes().startswith(os.fsencode(program) + b"\0"):
                    pids.append(entry.name)
    return pids


def test_when_interlock_is_killed_while_a_job_starts_nothing_stays(tmp_path: Path, work: Path) -> None:
    kill_interlock_early(tmp_path, work, [0.001 * n for n in range(0, 30, 2)])


@pytest.mark.soak
def test_when_interlock_is_killed_at_any_moment_of_a_start_nothing_stays(tmp_path: Path, work: Path) -> None:
    kill_interlock_early(tmp_path, work, [0.0001 * n for n in range(300)])


def test_no_descriptor_is_left_open(work: Path) -> None:
    run(sh(work, "true"))
    before = set(os.listdir("/proc/self/fd"))
    for script in ("true", "kill -9 $$", "sleep 100"):
        run(sh(work, script, timeout_s=1))
    assert set(os.listdir("/proc/self/fd")) == before


# ── paths from the job or the user ────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["PATH", "VIRTUAL_ENV", "HOME", "JAVA_HOME"])
def test_a_job_cannot_open_a_folder_by_naming_it_in_its_environment(tmp_path: Path, work: Path, name: str) -> None:
    secret = tmp_path / "other" / "place" / "bin"
    secret.mkdir(parents=True)
    (secret / "secret").touch()
    for value in (secret, secret.parent):
        assert "No such file" in output_of(work, f"/bin/cat {secret}/secret", env={**ENV, name: f"{value}:/usr/bin"})
        assert "No such file" in output_of(work, f"/bin/cat {secret}/secret", env={**ENV, name: str(value)})


def test_interlocks_folders_stay_hidden_in_a_parent_folder(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state" / "interlock"
    (state / "worktrees" / "t").mkdir(parents=True)
    (state / "token").write_text("secret")
    sandbox = BubblewrapSandbox(hidden=(str(state),))

    def seen(folder: Path) -> str:
        job = sh(folder, f"ls {state}; cat {state}/token; echo x > {state}/y")
        return asyncio.run(sandbox.run(job)).stdout

    assert seen(tmp_path / "home") == ""
    assert seen(state / "worktrees" / "t") == "worktrees\n"
    assert sorted(os.listdir(state)) == ["token", "worktrees"]


def test_a_program_chosen_by_its_path_is_there_with_what_stands_beside_its_bin(tmp_path: Path) -> None:
    (tmp_path / "tool" / "bin").mkdir(parents=True)
    (tmp_path / "tool" / "lib").mkdir()
    (tmp_path / "tool" / "lib" / "words").write_text("here\n")
    program = tmp_path / "tool" / "bin" / "say"
    program.write_text('#!/bin/sh\ncat "$(dirname "$0")/../lib/words"\n')
    program.chmod(0o755)
    (tmp_path / "work").mkdir()
    (tmp_path / "other").write_text("x")
    script = f"{program}; ls {tmp_path}"
    assert run(sh(tmp_path / "work", str(program))).exit_code == 127
    assert run(sh(tmp_path / "work", script, programs=(str(program),))).stdout == "here\ntool\nwork\n"


def test_the_session_of_the_command_is_inside_the_sandbox(work: Path) -> None:
    """It cannot write to a terminal that Interlock was started from; 0 is a session outside the namespace."""
    assert output_of(work, "cut -d ' ' -f 6 /proc/self/stat") != "0"
