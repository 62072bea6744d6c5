"""Helpers for sandbox tests: jobs, and commands that resist being killed."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from interlock.ports.processes import Finished, Job, Sandbox

ENV = {name: os.environ[name] for name in ("PATH", "HOME", "PYENV_ROOT") if name in os.environ}

BEAT = "while :; do echo x >> beats; sleep 0.01; done"

# Each generation starts a new session, forks the next one and exits. Python forks fast enough.
_REFORKING = """
import os
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    with open("beats", "a") as file:
        file.write("x\\n")
"""

STUBBORN = {
    "ignores TERM, INT and HUP": f"trap '' TERM INT HUP; {BEAT}",
    "double fork and setsid": f"(setsid sh -c 'trap \"\" TERM; {BEAT}' > /dev/null 2>&1 &); {BEAT}",
    "forks itself anew all the time": f"(python3 -S -c '{_REFORKING}' &); {BEAT}",
    "a child holds stdout": f"(setsid sh -c '{BEAT}' &); sleep 1000",
    "an empty environment": f"(env -i /usr/bin/setsid /bin/sh -c '{BEAT}' &); {BEAT}",
    "stops itself": f"(setsid sh -c '{BEAT}' &); kill -STOP $$",
    "many children": f"for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sh -c '{BEAT}' &); done; {BEAT}",
}
LEAVES_SOMETHING_BEHIND = {
    name: f"({STUBBORN[name].partition('(')[2].rpartition(')')[0]}); until [ -s beats ]; do sleep 0.01; done; exit 3"
    for name in (
        "double fork and setsid",
        "forks itself anew all the time",
        "a child holds stdout",
        "an empty environment",
    )
}


def sh(folder: Path, script: str, *, timeout_s: float | None = 60, env: Mapping[str, str] = ENV, **more: object) -> Job:
    return Job(
        argv=("/bin/sh", "-c", script),
        cwd=str(folder),
        env=env,
        writable=(str(folder),),
        timeout_s=timeout_s,
        **more,  # pyright: ignore[reportArgumentType]
    )


def run(sandbox: Sandbox, job: Job) -> Finished:
    return asyncio.run(sandbox.run(job))


UNCONFINED = 77


@contextmanager
def only_if_confined(script: str) -> Generator[str]:
    """The script, which ends at once with UNCONFINED if it could signal a process outside its sandbox.

    For scripts that signal every process they can reach: without a sandbox they would end everything on the machine.
    """
    with subprocess.Popen(["sleep", "1000"]) as bystander:
        try:
            yield f"if kill -0 {bystander.pid} 2>/dev/null; then echo unconfined; exit {UNCONFINED}; fi\n{script}"
            assert bystander.poll() is None, "a process outside was ended"
        finally:
            bystander.kill()


async def first_beat(folder: Path) -> None:
    beats = folder / "beats"
    await until(lambda: beats.exists() and beats.stat().st_size > 0)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110  what other processes do sends no event
        await asyncio.sleep(0.005)


def assert_nothing_is_left(folder: Path) -> None:
    """No process runs in the folder, and no process writes to it."""
    written = (folder / "beats").read_bytes()
    assert alive_in(folder) == []
    pause(0.15)
    assert (folder / "beats").read_bytes() == written
    assert written


def alive_in(folder: Path) -> list[str]:
    processes: list[str] = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if os.readlink(f"/proc/{entry.name}/cwd").startswith(str(folder)):
                    processes.append(Path(f"/proc/{entry.name}/stat").read_text())
            except OSError:
                continue
    return processes


def pause(seconds: float) -> None:
    """Use it only to check that an event does not happen."""
    asyncio.run(asyncio.sleep(seconds))
