"""Runs the command line in forks of one process that has imported it already.

A start of the program takes a quarter of a second, nearly all of it imports, and the tests start it some 800 times.
The server is a process without threads. For each request it forks; the child takes the given descriptors, folder and
environment and runs `interlock.cli.main` as a fresh interpreter would, up to its normal exit.

    python -m tests.processes.fork_server LISTENING_FD

A request is one JSON object (`argv`, `cwd`, `env`) with three descriptors (SCM_RIGHTS) on a connection of its own. The
answer is the exit status as `os.waitpid` gives it, in decimal.
"""

import array
import contextlib
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from typing import Any

PRELOADED = (
    "interlock.cli.main",
    "interlock.cli.words.parser",
    "interlock.cli.terminal.sessions",
    "interlock.cli.terminal.asking.prompts",
    "interlock.cli.work.run",
    "interlock.cli.work.do",
    "interlock.cli.work.tracks",
    "interlock.cli.work.tickets",
    "interlock.cli.work.approvals",
    "interlock.cli.work.verify",
    "interlock.cli.records.journal",
    "interlock.cli.records.status",
    "interlock.assembly.build",
    "interlock.assembly.agents",
    "interlock.assembly.model_choice",
    "interlock.runners.gate_here",
    "rich.console",
    "rich.live",
)


def main() -> None:
    for name in PRELOADED:
        importlib.import_module(name)
    listening = socket.socket(fileno=int(sys.argv[1]))
    selector = selectors.DefaultSelector()
    selector.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listening:
                connection, _ = listening.accept()
                request, descriptors = _receive(connection)
                if request is None:
                    return  # the test process closes the server with an empty request
                pid = os.fork()
                if pid == 0:
                    selector.close()
                    listening.close()
                    connection.close()
                    _become(request, descriptors)
                    code = importlib.import_module("interlock.cli.main").main()
                    sys.exit(code)
                for descriptor in descriptors:
                    os.close(descriptor)
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))
            else:
                pid, connection = key.data
                selector.unregister(key.fileobj)
                os.close(key.fd)
                _, status = os.waitpid(pid, 0)
                with contextlib.suppress(OSError):  # the test may have disconnected
                    connection.sendall(str(status).encode())
                connection.close()


def _receive(connection: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    descriptors = array.array("i")
    content, ancillary, _, _ = connection.recvmsg(65536, socket.CMSG_LEN(3 * descriptors.itemsize))
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    while content and not content.endswith(b"\n"):
        more = connection.recv(65536)
        if not more:
            break
        content += more
    return (json.loads(content) if content else None), list(descriptors)


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Makes this fork look like a fresh process: its descriptors, folder, environment and signals."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding=sys.stdin.encoding, errors=sys.stdin.errors, closefd=False)  # noqa: SIM115  # for the life of the process
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["interlock", *request["argv"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    main()
