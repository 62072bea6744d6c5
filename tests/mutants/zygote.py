"""Runs pytest in forks of one process that has imported pytest and the libraries, but nothing of ours.

    python -m tests.mutants.zygote

Each line on standard input is a JSON object: `arguments` of pytest, `output` (a file) and `timeout_s`. The answer is
one line: the exit status, or `timed out`.
"""

import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
from contextlib import suppress

_PRELOADED = (
    *("pytest", "_pytest.assertion.rewrite", "_pytest.python", "_pytest.junitxml", "pytest_timeout", "hypothesis"),
    *("_hypothesis_pytestplugin", "hypothesis.extra._patching", "schemathesis", "schemathesis.pytest.plugin"),
    *("asyncio", "sqlite3", "ssl", "msgspec", "immutables", "httpx2", "litestar", "uvicorn", "rich.console", "grpc"),
    *("tree_sitter", "tree_sitter_bash", "concurrent.futures.process", "tomllib", "xml.etree.ElementTree"),
)


def main() -> None:
    for name in _PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        print(_run(order["arguments"], order["output"], order["timeout_s"]), flush=True)


def _run(arguments: list[str], output: str, timeout_s: float) -> str:
    pid = os.fork()
    if pid == 0:
        _become_pytest(arguments, output)
    ended = os.pidfd_open(pid)
    try:
        if not select.select([ended], [], [], timeout_s)[0]:
            return "timed out"
        return str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    finally:
        os.close(ended)
        _end_group(pid)


def _become_pytest(arguments: list[str], output: str) -> None:
    os.setsid()
    opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, opened, opened)):
        os.dup2(descriptor, number)
    code = 1
    try:
        pytest = importlib.import_module("pytest")
        code = int(pytest.main(arguments))
    except BaseException:  # noqa: BLE001  it must not go on as a second zygote
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_group(pid: int) -> None:
    """Ends what the tests started and left, and collects a process that did not end itself."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    until = time.monotonic() + 10
    with suppress(ChildProcessError):
        while time.monotonic() < until and os.waitpid(pid, os.WNOHANG) == (0, 0):
            select.select([], [], [], 0.01)


if __name__ == "__main__":
    main()
