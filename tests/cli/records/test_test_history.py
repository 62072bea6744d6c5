"""`interlock test …` on the history alone: no window, with and without a workbench."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from interlock.domain.checks.test_history_texts import fit
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.values.test_history import Assertion, Execution
from interlock.journal.blobs import Blobs
from interlock.journal.sqlite import SqliteJournal
from tests.cli.project import CommandResult, Project
from tests.domain.given import Bench
from tests.domain.runs import NOW_MS, ran

JUNIT = """<testsuite name="s" timestamp="2026-01-02T03:04:05Z"><testcase classname="t" name="ok" time="0.01"/>
<testcase classname="t" name="no" time="0.02"><failure message="1 != 2">{trace}</failure></testcase>
<testcase classname="t" name="later"><skipped/></testcase></testsuite>"""


def remembering(project: Project, *executions: Execution) -> None:
    """A journal with these tests; long texts are stored as blobs."""
    folder = project.root / ".interlock"
    assert project.run("init").code == 0
    bench = Bench()
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    for execution in executions:
        fitted = fit(execution)
        if fitted.text is not None:
            Blobs(folder / "blobs").put(fitted.text)
        bench.send(RecordTests((fitted.execution,)), at=now)
    journal = SqliteJournal(folder)
    journal.append(bench.records)
    journal.close()


def test_a_status_prints_the_outcome_and_exits_with_its_code(project: Project) -> None:
    failed = ran(2, "failed", error_message="no such widget", assertions=(Assertion("title", False, "a", "b"),))
    remembering(project, ran(1), failed, ran(3, "timeout"))
    result = project.run("test", "status", "--test-id", "grpc_click_10000002", "--follow")
    assert result.code == 1
    assert result.out.splitlines() == [
        "Test ID: grpc_click_10000002",
        "Status: FAILED",
        "Execution Time: 10 ms",
        "Queued: 2026-01-01T00:00:02Z",
        "Started: 2026-01-01T00:00:02Z",
        "Completed: 2026-01-01T00:00:02Z",
        "Error: no such widget",
        "Assertion failed: title: expected 'a', was 'b'",
    ]
    codes = [project.run("test", "status", "--test-id", f"grpc_click_1000000{n}").code for n in (1, 3)]
    assert codes == [0, 3]
    result = project.run("test", "status", "--test-id", "grpc_click_10000009")
    assert (result.code, result.out) == (4, "Test ID: grpc_click_10000009\nStatus: UNKNOWN\n")
    as_json = project.run("test", "status", "--test-id", "grpc_click_10000003", "--output", "json")
    assert (as_json.code, as_json.json["status"], as_json.json["started_at_ms"]) == (3, "TIMEOUT", NOW_MS + 3_001)
    result = project.run("test", "status", "--test-id", "x_10000000", "--json")
    assert (result.code, result.json["status"]) == (4, "UNKNOWN")


def test_results_are_the_same_as_yaml_and_as_json_however_strange_and_long(project: Project) -> None:
    strange = ("12", "null", "2026-01-01", "a: b", "- x", "日本\n語", "tab\there", "\x1b[31mred", "")
    failed = ran(
        1,
        "failed",
        "Assert: text_contains:a:b",
        error_message="first line\n  second: line\n",
        assertions=tuple(Assertion(each, False, each, each, each) for each in strange),
        logs=(*strange, *(f"line {number}" for number in range(2_000))),
        metrics=(("frames: n", 3), ("12", 4)),
        screenshot_path=".interlock/artifacts/a.png",
        widget_tree="window Inbox\n  button Approve",
    )
    remembering(project, failed)
    words = ("test", "results", "--test-id", "grpc_click_10000001", "--include-logs")
    plain, spelled = project.run(*words), project.run(*words, "--format", "yaml")
    assert (plain.code, plain.out) == (1, spelled.out)
    results = [project.run(*words, *way) for way in (("--json",), ("--format", "json"), ("--output=json",))]
    assert [each.code for each in results] == [1, 1, 1]
    assert yaml.safe_load(plain.out) == results[0].json == results[1].json == results[2].json
    assert results[0].json["logs"] == list(failed.logs), "including texts that are stored as blobs"
    assert "logs: []" in project.run(*words[:-1]).out
    for blob in (project.root / ".interlock" / "blobs").iterdir():
        blob.unlink()
    assert project.run(*words, "--json").json["logs"][-1] == "line 1999", "the shortened texts of the journal are left"
    unknown = project.run("test", "results", "--test-id", "grpc_click_10000009", "--json")
    assert (unknown.code, unknown.json["kind"]) == (4, "NotFound")


def test_a_list_is_a_table_in_pages(project: Project) -> None:
    result = project.run("test", "list")
    assert (result.code, result.out) == (0, "no tests; 'interlock test ingest junit.xml' records some\n")
    outcomes = ["passed"] * 7 + ["failed", "timeout", "failed"]
    remembering(project, *(ran(number, status) for number, status in enumerate(outcomes, 1)))
    result = project.run("test", "list", "--limit", "4", "--category", "grpc")
    lines = result.out.splitlines()
    assert (result.code, len(lines)) == (0, 6)
    assert " ".join(lines[0].split()) == "TEST ID STATUS CATEGORY NAME WHEN RUNS PASS FAIL AVERAGE FLAKE"
    row = "✗ grpc_click_10000010 FAILED grpc Click: Save 2026-01-01T00:00:10Z 10 7 3 10 ms 30%"
    assert " ".join(lines[1].split()) == row
    assert lines[-1].startswith("of 10; more: --page-token ")
    next_page = project.run("test", "list", "--category", "grpc", "--page-token", lines[-1].split()[-1], "--json")
    assert [row["test_id"][-2:] for row in next_page.json["tests"]] == ["06", "05", "04", "03", "02", "01"]
    assert project.run("test", "list", "--status", "TIMEOUT", "--json").json["total_count"] == 1
    assert project.run("test", "list", "--category", "unit").out == "no tests like that\n"
    for wrong in (("--limit", "-1"), ("--page-token", "nonsense")):
        result = project.run("test", "list", *wrong, "--json")
        assert (result.code, result.json["kind"]) == (1, "BadValue")


def test_an_empty_prompt_is_a_mistake_in_the_arguments(project: Project) -> None:
    result = project.run("test", "run", "--prompt", "  ")
    assert (result.code, result.err) == (
        2,
        'interlock test run: the prompt is empty: try "Open Inbox and verify it loads"\n',
    )


def test_a_click_on_nothing_is_a_mistake_in_the_words_also_without_a_window(project: Project) -> None:
    result = project.run("test", "click", "--json")
    assert (result.code, result.json["kind"]) == (2, "Usage")
    assert project.run("test", "click", "btn_reset").code == 5


def ingested(project: Project, *words: str, trace: str = "trace") -> CommandResult:
    file = project.home / "junit.xml"
    file.write_text(JUNIT.format(trace=trace))
    return project.run("test", "ingest", str(file), *words)


def test_another_tools_results_are_recorded_once(project: Project) -> None:
    result = ingested(project, "--category", "integration", "--json", trace="x" * 9_000 + " sk-0123456789abcdef0123")
    assert result.code == 0, result
    summary = result.json
    assert (summary["recorded"], summary["passed"], summary["failed"], summary["skipped"]) == (2, 1, 1, 1)
    assert all(each.startswith("integration_") and len(each) == 20 for each in summary["test_ids"])
    shown = project.run("test", "results", "--test-id", summary["test_ids"][1], "--json")
    assert shown.code == 1
    assert shown.json["error_message"].endswith("[redacted]")
    assert len(shown.json["error_message"]) > 9_000
    again = ingested(project, "--category", "integration", trace="x" * 9_000 + " sk-0123456789abcdef0123")
    assert (again.code, "--again" in again.err) == (1, True)
    assert ingested(project, "--again", trace="x" * 9_000 + " sk-0123456789abcdef0123").code == 0
    assert ingested(project, trace="another").code == 0
    listed = project.run("test", "list", "--json").json
    assert listed["total_count"] == 6
    assert {row["name"]: row["total_runs"] for row in listed["tests"] if row["category"] == "unit"} == {
        "t.ok": 2,
        "t.no": 2,
    }


def test_what_is_no_report_is_refused_and_leaves_no_trace(project: Project) -> None:
    project.write("evil.xml", '<!DOCTYPE a [<!ENTITY b "c">]><testsuite><testcase name="&b;"/></testsuite>')
    project.write("empty.xml", "<testsuites/>")
    for words, sentence in (
        (("evil.xml",), "document type or entities"),
        (("empty.xml",), "holds no tests"),
        (("missing.xml",), "cannot be read"),
        (("-",), "not XML"),
        ((".",), "cannot be read"),
    ):
        result = project.run("test", "ingest", *words, "--json")
        assert result.code == 1, result
        assert sentence in result.json["error"]
    assert not (project.root / ".interlock" / "journal.db").exists()


def test_a_project_in_use_takes_them_through_its_holder(project: Project) -> None:
    holder = project.start("serve", "--port", "0", "--json")
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        result = ingested(project, "--json")
        assert result.code == 0, result
        assert project.run("test", "list", "--json").json["total_count"] == 2
    finally:
        holder.kill()
        holder.communicate()


def test_the_history_is_there_after_kill_9(project: Project) -> None:
    recorded: list[str] = []
    for number in range(3):
        holder = project.start("serve", "--port", "0", "--json")
        assert holder.stdout is not None
        assert holder.stdout.readline()
        recorded += ingested(project, "--json", trace=f"trace {number}").json["test_ids"]
        holder.kill()
        holder.communicate()
    listed = project.run("test", "list", "--json").json
    assert [row["test_id"] for row in reversed(listed["tests"])] == recorded
    assert (listed["tests"][0]["total_runs"], project.run("journal", "verify").code) == (3, 0)


def test_250_are_three_pages_while_another_process_adds_some(project: Project) -> None:
    remembering(project, *(ran(number) for number in range(1, 251)))
    seen: list[str] = []
    sizes: list[int] = []
    token = ""
    while not sizes or token:
        page: dict[str, Any] = project.run("test", "list", "--json", "--page-token", token).json
        sizes.append(len(page["tests"]))
        seen += [row["test_id"] for row in page["tests"]]
        token = page["next_page_token"]
        assert ingested(project, trace=str(len(seen))).code == 0
    assert sizes == [100, 100, 50]
    assert seen == [f"grpc_click_{10_000_000 + number}" for number in range(250, 0, -1)]


@pytest.mark.parametrize("words", [("list",), ("status", "--test-id", "x_10000000"), ("ingest", "x.xml")])
def test_wrong_arguments_are_json_with_json_output(project: Project, words: tuple[str, ...]) -> None:
    for way in (("--json",), ("--format", "json"), ("--output=json",)):
        result = project.run("test", *words, *way, "--nonsense")
        assert (result.code, json.loads(result.out)["kind"]) == (2, "Usage")
