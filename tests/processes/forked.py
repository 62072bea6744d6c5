"""The client of the fork server: `run` as `subprocess.run` would, for one command line of the program."""

import array
import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
_servers: dict[int, str] = {}  # of each test process


def run(
    argv: list[str], *, cwd: Path, env: Mapping[str, str], stdin: str, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Runs `interlock argv` in a fork of the server; raises subprocess.TimeoutExpired like subprocess.run."""
    if any(name.startswith("PYTHON") for name in env):  # read by the interpreter when it starts
        command = [sys.executable, "-m", "interlock.cli.main", *argv]
        return subprocess.run(
            command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
        )
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        given.write(stdin.encode())
        given.seek(0)
        connection.connect(_address())
        request = json.dumps({"argv": argv, "cwd": str(cwd), "env": dict(env)}).encode() + b"\n"
        descriptors = array.array("i", [given.fileno(), stdout.fileno(), stderr.fileno()])
        sent = connection.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        connection.sendall(request[sent:])
        connection.settimeout(timeout)
        try:
            status = connection.recv(100)
        except TimeoutError:
            raise subprocess.TimeoutExpired(argv, timeout) from None
        assert status, "the fork server is gone"
        code = os.waitstatus_to_exitcode(int(status))
        return subprocess.CompletedProcess(argv, code, _text(stdout), _text(stderr))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _address() -> str:
    if (address := _servers.get(os.getpid())) is None:
        address = f"{tempfile.mkdtemp(prefix='interlock-fork-')}/socket"
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(address)
        listening.listen(64)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes.fork_server", str(listening.fileno())],
            cwd=ROOT,
            pass_fds=(listening.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        listening.close()
        atexit.register(_close, os.getpid(), process, address)
        _servers[os.getpid()] = address
    return address


def _close(owner: int, process: subprocess.Popen[bytes], address: str) -> None:
    if os.getpid() != owner:
        return
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        connection.shutdown(socket.SHUT_WR)
        process.wait(timeout=30)
    os.unlink(address)
    os.rmdir(os.path.dirname(address))
