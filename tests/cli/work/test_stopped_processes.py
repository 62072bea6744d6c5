"""`kill -STOP` of a gate, of a CLI agent and of a follower: deadlines hold, and nothing stays or is lost."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.project import Project, shell
from tests.cli.serving import Serving, serving
from tests.cli.signalled import assert_nothing_runs, pause, signalled
from tests.processes.tree import ancestors_up_to_launcher, stop


def stop_all(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # a command that a script runs may have ended
            os.kill(pid, signal.SIGSTOP)


# ── a gate ───────────────────────────────────────────────────────────────────────────────


def gated(project: Project, seconds: str, timeout_s: int) -> list[str]:
    """`run` with a ticket whose gate sleeps."""
    gate = {"command": f"sleep {seconds}", "timeout_s": timeout_s, "max_attempts": 1}
    tickets = [shell("one", "echo made > made.txt", verify=[gate])]
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": tickets})
    return ["run", "--tickets", file, "--approve", "all"]


def test_a_stopped_gate_times_out_and_is_dead(project: Project) -> None:
    seconds = pause(600)
    with signalled(project, *gated(project, seconds, 4)) as command:
        stop_all(command.until_sleeping(seconds))
        command.end(codes=(3, 4))
    (result,) = [row["event"] for row in project.journal() if row["event"]["type"] == "gate_finished"]
    assert result["result"]["status"] == "timed_out", result
    assert_nothing_runs(project, seconds)


@pytest.mark.parametrize(
    ("name", "number"),
    [("run", signal.SIGINT), ("run", signal.SIGTERM), ("verify", signal.SIGTERM), ("verify", signal.SIGHUP)],
)
def test_a_command_with_a_stopped_gate_ends_at_a_signal(project: Project, name: str, number: int) -> None:
    """The gate's command and every process that watches over it are stopped."""
    seconds = pause(600)
    words = gated(project, seconds, 500) if name == "run" else ["verify", f"sleep {seconds}; true"]
    with signalled(project, *words) as command:
        (pid,) = command.until_sleeping(seconds)
        stop_all(ancestors_up_to_launcher(pid))
        command.end(number)
    assert_nothing_runs(project, seconds)


# ── a CLI agent ──────────────────────────────────────────────────────────────────────────


def silent_agent(project: Project, seconds: str, timeout_s: int) -> list[str]:
    """`chat` with an agent that begins its answer and then sleeps."""
    agent = project.home / "agent.sh"
    agent.write_text(f'#!/bin/sh\necho \'{{"type": "init", "session_id": "s-1"}}\'\nsleep {seconds}\n')
    agent.chmod(0o755)
    project.settings(f"[gemini_cli]\ncommand = {json.dumps(shlex.quote(str(agent)))}\ntimeout_s = {timeout_s}\n")
    return ["chat", "Hello", "--provider", "gemini_cli"]


def test_the_call_of_a_stopped_agent_ends_at_its_timeout_with_a_sentence(project: Project) -> None:
    seconds = pause(600)
    with signalled(project, *silent_agent(project, seconds, 3)) as command:
        (pid,) = command.until_sleeping(seconds)
        stop_all(ancestors_up_to_launcher(pid))
        _, err = command.end(codes=(1,))
    assert "gemini_cli gave no answer within 3 s" in err
    assert_nothing_runs(project, seconds)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_chat_with_a_stopped_agent_ends_at_a_signal(project: Project, number: int) -> None:
    seconds = pause(600)
    with signalled(project, *silent_agent(project, seconds, 500)) as command:
        (pid,) = command.until_sleeping(seconds)
        stop_all(ancestors_up_to_launcher(pid))
        command.end(number)
    assert_nothing_runs(project, seconds)
    assert [row["state"] for row in project.run("discussions", "list", "--json").json] == ["your turn"]


# ── a follower ───────────────────────────────────────────────────────────────────────────

EDITS = 25
LONG = 400_000
"""Characters of each description: together far more than a socket holds."""

FOLLOW_HTTP = """
import sys
from pathlib import Path
from interlock.client import ApiHookClient
for frame in ApiHookClient(Path(sys.argv[1]), timeout_s=60).events(0):
    if frame.id is not None:
        print(frame.id, flush=True)
"""


def follower_of(kind: str, bench: Serving) -> "subprocess.Popen[str]":
    """A process that prints the version of every event, one per line."""
    project = bench.project
    by_http = [sys.executable, "-c", FOLLOW_HTTP, str(bench.api_file)]
    return subprocess.Popen(
        by_http if kind == "http" else project.argv("journal", "show", "--follow", "--json"),
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("kind", ["terminal", "http"])
def test_a_stopped_follower_holds_nothing_up_and_gets_every_event_once(project: Project, kind: str) -> None:
    project.run("tracks", "import", project.tickets("plan.json", [shell("one", "exit 0")]))
    with serving(project) as bench, follower_of(kind, bench) as follower:
        try:
            versions = printed_versions(follower)
            seen = [next(versions)]
            grown = [edit_many(bench)]  # while it reads: the holder's memory reaches its usual size
            stop(follower.pid)
            grown.append(edit_many(bench))
            os.kill(follower.pid, signal.SIGCONT)
            last = project.journal()[-1]["version"]
            while seen[-1] < last:
                seen.append(next(versions))
        finally:
            follower.kill()
        assert seen == list(range(1, last + 1))
        assert grown[1] < grown[0] + EDITS * LONG / 2, f"the holder keeps a queue for it: {grown}"


def edit_many(bench: Serving) -> int:
    """Change a ticket many times; by how many bytes the holder has grown."""
    before = resident(bench.process.pid)
    for number in range(EDITS):
        edit(bench.project, f"{number} {'x' * LONG}")
    return resident(bench.process.pid) - before


def printed_versions(follower: "subprocess.Popen[str]") -> Iterator[int]:
    assert follower.stdout is not None
    for line in follower.stdout:
        printed = json.loads(line)
        yield printed if isinstance(printed, int) else printed["version"]


def edit(project: Project, description: str) -> None:
    result = project.run("tickets", "edit", "one", "--set", f"description={description}")
    assert result.code == 0, result


def resident(pid: int) -> int:
    """Bytes of memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
