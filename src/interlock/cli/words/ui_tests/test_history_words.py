"""Arguments of the `interlock test …` commands that read and extend the test history; they need no window."""

import argparse
from collections.abc import Sequence
from typing import Any

from interlock.cli.words.commands import Commands, add_command

CATEGORIES = ["grpc", "unit", "integration", "e2e"]


class _FormatAction(argparse.Action):
    """`--format json` and `--output json` mean `--json`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        namespace.json = values == "json"


def add_format_option(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        "--format",
        "--output",
        action=_FormatAction,
        default=argparse.SUPPRESS,
        choices=[default, "json"],
        help=f"(default: {default}; json is --json)",
    )


def add_history_commands(group: Commands) -> None:
    _add_status(group)
    _add_results(group)
    _add_list(group)
    _add_ingest(group)


def _add_status(group: Commands) -> None:
    command = add_command(
        group,
        "status",
        "serve.harness:status",
        "print the status of a test; exit 0 passed, 1 failed, 3 timeout, 4 unknown",
        "interlock test status --test-id grpc_click_10482913",
    )
    _add_test_id(command)
    command.add_argument("--follow", action="store_true", help="wait until the test has ended")
    add_format_option(command, "text")


def _add_results(group: Commands) -> None:
    command = add_command(
        group,
        "results",
        "records.test_history:results",
        "print everything about a test as YAML; exit codes as for status",
        "interlock test results --test-id unit_20771043 --include-logs",
        "interlock test results --test-id unit_20771043 --format json",
    )
    _add_test_id(command)
    command.add_argument("--include-logs", action="store_true", help="add the test's logs")
    add_format_option(command, "yaml")


def _add_list(group: Commands) -> None:
    command = add_command(
        group,
        "list",
        "records.test_history:list_",
        "list finished tests, the latest first, with counts and flake rate per name",
        "interlock test list --category grpc --status failed",
    )
    command.add_argument("--category", choices=CATEGORIES)
    command.add_argument("--status", type=str.lower, choices=["passed", "failed", "timeout"], help="only this status")
    command.add_argument(
        "--limit", "--page-size", type=int, default=0, metavar="N", help="rows per page (default: 100; at most 500)"
    )
    command.add_argument("--page-token", default="", metavar="T", help="continue after the page that printed this")
    add_format_option(command, "table")


def _add_ingest(group: Commands) -> None:
    command = add_command(
        group,
        "ingest",
        "records.test_history:ingest",
        "record the results of another test tool (JUnit XML)",
        "interlock test ingest junit.xml  # after: pytest --junit-xml junit.xml",
        "interlock test ingest --category e2e playwright.xml",
    )
    command.add_argument("file", metavar="FILE", help="JUnit XML; - is stdin")
    command.add_argument("--category", choices=CATEGORIES[1:], default="unit", help="(default: unit)")
    command.add_argument("--again", action="store_true", help="also if exactly this file is already recorded")
    add_format_option(command, "text")


def _add_test_id(command: argparse.ArgumentParser) -> None:
    command.add_argument("--test-id", required=True, metavar="ID", help="such as grpc_click_10482913")
