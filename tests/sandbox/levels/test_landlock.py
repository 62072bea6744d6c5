"""The Landlock level: hidden files, granted access, and cleaning up."""

import asyncio
import ctypes
import errno
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import msgspec
import pytest

import interlock
from interlock.ports.processes import Finished, Job
from interlock.sandbox.jobs import confine, jobs
from interlock.sandbox.jobs.launcher import Launcher
from interlock.sandbox.levels import landlock
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from tests.sandbox.scenes import BEAT, ENV, alive_in, first_beat, only_if_confined, pause, run, sh, until

pytestmark = pytest.mark.skipif(landlock.missing() is not None, reason=str(landlock.missing()))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def does(folder: Path, script: str, *, hidden: tuple[str, ...] = (), **more: object) -> Finished:
    job = sh(folder, f"exec 2>&1; {script}", **more)  # pyright: ignore[reportArgumentType]
    finished = run(LandlockSandbox(hidden=hidden), job)
    assert finished.status == "exited", finished
    return finished


def output_of(folder: Path, script: str, **more: object) -> str:
    return does(folder, script, **more).stdout.strip()  # pyright: ignore[reportArgumentType]


# ── files ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["/", "/usr", "/etc", "/tmp", "/var/tmp", "/dev/shm", "/run", "/proc/self", "/dev"])
def test_nothing_outside_the_worktree_can_be_written(work: Path, place: str) -> None:
    assert does(work, f"echo x > {place}/interlock-planted").exit_code != 0
    assert not Path(place, "interlock-planted").exists()


def test_home_and_temporary_folder_are_its_own_and_are_gone_when_it_ends(work: Path) -> None:
    output = output_of(work, 'echo x > "$HOME/mine"; mktemp; mkdir -m 0 "$TMPDIR/shut"; echo "$HOME"; cat "$HOME/mine"')
    temporary, home, content = output.splitlines()
    assert (Path(temporary).parent.parent, content) == (Path(home).parent, "x")
    assert not Path(home).parent.exists()


def test_the_real_home_is_not_read_but_its_tools_are_found(work: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    tool = home / ".pyenv"
    (tool / "shims").mkdir(parents=True)
    (tool / "versions").mkdir()
    (tool / "shims" / "tool").write_text("#!/bin/sh\necho tool\n")
    (tool / "shims" / "tool").chmod(0o755)
    (home / ".netrc").write_text("secret")
    env = {**ENV, "HOME": str(home), "PATH": f"{tool}/shims:{ENV['PATH']}"}
    job = sh(work, f'tool; "$HOME/.pyenv/shims/tool"; cat {home}/.netrc; ls {home}; echo x > {tool}/x', env=env)
    finished = run(LandlockSandbox(env=env), job)
    assert finished.stdout == "tool\ntool\n"
    assert finished.stderr.count("Permission denied") == 3


def test_a_file_outside_can_be_seen_but_not_read(work: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    assert output_of(work, f"test -e {tmp_path}/secret && echo there; cat {tmp_path}/secret").splitlines() == [
        "there",
        f"cat: {tmp_path}/secret: Permission denied",
    ]


def test_interlocks_folder_in_a_project_is_not_read_and_the_rest_is_writable(work: Path) -> None:
    (work / ".interlock").mkdir()
    (work / ".interlock" / "journal.db").write_text("all that happened")
    (work / "src").mkdir()
    (work / "a.txt").write_text("a\n")
    script = "cat .interlock/journal.db; echo x > .interlock/y; echo b > a.txt; echo c > src/new; ls; rm -r .interlock"
    output = output_of(work, script)
    assert output.count("Permission denied") >= 3 and "a.txt\nsrc" in output
    assert ((work / "a.txt").read_text(), (work / "src" / "new").read_text()) == ("b\n", "c\n")
    assert (work / ".interlock" / "journal.db").read_text() == "all that happened"
    finished = does(work, "touch new")
    assert finished.exit_code == 1
    assert finished.message.startswith(f"with Landlock a command can make nothing new directly in {work}, nor remove")
    assert does(work, "true").message == ""


def test_interlocks_folders_stay_unread_in_a_parent_folder(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state" / "interlock"
    (state / "worktrees" / "t").mkdir(parents=True)
    (state / "token").write_text("secret")
    other = tmp_path / "home" / "other"
    other.mkdir()
    attack = f"cat {state}/token; echo x > {state}/y; echo z > {other}/z"
    assert output_of(tmp_path / "home", attack, hidden=(str(state),)).count("Permission denied") == 2
    assert (other / "z").read_text() == "z\n"
    assert (
        output_of(state / "worktrees" / "t", f"echo w > w; {attack}", hidden=(str(state),)).count("Permission denied")
        == 3
    )
    assert sorted(os.listdir(state)) == ["token", "worktrees"]


def test_a_link_in_a_writable_folder_opens_nothing(work: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("secret")
    (work / ".interlock").mkdir()  # makes the sandbox grant each entry separately
    (work / "link").symlink_to(secret)
    assert output_of(work, "cat link/file") == "cat: link/file: Permission denied"


def test_a_folder_for_reading_wins_over_the_writable_one_around_it(work: Path) -> None:
    inner = work / "a" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x\n")
    (work / "a" / "beside").mkdir()
    output = output_of(work, "cat a/inner/file; echo y > a/inner/file; echo z > a/beside/z", readable=(str(inner),))
    assert output.startswith("x\n") and output.endswith("Permission denied")
    assert ((inner / "file").read_text(), (work / "a" / "beside" / "z").read_text()) == ("x\n", "z\n")


def test_a_file_for_reading_wins_over_the_writable_folder_around_it(work: Path) -> None:
    (work / "settings").write_text("x\n")
    (work / "other").write_text("y\n")
    script = "cat settings; echo z > settings; rm settings; mv other settings; echo z > other"
    output = output_of(work, script, readable=(str(work / "settings"),))
    assert output.startswith("x\n") and output.count("Permission denied") == 3
    assert ((work / "settings").read_text(), (work / "other").read_text()) == ("x\n", "z\n")


def test_given_parts_of_a_home_are_in_the_commands_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".tool").mkdir(parents=True)
    (home / "secret").write_text("x")
    env = {**ENV, "HOME": str(home)}
    script = 'echo x > "$HOME/.tool/mine"; ls -A "$HOME" | grep -v pyenv; cat "$HOME/secret"'
    finished = run(LandlockSandbox(env=env), sh(home / ".tool", script, env=env))
    assert (finished.stdout, (home / ".tool" / "mine").read_text()) == (".tool\n", "x\n")


# ── processes ────────────────────────────────────────────────────────────────────────────


def test_a_command_has_no_capability_and_gains_none(work: Path) -> None:
    output = output_of(work, "grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
    kept = {line.split()[0] for line in output.splitlines() if line.startswith("Cap") and line.split()[1] != "0" * 16}
    assert kept <= (
        {"CapBnd:"} if os.getuid() else set[str]()
    )  # only root may drop the bounding set; it grants nothing
    assert "NoNewPrivs:\t1" in output


def test_the_keeper_cannot_be_killed_stopped_or_looked_into(work: Path) -> None:
    script = """
        for signal in KILL STOP TERM; do kill -$signal $PPID; done
        kill -9 -1
        ls -l /proc/$PPID/fd; cat /proc/$PPID/environ /proc/$PPID/maps
        for fd in /proc/$PPID/fd/*; do printf 'exited 0' > $fd; done
        exit 3
    """
    with only_if_confined(script) as guarded:
        finished = does(work, guarded)
    assert (finished.exit_code, finished.stdout.count("not permitted") >= 3) == (3, True), finished


def test_a_command_may_signal_its_own(work: Path) -> None:
    output = output_of(work, "sleep 100 & kill $!; wait $!; echo $?; timeout 0.1 sleep 100; echo $?")
    assert output.removeprefix("Terminated\n") == "143\n124"


def test_when_interlock_is_killed_the_next_one_removes_the_temporary_folder(work: Path) -> None:
    program = f"""
        import asyncio
        from pathlib import Path
        from interlock.sandbox.levels.landlock import LandlockSandbox
        from tests.sandbox.scenes import BEAT, sh
        asyncio.run(LandlockSandbox().run(sh(Path({str(work)!r}), BEAT)))
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def left() -> list[str]:
        prefix = f"interlock-job-{interlock.pid}-"
        return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith(prefix)]

    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=env) as interlock:
        asyncio.run(asyncio.wait_for(first_beat(work), 30))
        landlock.sweep()
        assert len(left()) == 1
        interlock.send_signal(signal.SIGKILL)
    asyncio.run(asyncio.wait_for(until(lambda: not alive_in(work)), 10))
    landlock.sweep()
    assert left() == []


def kill_interlock_early(work: Path, delays: list[float]) -> None:
    program = f"""if True:
        import asyncio
        from pathlib import Path
        from interlock.sandbox.levels.landlock import LandlockSandbox
        from tests.sandbox.scenes import BEAT, sh
        async def scene():
            sandbox = LandlockSandbox()
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
        pause(0.05)  # a requested process may start only now
        asyncio.run(asyncio.wait_for(until(lambda: not alive_in(work)), 10))
    landlock.sweep()


def test_when_interlock_is_killed_while_a_job_starts_nothing_stays(work: Path) -> None:
    kill_interlock_early(work, [0.001 * n for n in range(0, 20, 2)])


@pytest.mark.soak
def test_when_interlock_is_killed_at_any_moment_of_a_start_nothing_stays(work: Path) -> None:
    kill_interlock_early(work, [0.0001 * n for n in range(200)])


def test_no_descriptor_and_no_folder_is_left(work: Path) -> None:
    does(work, "true")
    before = set(os.listdir("/proc/self/fd"))
    for script in ("true", "kill -9 $$", "sleep 100"):
        run(LandlockSandbox(), sh(work, script, timeout_s=1))
    prefix = f"interlock-job-{os.getpid()}-"
    assert [name for name in os.listdir(tempfile.gettempdir()) if name.startswith(prefix)] == []
    assert len(set(os.listdir("/proc/self/fd")) - before) <= 3  # the pipes of the launchers


def test_a_command_that_may_not_be_run_says_so(work: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    job = Job(argv=(str(program),), cwd=str(work), env=ENV, writable=(str(work),))
    finished = run(LandlockSandbox(), job)
    assert (finished.status, finished.message) == ("error", f"cannot run {program}: Permission denied")


def test_a_sandbox_works_in_a_sandbox(work: Path) -> None:
    """A user's tests may run Interlock. There bubblewrap cannot work: namespaces are refused."""
    packages = {str(Path(module.__path__[0]).parent) for module in (interlock, msgspec)}
    program = """if True:
        import asyncio, os
        from interlock.ports.processes import Job
        from interlock.sandbox.levels.landlock import LandlockSandbox
        argv = ("/bin/sh", "-c", "echo inner; echo x > " + os.environ["OUTSIDE"])
        job = Job(argv=argv, cwd=os.getcwd(), env={"PATH": "/bin"}, writable=(os.getcwd(),), timeout_s=30)
        print(asyncio.run(LandlockSandbox().run(job)))
    """
    outside = work.parent / "outside"
    env = {**ENV, "PYTHONPATH": os.pathsep.join(packages), "OUTSIDE": str(outside)}
    argv = (jobs.INTERPRETER, "-B", "-c", program)
    job = Job(argv=argv, cwd=str(work), env=env, writable=(str(work),), readable=tuple(packages), timeout_s=60)
    for sandbox in (BubblewrapSandbox(), LandlockSandbox()):
        finished = run(sandbox, job)
        assert "status='exited', exit_code=2" in finished.stdout and "stdout='inner\\n'" in finished.stdout, finished
        assert not outside.exists()


def test_a_path_is_opened_step_by_step_only_without_links(work: Path) -> None:
    (work / "folder").mkdir()
    (work / "link").symlink_to("folder")
    fd = confine._open_by_steps(os.fsencode(work / "folder"))
    assert os.readlink(f"/proc/self/fd/{fd}") == str(work / "folder")
    os.close(fd)
    for name, problem in (("link", errno.ELOOP), ("link/x", errno.ELOOP), ("gone", errno.ENOENT)):
        assert (confine._open_by_steps(os.fsencode(work / name)), ctypes.get_errno()) == (-1, problem)


# ── kernels ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (0, "this kernel has no Landlock, or it is switched off"),
        (5, "this kernel's Landlock has version 5; 6 is needed (Linux 6.12)"),
    ],
)
def test_a_kernel_that_cannot_do_it_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch, version: int, reason: str
) -> None:
    monkeypatch.setattr(confine, "abi", lambda: version)
    finished = run(LandlockSandbox(), sh(work, BEAT))
    assert (finished.status, finished.message) == ("error", reason)


def test_a_machine_without_a_filter_is_refused(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "vax")
    assert landlock.missing() == "there is no filter of system calls for vax"


def test_a_link_that_was_put_into_a_path_meanwhile_is_not_followed(work: Path, tmp_path: Path) -> None:
    (tmp_path / "secret" / "inner").mkdir(parents=True)
    (work / "link").symlink_to(tmp_path / "secret")
    spoken: list[bytes] = []

    async def scene() -> None:
        sandbox = LandlockSandbox()
        rules = [*sandbox._rules(sh(work, ""), (), str(work)), f"write {work}/link/inner"]
        spec = jobs.spec(str(work), ["/bin/true"], {}, jobs.USUAL, rules)
        spoken.append((await Launcher().run(spec, nothing.fileno(), (), (), 20)).report)

    with open(os.devnull, "rb") as nothing:
        asyncio.run(scene())
    assert spoken[0] == f"error cannot grant {work}/link/inner: Too many levels of symbolic links".encode()


def test_the_command_leads_a_session_of_its_own(work: Path) -> None:
    """It cannot write to a terminal that Interlock was started from."""
    session = output_of(work, "cut -d ' ' -f 6 /proc/self/stat; echo $$").split()
    assert session[0] == session[1]
