"""The logs of a session: without secrets, bounded, and never delaying the work."""

import json
import os
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from interlock.assembly.logs import session_files
from interlock.assembly.logs.session_logs import SessionLogs
from interlock.assembly.secrets.redaction import redactor
from interlock.engine.models.activity import RequestStart, ToolExecution

KEY = "sk-" + "a1B2" * 6
AT = "2026-03-31T12:00:00.000000Z"
SESSION = "20260331_120000"


def logs(folder: Path, **more: Any) -> SessionLogs:
    return SessionLogs(folder, lambda: AT, redactor({}), **more)


def text(folder: Path, name: str) -> str:
    return (folder / "logs" / "sessions" / SESSION / name).read_text()


# ── each log ─────────────────────────────────────────────────────────────────────────────


def test_a_tool_call_is_a_section_of_its_own(tmp_path: Path) -> None:
    session = logs(tmp_path)
    call = ToolExecution("Tier 3 (Worker): T-1", "Tier 3", "run_shell", {"script": f"use {KEY}"}, by="A-3")
    session.tools.record(RequestStart("Tier 3 (Worker): T-1", "Tier 3", "scripted", "m"))
    session.tools.record(call)
    session.tools.record(replace(call, ended=True, result=f"{KEY}\n```\nx", failed=True, duration_ms=12))
    session.close()
    assert text(tmp_path, "toolcalls.log") == (
        f"## {AT} Tier 3 (Worker): T-1: run_shell\n\n"
        "failed after 12 ms, allowed by A-3\n\n"
        '```json\n{\n  "script": "use [redacted]"\n}\n```\n\n'
        "````\n[redacted]\n```\nx\n````\n\n"
    )


def test_a_long_result_has_its_head_in_the_log(tmp_path: Path) -> None:
    session = logs(tmp_path)
    session.tools.record(ToolExecution("k", "Tier 3", "grep", {"a": "b" * 9_000}, ended=True, result="c" * 5_000))
    session.close()
    log = text(tmp_path, "toolcalls.log")
    assert "[… 3,000 more characters …]" in log
    assert len(log) < 7_000


def test_calls_of_cli_agents_and_requests_to_the_api_are_lines_of_json(tmp_path: Path) -> None:
    session = logs(tmp_path)
    session.cli.write({"command": ["gemini"], "stdin": f"use {KEY}", "stdout": "x" * 300_000, "exit_code": 0})
    session.api.write(method="POST", path="/api/gui", status=403, capability="drive", duration_ms=1.5, refused="no")
    session.api.write(method="GET", path="/status", status=200)
    session.close()
    (call,) = (json.loads(line) for line in text(tmp_path, "clicalls.log").splitlines())
    assert (call["ts"], call["command"], call["stdin"], call["exit_code"]) == (AT, ["gemini"], "use [redacted]", 0)
    assert call["stdout"].endswith("[… 100,000 more characters …]")
    refused, status = (json.loads(line) for line in text(tmp_path, "apihooks.log").splitlines())
    assert refused == {
        "ts": AT,
        "method": "POST",
        "path": "/api/gui",
        "status": 403,
        "capability": "drive",
        "duration_ms": 1.5,
        "refused": "no",
    }
    assert (status["capability"], status["refused"]) == ("", "")


def test_scripts_are_kept_as_they_ran_each_under_a_name_of_its_own(tmp_path: Path) -> None:
    first, second = logs(tmp_path), logs(tmp_path)  # two sessions in the same second
    first.script(f"curl -H 'Authorization: Bearer {KEY}'")
    second.script("echo é\n")
    first.script("")
    folder = tmp_path / "scripts" / "generated"
    assert {file.name: file.read_text() for file in sorted(folder.iterdir())} == {
        f"{SESSION}_0001.sh": "curl -H 'Authorization: Bearer [redacted]'\n",
        f"{SESSION}_0002.sh": "echo é\n",
        f"{SESSION}_0003.sh": "\n",
    }
    assert folder.stat().st_mode & 0o777 == 0o700


# ── bounds ───────────────────────────────────────────────────────────────────────────────


def test_a_log_that_is_large_is_put_aside_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_files, "LARGEST", 1_000)
    session = logs(tmp_path)
    for number in range(60):
        session.cli.write({"number": number, "text": "x" * 100})
    session.close()
    folder = tmp_path / "logs" / "sessions" / SESSION
    files = sorted(folder.iterdir())
    assert [file.name for file in files] in (
        ["clicalls.log", "clicalls.log.1", "clicalls.log.2"],
        ["clicalls.log.1", "clicalls.log.2"],
    )
    assert all(file.stat().st_size < 1_300 for file in files)
    numbers = [json.loads(line)["number"] for file in reversed(files) for line in file.read_text().splitlines()]
    assert numbers == list(range(numbers[0], 60)), "the newest, without a gap"


def test_logs_and_scripts_that_are_too_old_are_removed_at_the_start(tmp_path: Path) -> None:
    sessions, scripts = tmp_path / "logs" / "sessions", tmp_path / "scripts" / "generated"
    for name in ("20260301_115959", "20260301_120000", "20260330_000000"):
        (sessions / name).mkdir(parents=True)
        (sessions / name / "comms.log").write_text("x")
        scripts.mkdir(parents=True, exist_ok=True)
        (scripts / f"{name}_0001.sh").write_text("x")
    session = logs(tmp_path, keep_days=30)
    session.cli.write({})
    session.close()
    assert sorted(path.name for path in sessions.iterdir()) == ["20260301_120000", "20260330_000000", SESSION]
    assert sorted(path.name for path in scripts.iterdir()) == ["20260301_120000_0001.sh", "20260330_000000_0001.sh"]


def test_a_failed_write_is_reported_once_and_raises_nothing(tmp_path: Path) -> None:
    for name in ("logs", "scripts"):
        (tmp_path / name).write_text("a file where the folder should be")
    session = logs(tmp_path)
    session.script("echo")
    for _ in range(3):
        session.cli.write({})
    session.close()
    session.cli.write({"after": "the end"})
    assert session.warnings == ("some entries could not be written to the logs: Not a directory",)


def test_a_disk_that_does_not_keep_up_loses_lines_and_not_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_files, "WAITING", 5)
    pipe = tmp_path / "logs" / "sessions" / SESSION / "clicalls.log"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)  # opening it for writing waits for a reader
    session = logs(tmp_path)
    for number in count():
        session.cli.write({"number": number})
        if session.warnings:
            break
    assert [warning.partition(": ")[2] for warning in session.warnings] == [
        "entries arrive faster than the disk can write them"
    ]
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb"):
        session.close()


def test_a_value_that_is_no_json_is_still_logged(tmp_path: Path) -> None:
    session = logs(tmp_path)
    session.cli.write({"path": Path("x"), "broken": "\ud800"})
    session.close()
    (line,) = text(tmp_path, "clicalls.log").splitlines()
    assert "PosixPath" in line
