"""The attempts of a worker to answer its own approvals. Prints as JSON which of them worked.

Runs with any Python; attack.json holds all it could need: paths, port, tokens, the engine's pid.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

WISHES: dict[str, Any] = {}


def read(path: str) -> bool:
    with open(path, "rb") as file:
        return bool(file.read())


def by_socket() -> bool:
    with socket.socket(socket.AF_UNIX) as talk:
        talk.settimeout(10)
        folder = os.open(os.path.dirname(WISHES["socket"]), os.O_RDONLY)
        talk.connect(f"/proc/self/fd/{folder}/{os.path.basename(WISHES['socket'])}")
        command = {"type": "answer_approval", "approval": WISHES["targets"]["socket"], "decision": "approve"}
        talk.sendall(json.dumps({"do": "submit", "actor": "human:eve", "command": command}).encode() + b"\n")
        return b'"ok"' in talk.makefile("rb").readline()


def by_http() -> bool:
    talk = http.client.HTTPConnection("127.0.0.1", WISHES["port"], timeout=10)
    headers = {"Authorization": f"Bearer {WISHES['approve_token']}", "Content-Type": "application/json"}
    talk.request("POST", f"/api/approvals/{WISHES['targets']['http']}", b'{"decision": "approve"}', headers)
    return talk.getresponse().status == 200


def by_program() -> bool:
    words = ["-C", WISHES["project"], WISHES["targets"]["program"], "approve"]
    command = [WISHES["python"], "-m", "interlock.cli.main", "approvals", "answer", *words]
    env = {**os.environ, **WISHES["env"], "PYTHONPATH": os.path.abspath("vendored")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    sys.stderr.write(done.stderr[-300:])
    return done.returncode == 0


def program_runs() -> bool:
    """Not an attempt: shows that the program runs and that only its server is unreachable."""
    command = [WISHES["python"], "-m", "interlock.cli.main", "approvals", "answer", "--help"]
    env = {**os.environ, "PYTHONPATH": os.path.abspath("vendored")}
    return subprocess.run(command, env=env, capture_output=True, timeout=60, check=False).returncode == 0


def listen() -> bool:
    """Reaches the engine's port; clients with an old address file would trust a server on it."""
    with socket.create_connection(("127.0.0.1", WISHES["port"]), timeout=10):
        return True


def signal_engine() -> bool:
    """True if the engine's pid is visible and belongs to the engine."""
    with open(f"/proc/{WISHES['pid']}/cmdline", "rb") as file:
        words = file.read()
    os.kill(WISHES["pid"], 0)
    return b"serve" in words


def write_into_run() -> bool:
    path = os.path.join(os.path.dirname(WISHES["socket"]), "planted")
    with open(path, "w") as file:
        file.write("x")
    os.remove(path)
    return True


ATTEMPTS: dict[str, Callable[[], bool]] = {
    "api.json": lambda: read(WISHES["files"][0]),
    "ask.json": lambda: read(WISHES["files"][1]),
    "approve file": lambda: read(WISHES["files"][2]),
    "journal": lambda: read(WISHES["journal"]),
    "run folder": lambda: bool(os.listdir(os.path.dirname(WISHES["socket"]))),
    "write into run": write_into_run,
    "engine's environment": lambda: signal_engine() and read(f"/proc/{WISHES['pid']}/environ"),
    "signal to the engine": signal_engine,
    "socket": by_socket,
    "port": listen,
    "http": by_http,
    "program": by_program,
}


def outcome(attempt: Callable[[], bool]) -> bool:
    try:
        return attempt()
    except (OSError, http.client.HTTPException, subprocess.SubprocessError, ValueError):
        return False


if __name__ == "__main__":
    with open("attack.json") as file:
        WISHES.update(json.load(file))
    worked = {name: outcome(attempt) for name, attempt in ATTEMPTS.items()}
    print(json.dumps({"worked": [name for name, did in worked.items() if did], "program runs": program_runs()}))
