"""The words of `interlock test …`. Only argparse here: handlers are named, not imported.

Verbs that need no window are in `history_words`; those that drive one in `harness_words.driving_words`.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

Command = Callable[..., argparse.ArgumentParser]
"""Adds a command to a group: its name, its handler, what it does, examples."""

CATEGORIES = ["grpc", "unit", "integration", "e2e"]


class _Form(argparse.Action):
    """`--format json` and `--output json` are `--json`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        namespace.json = values == "json"


def forms(made: argparse.ArgumentParser, usual: str) -> None:
    """Beside `--json`: the two other ways to say it. `usual` is what is printed otherwise."""
    made.add_argument(
        "--format", "--output", action=_Form, choices=[usual, "json"], help=f"(default: {usual}; json is --json)"
    )


def history_words(group: Any, command: Command) -> None:
    made = command(
        group,
        "status",
        "serve.harness:status",
        "how a test ended; exit 0 passed, 1 failed, 3 timeout, 4 unknown",
        "  interlock test status --test-id grpc_click_10482913",
    )
    _one(made)
    made.add_argument("--follow", action="store_true", help="wait until it has ended")
    forms(made, "text")
    made = command(
        group,
        "results",
        "records.test_history:results",
        "everything about a test, as YAML; exit codes as of status",
        "  interlock test results --test-id unit_20771043 --include-logs\n"
        "  interlock test results --test-id unit_20771043 --format json",
    )
    _one(made)
    made.add_argument("--include-logs", action="store_true", help="with its logs")
    forms(made, "yaml")
    made = command(
        group,
        "list",
        "records.test_history:list_",
        "tests that ran, the latest first, with counts and flake rate by name",
        "  interlock test list --category grpc --status failed",
    )
    made.add_argument("--category", choices=CATEGORIES)
    made.add_argument(
        "--status", type=str.lower, choices=["passed", "failed", "timeout"], help="only those that ended so"
    )
    made.add_argument(
        "--limit", "--page-size", type=int, default=0, metavar="N", help="rows of a page (default: 100; at most 500)"
    )
    made.add_argument("--page-token", default="", metavar="T", help="go on where the page before ended")
    forms(made, "table")
    made = command(
        group,
        "ingest",
        "records.test_history:ingest",
        "record the results of another tool (JUnit XML)",
        "  pytest --junit-xml junit.xml; interlock test ingest junit.xml\n"
        "  interlock test ingest --category e2e playwright.xml",
    )
    made.add_argument("file", metavar="FILE", help="JUnit XML; - is stdin")
    made.add_argument("--category", choices=CATEGORIES[1:], default="unit", help="(default: unit)")
    made.add_argument("--again", action="store_true", help="also if exactly this file was recorded before")
    forms(made, "text")


def _one(made: argparse.ArgumentParser) -> None:
    made.add_argument("--test-id", required=True, metavar="ID", help="such as grpc_click_10482913")
