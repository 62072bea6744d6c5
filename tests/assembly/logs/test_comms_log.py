"""Messages to and from models are logged without secrets, and logging never delays the work."""

import json
from itertools import count
from pathlib import Path

from interlock.assembly.logs.session_logs import SessionLogs
from interlock.assembly.secrets.redaction import redactor
from interlock.domain.values.budgets import Usage
from interlock.ports.model import Message, ModelRequest

KEY = "sk-" + "a1B2" * 6


def log(folder: Path) -> SessionLogs:
    seconds = count()
    return SessionLogs(folder, lambda: f"2026-01-01T00:00:{next(seconds):02d}.000000Z", redactor({}))


def lines(folder: Path) -> list[dict[str, object]]:
    (file,) = (folder / "logs" / "sessions").glob("*/comms.log")
    return [json.loads(line) for line in file.read_text().splitlines()]


def request(*texts: str) -> dict[str, object]:
    messages = tuple(Message("user", text) for text in texts)
    return {"key": "Tier 1", "request": ModelRequest("Tier 1", None, None, "be good", messages, ())}


def test_each_message_is_one_line_without_secrets(tmp_path: Path) -> None:
    session = log(tmp_path)
    session.comms.write("OUT", "request", "scripted", "m", request(f"use {KEY}"))
    session.comms.write(
        "IN", "response", "scripted", "m", {"message": Message("assistant", "ok"), "usage": Usage(1, 2)}
    )
    session.close()
    sent, got = lines(tmp_path)
    assert sent == {
        "ts": "2026-01-01T00:00:00.000000Z",
        "direction": "OUT",
        "kind": "request",
        "provider": "scripted",
        "model": "m",
        "payload": {
            "key": "Tier 1",
            "request": {
                "model": None,
                "tools": [],
                "system": "be good",
                "context": "",
                "messages_before": 0,
                "messages": [{"role": "user", "text": "use [redacted]"}],
            },
        },
    }
    assert got["payload"] == {
        "message": {"role": "assistant", "text": "ok"},
        "usage": {"input": 1, "output": 2, "cache_read": 0, "cache_write": 0, "cost": 0},
    }
    (folder,) = (tmp_path / "logs" / "sessions").iterdir()
    assert folder.name.startswith("20260101_0000")


def test_a_request_logs_only_messages_that_are_not_logged_yet(tmp_path: Path) -> None:
    session = log(tmp_path)
    for texts in (("one",), ("one", "two"), ("one", "two", "three"), ("anew",)):
        session.comms.write("OUT", "request", "p", "m", request(*texts))
    session.close()
    requests = [line["payload"]["request"] for line in lines(tmp_path)]  # type: ignore[index]
    assert [[m["text"] for m in each["messages"]] for each in requests] == [["one"], ["two"], ["three"], ["anew"]]
    assert [each["messages_before"] for each in requests] == [0, 1, 2, 0]


def test_without_entries_there_is_no_log_and_an_unwritable_folder_raises_nothing(tmp_path: Path) -> None:
    quiet = log(tmp_path)
    quiet.close()
    assert not (tmp_path / "logs").exists()
    (tmp_path / "logs").write_text("a file where the folder should be")
    session = log(tmp_path)
    session.comms.write("IN", "response", "p", "m", {"error": "x"})
    session.close()
    assert (tmp_path / "logs").read_text() == "a file where the folder should be"
