"""Forbidden actions: each must succeed without a sandbox and fail on each level."""

import contextlib
import ctypes
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.ports.processes import Job
from interlock.sandbox.jobs import jobs
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import ENV, UNCONFINED, only_if_confined, run, sh

IPC_RMID, IPC_CREAT = 0, 0o1000

# Each is a Python program that exits without an error if its action succeeds.
FILES = {
    "write a new file": "open(outside + '/planted', 'w').write('x')",
    "write over a file": "open(outside + '/file', 'r+').write('x')",
    "truncate a file": "os.truncate(outside + '/file', 0)",
    "remove a file": "os.unlink(outside + '/file')",
    "rename a file": "os.rename(outside + '/file', outside + '/other')",
    "make a folder": "os.mkdir(outside + '/folder')",
    "make a link": "os.symlink('/', outside + '/link')",
    "read a key in the home": "open(home + '/.ssh/id_ed25519').read()",
    "list a folder of keys": "assert os.listdir(home + '/.ssh')",
    "read the journal": "open(outside + '/project/.interlock/journal.db').read()",
    "read a token": "open(outside + '/state/token').read()",
    "read another worktree": "open(outside + '/worktrees/other/file').read()",
    "list another worktree": "assert os.listdir(outside + '/worktrees/other')",
    "read through a link": "os.symlink(outside + '/state/token', 'link'); open('link').read()",
    "read through a hard link": "os.link(outside + '/state/token', 'hard'); open('hard').read()",
    "move a file in": "os.rename(outside + '/state/token', 'moved'); open('moved').read()",
    "read by way of the parent's folder": "open(f'/proc/{parent}/root' + outside + '/state/token').read()",
}
PROCESSES = {
    "read the parent's environment": "assert open(f'/proc/{parent}/environ', 'rb').read()",
    "read the parent's memory": "open(f'/proc/{parent}/mem', 'rb')",
    "see where the parent's descriptors lead": "os.readlink(f'/proc/{parent}/fd/0')",
    "signal the parent": "os.kill(parent, 0)",
    "signal everybody": "os.kill(parent, 0); os.kill(-1, 0)",
    "trace a process": "assert libc.ptrace(0x4206, victim, 0, 0) == 0, os.strerror(ctypes.get_errno())",
    "read a process's memory": (
        "buffer = ctypes.create_string_buffer(8); here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8);"
        "start = int(open(f'/proc/{victim}/maps').readline().partition('-')[0], 16);"
        "there = (ctypes.c_void_p * 2)(start, 8);"
        "assert libc.process_vm_readv(victim, here, 1, there, 1, 0) == 8"
    ),
    "take a process's descriptor": (
        "fd = os.pidfd_open(victim); assert libc.syscall(438, fd, 0, 0) >= 0, os.strerror(ctypes.get_errno())"
    ),
    "change the parent's limits": "resource.prlimit(parent, resource.RLIMIT_CORE, resource.prlimit(parent, 4))",
    "change the parent's priority": "os.setpriority(0, parent, os.getpriority(0, parent))",
    "use the user's shared memory": "assert libc.shmget(key, 0, 0) >= 0",
}
SOCKETS = {
    "connect by TCP": "socket.create_connection(('127.0.0.1', tcp), 5)",
    "send by UDP": "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', udp)); assert got_udp",
    "connect to a socket with a path": "s = socket.socket(1); s.connect(outside + '/control.sock')",
    "connect to an abstract socket": "s = socket.socket(1); s.connect('\\0' + abstract)",
    "send from a pair to a socket with a path": (
        "a, b = socket.socketpair(1, 2); a.sendmsg([b'x'], [], 0, outside + '/datagrams.sock')"
    ),
}
KERNEL = {
    "make a user namespace": "assert libc.unshare(0x10000000) == 0",
    "make a user namespace by clone": (
        "pid = libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0);\nif pid == 0: os._exit(0)\nassert pid > 0"
    ),
    "make a key": "assert libc.syscall(add_key, b'user', b'name', b'x', 1, ctypes.c_int(-2)) > 0",
}
ATTEMPTS = {**FILES, **PROCESSES, **SOCKETS, **KERNEL}

_BEFORE = """
import ctypes, os, resource, socket, sys
outside, home, parent, victim, tcp, udp, abstract, key = sys.argv[1:]
parent, victim, tcp, udp, key = map(int, (parent, victim, tcp, udp, key))
machine = os.uname().machine
clone, add_key = {"x86_64": (56, 248), "aarch64": (220, 217)}[machine]
got_udp = True
libc = ctypes.CDLL(None, use_errno=True)
"""


class Scene:
    """Targets outside the sandbox, and a work folder."""

    def __init__(self, folder: Path, closing: contextlib.ExitStack) -> None:
        self._folder, self._outside, self._home = folder, folder / "outside", folder / "home"
        secrets = ("file", "project/.interlock/journal.db", "state/token", "worktrees/other/file")
        for path in (*(self._outside / name for name in secrets), self._home / ".ssh" / "id_ed25519"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("secret")
        self.env = {**ENV, "HOME": str(self._home)}
        victim = closing.enter_context(subprocess.Popen(["sleep", "1000"]))
        closing.callback(victim.kill)
        self._tcp = closing.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        self._abstract = f"interlock-test-{os.getpid()}-{id(self)}"
        for address, kind in (
            (str(self._outside / "control.sock"), socket.SOCK_STREAM),
            (str(self._outside / "datagrams.sock"), socket.SOCK_DGRAM),
            (f"\0{self._abstract}", socket.SOCK_STREAM),
        ):
            server = closing.enter_context(socket.socket(socket.AF_UNIX, kind))
            server.bind(address)
            if kind == socket.SOCK_STREAM:
                server.listen()
        libc = ctypes.CDLL(None)
        key = 0x11A00000 + os.getpid()
        segment = libc.shmget(key, 4096, IPC_CREAT | 0o600)
        closing.callback(libc.shmctl, segment, IPC_RMID, None)
        numbers = (os.getpid(), victim.pid, self._tcp.getsockname()[1], self.udp.getsockname()[1])
        self._words = (str(self._outside), str(self._home), *map(str, numbers), self._abstract, str(key))

    def attempt(self, level: str, what: str, *, network: bool = False) -> bool:
        """True if the action succeeded."""
        work = self._folder / level
        work.mkdir(exist_ok=True)
        job = Job(
            argv=(jobs.INTERPRETER, "-I", "-S", "-c", f"{_BEFORE}\n{ATTEMPTS[what]}", *self._words),
            cwd=str(work),
            env=self.env,
            writable=(str(work),),
            network=network,
            timeout_s=30,
        )
        finished = run(make_sandbox(level, env={**ENV, "HOME": str(self._home)}), job)
        assert finished.status == "exited", finished
        assert finished.exit_code == 0 or "Traceback" in finished.stderr, finished
        if what == "send by UDP":
            return self._arrived()
        return finished.exit_code == 0

    def _arrived(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            return bool(self.udp.recv(5))
        return False


@pytest.fixture
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with contextlib.ExitStack() as closing:
        yield Scene(tmp_path_factory.mktemp("s"), closing)  # short: a socket's path has at most 108 bytes


@pytest.mark.parametrize("what", ATTEMPTS)
def test_an_action_that_succeeds_without_a_sandbox_is_refused_in_each(scene: Scene, what: str) -> None:
    assert [scene.attempt(level, what) for level in CONFINED] == [False, False]
    if not scene.attempt("off", what):
        pytest.skip("this machine refuses it to everybody")


@pytest.mark.parametrize("level", CONFINED)
def test_with_network_a_command_reaches_the_network_and_no_socket_of_the_machine(scene: Scene, level: str) -> None:
    reached = {what: scene.attempt(level, what, network=True) for what in SOCKETS}
    assert reached == {what: what in ("connect by TCP", "send by UDP") for what in SOCKETS}


def test_a_script_that_signals_everything_does_not_begin_without_a_sandbox(tmp_path: Path) -> None:
    with only_if_confined("echo begun > begun") as guarded:
        finished = run(UnconfinedSandbox(), sh(tmp_path, guarded))
    assert (finished.exit_code, finished.stdout, (tmp_path / "begun").exists()) == (UNCONFINED, "unconfined\n", False)
