"""Tests whether a sandbox keeps its guarantees on this machine. Containers often forbid an installed one.

A command inside tries what must fail and reports facts as JSON. Files below /proc are opened and closed, never written.
"""

import os
import socket
import tempfile
import textwrap
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from interlock.ports.processes import Finished, Job, Sandbox
from interlock.sandbox.jobs import jobs

_INSIDE = textwrap.dedent(
    """
    import json, os, socket, sys
    port, *hidden = sys.argv[1:]

    def opens(path, flags=os.O_RDONLY):
        try:
            os.close(os.open(path, flags))
            return True
        except OSError:
            return False

    def connects():
        try:
            socket.create_connection(("127.0.0.1", int(port)), 1).close()
            return True
        except OSError:
            return False

    def size(path):
        try:
            status = os.statvfs(path)
            return status.f_blocks * status.f_frsize
        except OSError:
            return 0

    with open("written", "w") as file:
        file.write("yes")
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\\n").split(":", 1) for line in file)
    settings = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"]
    print(json.dumps({
        "network": connects(),
        "read": [path for path in hidden if opens(path)],
        "system": opens("/usr/.interlock-probe", os.O_WRONLY | os.O_CREAT),
        "settings": [path for path in settings if opens(path, os.O_WRONLY)],
        "keeper": opens(f"/proc/{os.getppid()}/mem"),
        "capabilities": int(status["CapEff"], 16) | int(status["CapPrm"], 16),
        "filter": status.get("Seccomp", "").strip() == "2",
        "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in ("user", "pid")},
        "sizes": [size("/tmp"), size("/dev/shm")],
    }))
    """
)
_TOKEN, _WRITTEN = "project/.interlock/token", "written"
_SLACK = 1 << 20  # a file system rounds its size


class Facts(Struct, frozen=True):
    """What a command could do."""

    network: bool
    read: tuple[str, ...]
    system: bool
    settings: tuple[str, ...]
    keeper: bool
    capabilities: int
    filter: bool
    namespaces: dict[str, str]
    sizes: tuple[int, ...]


class Probe(Struct, frozen=True):
    broken: str = ""  # why the sandbox must not be used; empty if it can be
    missing: tuple[str, ...] = ()  # promises that do not hold here: `filter`, `user namespace`, `sizes`


async def probe(sandbox: Sandbox, limits: jobs.JobLimits = jobs.USUAL) -> Probe:
    with (
        tempfile.TemporaryDirectory(prefix="interlock-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as here,
    ):
        _make_project(folder)
        finished = await sandbox.run(_job(folder, here.getsockname()[1]))
        if problem := _failure(finished, folder):
            return Probe(problem)
        facts = msgspec.json.decode(finished.stdout, type=Facts)
        has_namespaces = sandbox.level == "bubblewrap"
        return Probe(
            ", ".join(_broken(facts, has_namespaces)), tuple(_missing(facts, has_namespaces, limits.tmp_mb << 20))
        )


def _make_project(folder: str) -> None:
    """A project in the folder, which the command must not look into, and a file that it can write."""
    os.makedirs(os.path.dirname(os.path.join(folder, _TOKEN)))
    for name in (_TOKEN, _WRITTEN):
        with open(os.path.join(folder, name), "w"):
            pass


def _job(folder: str, port: int) -> Job:
    home = os.path.expanduser("~")
    return Job(
        argv=(jobs.INTERPRETER, "-I", "-S", "-c", _INSIDE, str(port), os.path.join(folder, _TOKEN), *_files_of(home)),
        cwd=folder,
        env={"HOME": home, "PATH": os.environ.get("PATH", os.defpath)},
        writable=(folder,),
        timeout_s=20,
    )


def _failure(finished: Finished, folder: str) -> str:
    if finished.status != "exited" or finished.exit_code != 0:
        message = finished.message or finished.stderr.strip() or finished.status
        return f"a command run in it fails ({message.splitlines()[-1]})"
    if not os.path.getsize(os.path.join(folder, _WRITTEN)):
        return "what is written to a worktree inside does not arrive outside"
    return ""


def _broken(facts: Facts, has_namespaces: bool) -> Iterator[str]:
    if facts.network:
        yield "the network can be reached from inside"
    yield from (f"{path} can be read from inside" for path in facts.read)
    yield from (f"{path} can be written from inside" for path in facts.settings)
    if facts.system:
        yield "system folders can be written from inside"
    if facts.keeper:
        yield "the memory of the process that watches over a command can be opened from inside"
    if facts.capabilities:
        yield "a command has capabilities inside"
    if has_namespaces and facts.namespaces["pid"] == os.readlink("/proc/self/ns/pid"):
        yield "other processes are visible inside"


def _missing(facts: Facts, has_namespaces: bool, size: int) -> Iterator[str]:
    if not facts.filter:
        yield "filter"
    if has_namespaces and facts.namespaces["user"] == os.readlink("/proc/self/ns/user"):
        yield "user namespace"
    if has_namespaces and size and max(facts.sizes) > size + _SLACK:
        yield "sizes"


def _files_of(home: str) -> list[str]:
    """Files at the top of HOME; none of them belongs to a tool."""
    try:
        return [entry.path for entry in os.scandir(home) if entry.is_file(follow_symlinks=False)][:50]
    except OSError:
        return []
