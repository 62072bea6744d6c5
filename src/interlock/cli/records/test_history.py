"""`interlock test status`, `results`, `list`, `ingest`: the test history, with or without a running workbench."""

import os
import sys
import time
from hashlib import sha256
from pathlib import Path
from secrets import randbelow
from typing import Any, Literal

from interlock.assembly.project import Project, keep_text, kept_text, read_state
from interlock.assembly.secrets.redaction import redactor
from interlock.cli.arguments import CommandArgs
from interlock.cli.records.junit import MOST_BYTES, executions, read_junit
from interlock.cli.terminal.exits import DONE, report
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.domain.checks.test_history_texts import fit, restored
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.rules.test_history_rules import check_new
from interlock.domain.values.test_history import HIGHEST, LOWEST, Category, Execution, History, SuiteReport, unused_id
from interlock.errors import BadValue, JournalCorrupt, JournalError, Misconfigured, NotFound
from interlock.views.display import one_line, safe
from interlock.views.test_history import Status, TestStatus, get_test, list_tests, results_of, utc_text
from interlock.wire import to_plain

EXITS: dict[Status, int] = {"PASSED": 0, "QUEUED": 0, "RUNNING": 0, "FAILED": 1, "TIMEOUT": 3, "UNKNOWN": 4}
COLOURS: dict[Status, str] = {"PASSED": "good", "FAILED": "bad", "TIMEOUT": "bad", "RUNNING": "running"}
SYMBOLS: dict[Status, str] = {"PASSED": "✓", "FAILED": "✗", "TIMEOUT": "⧗"}


class ResultsArgs(CommandArgs, frozen=True):
    test_id: str
    include_logs: bool


class ListArgs(CommandArgs, frozen=True):
    category: Category | None
    status: Literal["passed", "failed", "timeout"] | None
    limit: int
    page_token: str


class IngestArgs(CommandArgs, frozen=True):
    file: str
    category: Category
    again: bool


def say_status(status: TestStatus, *, as_json: bool) -> None:
    if as_json:
        say_json(to_plain(status))
        return
    say(f"Test ID: {safe(status.test_id)}")
    say(f"Status: {paint(status.status, COLOURS.get(status.status))}")
    if status.status == "UNKNOWN":
        return
    say(f"Execution Time: {status.execution_time_ms} ms")
    for name, at in (
        ("Queued", status.queued_at_ms),
        ("Started", status.started_at_ms),
        ("Completed", status.completed_at_ms),
    ):
        if at:
            say(f"{name}: {utc_text(at)}")
    if status.error_message:
        say(f"Error: {safe(status.error_message)}")
    for failure in status.assertion_failures:
        say(f"Assertion failed: {safe(failure)}")


def results(args: ResultsArgs) -> int:
    project = project_of(args)
    history = read_state(project).tests
    try:
        execution = get_test(history, args.test_id).execution
    except NotFound as error:
        report(error, as_json=args.json)
        return EXITS["UNKNOWN"]
    shown = results_of(history, _with_whole_texts(project, execution), include_logs=args.include_logs)
    if args.json:
        say_json(to_plain(shown))
    else:
        sys.stdout.write(as_yaml(to_plain(shown)))
    return EXITS[shown.status]


def as_yaml(value: Any) -> str:
    """Characters that could deceive on a terminal are escaped; then all others beyond ASCII are, too."""
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text if text.replace("\n", "").isprintable() else yaml.safe_dump(value, sort_keys=False)


def list_(args: ListArgs) -> int:
    history = read_state(project_of(args)).tests
    page = list_tests(history, args.category or "", args.status or "", args.limit, args.page_token)
    if args.json:
        say_json(to_plain(page))
        return DONE
    if not page.tests:
        say("no tests" + (" like that" if history.kept else "; 'interlock test ingest junit.xml' records some"))
        return DONE
    table(
        ("", "TEST ID", "STATUS", "CATEGORY", "NAME", "WHEN", "RUNS", "PASS", "FAIL", "AVERAGE", "FLAKE"),
        [
            (
                SYMBOLS[row.last_status],
                row.test_id,
                row.last_status,
                row.category,
                one_line(row.name, 70),
                utc_text(row.last_run_timestamp_ms),
                str(row.total_runs),
                str(row.pass_count),
                str(row.fail_count),
                f"{row.average_duration_ms} ms",
                f"{row.flake_rate:.0%}" if row.flake_rate else "",
            )
            for row in page.tests
        ],
        [COLOURS.get(row.last_status) for row in page.tests],
    )
    if page.next_page_token:
        say(paint(f"of {page.total_count:,}; more: --page-token {page.next_page_token}", "dim"))
    return DONE


def ingest(args: IngestArgs) -> int:
    project = project_of(args)
    content, name = _read(args.file)
    digest = sha256(content).hexdigest()
    try:
        cases = read_junit(content)
    except BadValue as error:
        raise BadValue(f"{name}: {error}") from None
    if not cases:
        raise BadValue(f"{name} holds no tests")
    redact = redactor(os.environ)
    with open_session(project) as session:
        if not args.again:
            check_new(session.state, digest)
        ids = _Ids(session.state.tests, args.category)
        runs: list[Execution] = []
        for execution in executions(cases, args.category, time.time_ns() // 1_000_000, ids.new):
            fitted = fit(execution, redact)
            if fitted.text is not None:
                keep_text(project, fitted.text)
            runs.append(fitted.execution)
        skipped = len(cases) - len(runs)
        session.submit(RecordTests(tuple(runs), SuiteReport(digest, name, len(runs), skipped), again=args.again))
    failed = [run for run in runs if run.status != "passed"]
    if args.json:
        say_json(
            {
                "file": name,
                "sha256": digest,
                "category": args.category,
                "recorded": len(runs),
                "passed": len(runs) - len(failed),
                "failed": len(failed),
                "skipped": skipped,
                "test_ids": [run.test_id for run in runs],
            }
        )
        return DONE
    passed = len(runs) - len(failed)
    say(
        f"recorded {len(runs):,} from {safe(name)}: {passed:,} passed, {len(failed):,} failed; {skipped:,} were skipped"
    )
    for run in failed[:20]:
        say(f"  {paint(SYMBOLS['FAILED'], 'bad')} {run.test_id}  {one_line(run.name, 90)}")
    return DONE


class _Ids:
    def __init__(self, history: History, prefix: str) -> None:
        self._history = history
        self._prefix = prefix
        self._given: set[str] = set()

    def new(self) -> str:
        while (test_id := unused_id(self._history, self._prefix, _draw)) in self._given:
            pass
        self._given.add(test_id)
        return test_id


def _draw() -> int:
    return LOWEST + randbelow(HIGHEST - LOWEST + 1)


def _with_whole_texts(project: Project, execution: Execution) -> Execution:
    if execution.whole is None:
        return execution
    try:
        return restored(execution, kept_text(project, execution.whole.sha256))
    except JournalCorrupt:
        raise  # an altered text is an error, not a missing one
    except JournalError:  # the blob was removed: use the part that the journal holds
        return execution


def _read(path: str) -> tuple[bytes, str]:
    """At most MOST_BYTES + 1 bytes of the file, and its name."""
    if path == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1), "stdin"
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1), Path(path).name
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None
