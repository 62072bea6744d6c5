"""Conformance of sandbox levels: the guarantees of each level."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from interlock.errors import Misconfigured, Unavailable
from interlock.ports.processes import Finished, Job, Output, Sandbox
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.sandbox.scenes import (
    BEAT,
    ENV,
    LEAVES_SOMETHING_BEHIND,
    STUBBORN,
    alive_in,
    assert_nothing_is_left,
    first_beat,
    run,
    sh,
    until,
)

SANDBOXES: dict[str, Callable[[], Sandbox]] = {
    "bubblewrap": BubblewrapSandbox,
    "landlock": LandlockSandbox,
    "off": UnconfinedSandbox,
}


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return SANDBOXES[request.param]()


# ── outcomes ─────────────────────────────────────────────────────────────────────────────


def ended(finished: Finished) -> tuple[str, int, int | None]:
    return finished.status, finished.exit_code, finished.signal


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("true", ("exited", 0, None)),
        ("exit 3", ("exited", 3, None)),
        ("exit 137", ("exited", 137, None)),
        ("exit 255", ("exited", 255, None)),
        ("kill -9 $$", ("killed", 137, 9)),
        ("kill -SEGV $$", ("killed", 139, 11)),
        ("kill -TERM $$", ("killed", 143, 15)),
        ("kill -INT $$", ("killed", 130, 2)),
        ("kill -PIPE $$", ("killed", 141, 13)),
        ("nowhere-to-be-found", ("exited", 127, None)),
        ("/etc/passwd", ("exited", 126, None)),
        ("trap 'exit 0' TERM; kill 0", ("exited", 0, None)),
    ],
)
def test_a_signal_is_distinguished_from_an_exit_status(
    sandbox: Sandbox, tmp_path: Path, script: str, expected: tuple[str, int, int | None]
) -> None:
    assert ended(run(sandbox, sh(tmp_path, script))) == expected


def test_both_streams_come_back_and_the_folder_keeps_what_was_written(sandbox: Sandbox, tmp_path: Path) -> None:
    finished = run(sandbox, sh(tmp_path, "echo out; echo err >&2; pwd > where"))
    assert (finished.stdout, finished.stderr) == ("out\n", "err\n")
    assert (tmp_path / "where").read_text() == f"{tmp_path}\n"


def test_stdin_is_at_its_end_unless_given(sandbox: Sandbox, tmp_path: Path) -> None:
    assert run(sandbox, sh(tmp_path, "cat; echo end")).stdout == "end\n"
    assert run(sandbox, sh(tmp_path, "cat; echo end", stdin=b"word\0\n" * 3)).stdout == "word\0\n" * 3 + "end\n"


def test_the_environment_is_exactly_what_was_given(sandbox: Sandbox, tmp_path: Path) -> None:
    os.environ["A_SECRET_OF_THE_PARENT"] = "1"
    env = {"PATH": os.environ["PATH"], "LD_PRELOAD": "", "WORD": "a b\n'\"=é"}
    finished = run(sandbox, Job(argv=("env", "-0"), cwd=str(tmp_path), env=env, writable=(str(tmp_path),)))
    seen = dict(pair.split("=", 1) for pair in finished.stdout.split("\0") if pair)
    if sandbox.level == "landlock":  # has no private /tmp, and system git settings are off
        assert os.path.basename(seen.pop("TMPDIR")) == "tmp"
        assert seen.pop("GIT_CONFIG_NOSYSTEM", "1") == "1"
    assert seen == env


def test_a_command_gets_three_descriptors_and_default_signals(sandbox: Sandbox, tmp_path: Path) -> None:
    finished = run(sandbox, sh(tmp_path, "ls /proc/$$/fd; exec grep -E '^Sig(Ign|Blk)' /proc/self/status"))
    *fds, blocked, ignored = finished.stdout.replace("SigBlk:", "").replace("SigIgn:", "").split()
    assert fds == ["0", "1", "2"]
    assert int(blocked, 16) == 0
    assert int(ignored, 16) & ~(1 << 31 | 1 << 32) == 0  # two internal signals that glibc's posix_spawn ignores


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"argv": ()}, "there is no command to run"),
        ({"argv": ("no-such-program-anywhere",)}, "cannot run no-such-program-anywhere: not found"),
        ({"cwd": "/no/such/folder"}, "there is no /no/such/folder"),
        ({"cwd": "relative"}, "the path 'relative' is not absolute and plain"),
        ({"writable": ("/no/such/folder",)}, "there is no /no/such/folder"),
        ({"env": {"A": "\0"}}, "a NUL character cannot be part of a command or its environment"),
        ({"env": {"A=B": ""}}, "an environment name is empty or has '=' in it"),
    ],
)
def test_a_job_that_cannot_run_says_why(
    sandbox: Sandbox, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    fields: dict[str, object] = {"argv": ("true",), "cwd": str(tmp_path), "env": ENV, "writable": (str(tmp_path),)}
    finished = run(sandbox, Job(**{**fields, **change}))  # pyright: ignore[reportArgumentType]
    assert (ended(finished), finished.message) == (("error", -1, None), message)


def test_a_folder_that_may_not_be_entered_says_so(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finished = run(sandbox, Job(argv=("true",), cwd=str(tmp_path / "file"), env=ENV, writable=(str(tmp_path),)))
    assert finished.message == f"{tmp_path}/file is not a folder"


# ── nothing is left ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", STUBBORN)
def test_a_timeout_leaves_nothing_alive(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    trials(time_out, sandbox, tmp_path, STUBBORN[name], 3)


@pytest.mark.parametrize("name", LEAVES_SOMETHING_BEHIND)
def test_when_the_main_command_ends_the_rest_is_killed(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    trials(leave_behind, sandbox, tmp_path, LEAVES_SOMETHING_BEHIND[name], 3)


@pytest.mark.parametrize("name", STUBBORN)
def test_cancelling_leaves_nothing_alive(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    trials(cancel, sandbox, tmp_path, STUBBORN[name], 3)


@pytest.mark.soak
@pytest.mark.parametrize("name", STUBBORN)
@pytest.mark.parametrize("trying", ["time_out", "cancel"])
def test_sixty_times_nothing_is_left_alive(sandbox: Sandbox, tmp_path: Path, name: str, trying: str) -> None:
    for batch in range(20):
        trials({"time_out": time_out, "cancel": cancel}[trying], sandbox, tmp_path / str(batch), STUBBORN[name], 3)


@pytest.mark.soak
@pytest.mark.parametrize("name", LEAVES_SOMETHING_BEHIND)
def test_sixty_times_nothing_stays_behind(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    for batch in range(20):
        trials(leave_behind, sandbox, tmp_path / str(batch), LEAVES_SOMETHING_BEHIND[name], 3)


Trial = Callable[[Sandbox, Path, str], Awaitable[None]]


def trials(trial: Trial, sandbox: Sandbox, folder: Path, script: str, times: int) -> None:
    """All jobs in parallel, each in its own folder."""
    folders = [folder / f"trial-{number}" for number in range(times)]
    for each in folders:
        each.mkdir(parents=True)

    async def scene() -> None:
        await asyncio.gather(*(trial(sandbox, each, script) for each in folders))

    asyncio.run(scene())
    for each in folders:
        assert_nothing_is_left(each)


async def time_out(sandbox: Sandbox, folder: Path, script: str) -> None:
    begun = time.monotonic()
    finished = await sandbox.run(sh(folder, script, timeout_s=1))
    assert alive_in(folder) == []
    assert ended(finished) == ("timed_out", -1, None)
    assert 1.0 <= time.monotonic() - begun < 10.0


async def leave_behind(sandbox: Sandbox, folder: Path, script: str) -> None:
    finished = await sandbox.run(sh(folder, script))
    assert alive_in(folder) == []
    assert ended(finished) == ("exited", 3, None)


async def cancel(sandbox: Sandbox, folder: Path, script: str) -> None:
    task = asyncio.create_task(sandbox.run(sh(folder, script)))
    await first_beat(folder)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive_in(folder) == []


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13, 21])
def test_a_job_cancelled_at_any_moment_of_its_start_leaves_nothing(
    sandbox: Sandbox, tmp_path: Path, turns: int
) -> None:
    async def scene() -> None:
        task = asyncio.create_task(sandbox.run(sh(tmp_path, BEAT)))
        for _ in range(turns):
            await asyncio.sleep(0.001)
        task.cancel()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive_in(tmp_path) == []

    asyncio.run(scene())


def test_closing_the_loop_kills_what_runs(sandbox: Sandbox, tmp_path: Path) -> None:
    async def scene() -> asyncio.Task[Finished]:
        task = asyncio.create_task(sandbox.run(sh(tmp_path, STUBBORN["double fork and setsid"])))
        await first_beat(tmp_path)
        return task

    assert asyncio.run(scene()).cancelled()
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize("level", SANDBOXES)
def test_when_interlock_is_killed_its_jobs_die_too(tmp_path: Path, level: str) -> None:
    program = f"""
        import asyncio, sys
        from tests.conformance.test_sandbox import SANDBOXES
        from tests.sandbox.scenes import STUBBORN, sh
        from pathlib import Path
        sandbox = SANDBOXES["{level}"]()
        asyncio.run(sandbox.run(sh(Path({str(tmp_path)!r}), STUBBORN["double fork and setsid"])))
    """
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=env) as interlock:
        asyncio.run(asyncio.wait_for(first_beat(tmp_path), 30))
        interlock.send_signal(signal.SIGKILL)

    asyncio.run(asyncio.wait_for(until(lambda: not alive_in(tmp_path)), 10))
    assert_nothing_is_left(tmp_path)


def test_many_jobs_at_once_do_not_disturb_one_another(sandbox: Sandbox, tmp_path: Path) -> None:
    async def scene() -> list[Finished]:
        folders = [tmp_path / str(number) for number in range(12)]
        for folder in folders:
            folder.mkdir()
        scripts = [f"(setsid sh -c '{BEAT}' &); sleep 0.1; echo {n}; exit {n}" for n in range(12)]
        return await asyncio.gather(*(sandbox.run(sh(folder, s)) for folder, s in zip(folders, scripts, strict=True)))

    assert [(f.stdout, f.exit_code) for f in asyncio.run(scene())] == [(f"{n}\n", n) for n in range(12)]
    assert alive_in(tmp_path) == []


# ── output ───────────────────────────────────────────────────────────────────────────────


def test_a_stream_keeps_its_tail_and_says_what_is_missing(sandbox: Sandbox, tmp_path: Path) -> None:
    finished = run(sandbox, sh(tmp_path, "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"))
    marker, tail = finished.stdout.split("\n", 1)
    assert len(tail) == 5_000
    assert tail.endswith("line 1998\nline 1999\n")
    assert marker == f"[… {sum(len(f'line {i}') + 1 for i in range(2000)) - 5_000:,} bytes dropped …]"


def test_a_listener_gets_every_byte_of_stdout_in_order(sandbox: Sandbox, tmp_path: Path) -> None:
    received = bytearray()
    job = sh(tmp_path, "seq 1 400000; echo not this >&2")
    finished = asyncio.run(sandbox.run(job, on_stdout=received.extend))
    assert bytes(received) == b"".join(b"%d\n" % number for number in range(1, 400_001))
    assert finished.stdout.endswith("399999\n400000\n")
    assert finished.stderr == "not this\n"


def test_a_listener_can_cancel_the_job_and_nothing_is_left(sandbox: Sandbox, tmp_path: Path) -> None:
    async def scene() -> int:
        received = 0

        def count_bytes(chunk: bytes) -> None:
            nonlocal received
            received += len(chunk)
            if received > 1_000_000:
                task.cancel()

        task = asyncio.create_task(sandbox.run(sh(tmp_path, f"(setsid sh -c '{BEAT}' &); yes"), on_stdout=count_bytes))
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive_in(tmp_path) == []
        return received

    assert 1_000_000 < asyncio.run(scene()) < 20_000_000


def test_a_job_with_unread_output_waits(sandbox: Sandbox, tmp_path: Path) -> None:
    """Unread output blocks the job: it cannot write more than the received bytes and the pipe's capacity."""

    async def scene() -> tuple[int, int]:
        received = 0
        written = tmp_path / "written"
        behind: list[int] = []

        def count_bytes(chunk: bytes) -> None:
            nonlocal received
            received += len(chunk)
            if written.exists() and (count := written.read_text().strip()).isdigit():
                behind.append(int(count) * 65_536 - received)

        script = "i=0; while [ $i -lt 200 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i > written; done"
        await sandbox.run(sh(tmp_path, script), on_stdout=count_bytes)
        return received, max(behind)

    received, behind = asyncio.run(scene())
    assert received == 200 * 65_536
    assert behind <= 2 * 1024 * 1024


def test_output_before_a_timeout_is_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    assert run(sandbox, sh(tmp_path, "echo before; sleep 1000", timeout_s=1)).stdout == "before\n"


def test_the_whole_output_is_on_disk_when_asked_for(sandbox: Sandbox, tmp_path: Path) -> None:
    work, keep = tmp_path / "work", tmp_path / "keep"
    work.mkdir()
    keep.mkdir()
    finished = run(sandbox, sh(work, "head -c 100000 /dev/zero; printf 'a\\377b' >&2", keep=str(keep)))
    assert finished.stdout == "[… 95,000 bytes dropped …]\n" + "\0" * 5_000
    assert finished.stderr == "a\ufffdb"
    assert (keep / "stdout").read_bytes() == b"\0" * 100_000
    assert (keep / "stderr").read_bytes() == b"a\377b"


GIBIBYTE = 1 << 30
FLOODS = {
    "a hundred megabytes of lines": ("yes 'a line of text' | head -c 100000000; echo; echo end", 100_000_005),
    "a line of 200 MB, all of it NUL": ("head -c 200000000 /dev/zero; echo; echo end", 200_000_005),
    "invalid UTF-8": ("head -c 50000000 /dev/urandom; echo; echo end", 50_000_005),
}
LARGE_FLOODS = {
    "a gibibyte of lines": (f"yes 'a line of text' | head -c {GIBIBYTE}; echo; echo end", GIBIBYTE + 5),
    "a gibibyte without an end of line": (f"head -c {GIBIBYTE} /dev/zero; echo; echo end", GIBIBYTE + 5),
}


@pytest.mark.soak
@pytest.mark.parametrize("level", SANDBOXES)
@pytest.mark.parametrize("flood", LARGE_FLOODS)
def test_a_gibibyte_of_output_costs_little_memory_and_does_not_block_the_loop(
    tmp_path: Path, level: str, flood: str
) -> None:
    check_flood(tmp_path, level, *LARGE_FLOODS[flood])


@pytest.mark.parametrize("level", SANDBOXES)
@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_of_output_costs_little_memory_and_does_not_block_the_loop(
    tmp_path: Path, level: str, flood: str
) -> None:
    check_flood(tmp_path, level, *FLOODS[flood])


def check_flood(tmp_path: Path, level: str, script: str, size: int) -> None:
    (tmp_path / "keep").mkdir()
    program = f"""
        import asyncio, resource, time
        from pathlib import Path
        from tests.conformance.test_sandbox import SANDBOXES
        from tests.sandbox.scenes import sh

        async def scene():
            sandbox = SANDBOXES["{level}"]()
            folder = Path({str(tmp_path)!r})
            await sandbox.run(sh(folder, "echo warm"))
            ticks = 0
            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1
            ticking = asyncio.create_task(tick())
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            begun = time.monotonic()
            finished = await sandbox.run(sh(folder, {script!r}, keep=str(folder / "keep")))
            took = time.monotonic() - begun
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            ticking.cancel()
            print(after - before, ticks, took, finished.exit_code, sep="\\n")
            print(finished.stdout.splitlines()[0])
            print(repr(finished.stdout[-5:]))

        asyncio.run(scene())
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=env, check=True, capture_output=True, text=True
    )
    grown, ticks, took, code, marker, end = done.stdout.splitlines()
    assert int(grown) < 64 * 1024
    assert int(ticks) > float(took) * 10  # the loop runs at least ten of a hundred times a second
    assert (code, end) == ("0", repr("\nend\n"))
    dropped = int(marker.removeprefix("[… ").partition(" ")[0].replace(",", ""))
    assert size - 4 * 5_000 <= dropped <= size - 5_000
    kept = (tmp_path / "keep" / "stdout").stat().st_size
    assert kept <= 16 * 1024 * 1024 + 100
    assert (tmp_path / "keep" / "stdout").read_bytes().endswith(b"\nend\n")


# ── own programs ─────────────────────────────────────────────────────────────────────────


def trusted(sandbox: Sandbox, *argv: str, stdin: bytes | None = None, timeout_s: float = 60) -> Output:
    return asyncio.run(sandbox.run_trusted(argv, cwd="/", env=ENV, stdin=stdin, timeout_s=timeout_s))


def test_an_own_program_returns_its_whole_output(sandbox: Sandbox) -> None:
    assert trusted(sandbox, "sh", "-c", "cat; echo e >&2; exit 4", stdin=b"\0\xff" * 1_000_000) == Output(
        4, b"\0\xff" * 1_000_000, b"e\n"
    )
    assert trusted(sandbox, "cat") == Output(0, b"", b"")


def test_an_own_program_that_is_missing_or_slow_is_a_clear_error(sandbox: Sandbox) -> None:
    with pytest.raises(Misconfigured, match="cannot run no-such-program: No such file"):
        trusted(sandbox, "no-such-program")
    with pytest.raises(Unavailable, match=r"sh -c took longer than 0\.2 seconds"):
        trusted(sandbox, "sh", "-c", "sleep 1000 & wait", timeout_s=0.2)


def test_a_program_of_ours_dies_with_its_children_when_cancelled(sandbox: Sandbox, tmp_path: Path) -> None:
    async def scene() -> None:
        argv = ("sh", "-c", f"sh -c '{BEAT}' & wait")
        task = asyncio.create_task(sandbox.run_trusted(argv, cwd=str(tmp_path), env=ENV))
        await first_beat(tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not alive_in(tmp_path))

    asyncio.run(asyncio.wait_for(scene(), 30))
    assert_nothing_is_left(tmp_path)


def test_a_program_that_stays_answers_request_after_request(sandbox: Sandbox) -> None:
    async def scene() -> None:
        program = sandbox.converse(("sh", "-c", 'echo $$; while read line; do echo "$line"; done'), cwd="/", env=ENV)
        first = await program.ask(b"a\n", lambda answer: answer.endswith(b"a\n"))
        assert await program.ask(b"b\n", lambda answer: answer.endswith(b"\n")) == b"b\n"
        await program.close()
        again = await program.ask(b"a\n", lambda answer: answer.endswith(b"a\n"))
        assert first is not None and again is not None and first != again, "a new process after close"
        await program.close()

    asyncio.run(asyncio.wait_for(scene(), 30))


def test_a_large_request_and_its_answer_pass_through_a_program_that_stays(sandbox: Sandbox) -> None:
    async def scene() -> None:
        program = sandbox.converse(("cat",), cwd="/", env=ENV)
        large = b"\0\xff" * 1_000_000
        assert await program.ask(large, lambda answer: len(answer) == len(large)) == large
        await program.close()

    asyncio.run(asyncio.wait_for(scene(), 30))


def test_a_program_that_stays_and_ends_is_reported_and_started_again(sandbox: Sandbox) -> None:
    async def scene() -> None:
        program = sandbox.converse(("sh", "-c", 'read line; [ "$line" = go ] && echo on'), cwd="/", env=ENV)
        assert await program.ask(b"stop\n", lambda answer: bool(answer)) is None
        assert await program.ask(b"go\n", lambda answer: bool(answer)) == b"on\n"
        await program.close()
        missing = sandbox.converse(("no-such-program",), cwd="/", env=ENV)
        with pytest.raises(Misconfigured, match="cannot run no-such-program: No such file"):
            await missing.ask(b"x", bool)

    asyncio.run(asyncio.wait_for(scene(), 30))


def test_a_cancelled_request_ends_its_program_so_that_no_late_answer_is_mistaken(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async def scene() -> None:
        program = sandbox.converse(("sh", "-c", f"sh -c '{BEAT}' & cat"), cwd=str(tmp_path), env=ENV)
        task = asyncio.create_task(program.ask(b"old\n", lambda _: False))
        await first_beat(tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not alive_in(tmp_path))
        assert await program.ask(b"new\n", lambda answer: answer.endswith(b"\n")) == b"new\n"
        await program.close()
        await until(lambda: not alive_in(tmp_path))

    asyncio.run(asyncio.wait_for(scene(), 30))
    assert_nothing_is_left(tmp_path)
