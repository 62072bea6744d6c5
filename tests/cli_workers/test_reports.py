"""What agents print, in each format: the answer, the session, the usage, the failure. Garbage is skipped."""

import json
from typing import Any

import pytest

from interlock.cli_workers.profile import Output
from interlock.cli_workers.reports import Listeners, Report, report_of
from interlock.domain.values.budgets import Usage

CODEX: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "0198-a"},
    {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "All done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7}},
]
GEMINI: list[dict[str, Any]] = [
    {"type": "init", "session_id": "9f", "model": "gemini-x"},
    {"type": "message", "role": "assistant", "content": "Let me see.", "delta": True},
    {"type": "tool_use", "tool_name": "replace", "parameters": {"file_path": "a"}},
    {"type": "message", "role": "assistant", "content": "All ", "delta": True},
    {"type": "message", "role": "assistant", "content": "done.", "delta": True},
    {"type": "result", "status": "success", "stats": {"input_tokens": 100, "cached": 40, "output_tokens": 7}},
]
CLAUDE: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "c-1", "model": "claude-x"},
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}},
    {
        "type": "result",
        "result": "All done.",
        "session_id": "c-1",
        "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 7},
        "total_cost_usd": 0.5,
    },
]


def read(output: Output, content: bytes, size: int = 7) -> tuple[Report, list[str], list[str]]:
    said, tools = list[str](), list[str]()
    report, feed = report_of(output, Listeners(said.append, tools.append))
    for start in range(0, len(content), size):
        feed.feed(content[start : start + size])
    feed.end()
    return report, said, tools


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize(
    ("output", "rows", "session", "cost"),
    [("codex", CODEX, "0198-a", 0), ("gemini", GEMINI, "9f", 0), ("claude", CLAUDE, "c-1", 500_000)],
)
def test_each_format_gives_answer_session_and_usage(
    output: Output, rows: list[dict[str, Any]], session: str, cost: int
) -> None:
    report, _, tools = read(output, lines(rows))
    assert (report.text, report.session, report.ended, report.failure) == ("All done.", session, True, "")
    assert report.usage == Usage(60, 7, 40, 0, cost)
    assert len(tools) == 1


@pytest.mark.parametrize(
    ("output", "row", "why"),
    [
        ("codex", {"type": "turn.failed", "error": {"message": "no credit"}}, "no credit"),
        ("gemini", {"type": "result", "status": "error", "error": {"message": "no credit"}}, "no credit"),
        ("claude", {"type": "result", "is_error": True, "result": "no credit"}, "no credit"),
    ],
)
def test_a_reported_error_is_the_failure(output: Output, row: dict[str, Any], why: str) -> None:
    assert read(output, lines([row]))[0].failure == why


@pytest.mark.parametrize("output", ["codex", "gemini", "claude"])
def test_garbage_is_skipped_and_a_report_without_an_end_has_none(output: Output) -> None:
    bad: list[Any] = [{"type": "result", "usage": 5, "result": 7, "stats": []}, {"type": "item.completed", "item": "x"}]
    garbage = b"\xff\xfe\n[]\n5\n{\n" + b"[" * 10_000 + b"\n" + lines([row for row in bad if row["type"] != "result"])
    report = read(output, garbage, size=1000)[0]
    assert (report.text, report.ended, report.usage) == ("", False, Usage())
    assert isinstance(read(output, lines(bad))[0].text, str)


def test_an_endless_line_is_dropped_and_the_next_one_counts() -> None:
    report, _, _ = read("codex", b'{"a": "' + b"x" * 20_000_000 + b'"}\n' + lines(CODEX), size=1 << 20)
    assert report.text == "All done."


def test_plain_text_is_the_answer() -> None:
    report, said, _ = read("text", "Gemacht: ✓".encode(), size=100)
    assert (report.text, report.ended, "".join(said)) == ("Gemacht: ✓", True, "Gemacht: ✓")
