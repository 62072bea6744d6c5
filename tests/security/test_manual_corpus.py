"""The policy against commands that were written from the manuals of the programs, not from the policy."""

from collections import Counter
from pathlib import Path

import pytest

from interlock.policy.verdict import ShellPolicy
from tests.security.manual_scene import make_manual_project, manual_corpus
from tests.security.policy_scene import corpus, shipped_policy

ROWS = manual_corpus()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_manual_project(tmp_path_factory.mktemp("manual"))


@pytest.fixture(scope="module")
def policy() -> ShellPolicy:
    return shipped_policy()


def test_the_corpus_is_new_and_wide() -> None:
    commands = {row["command"] for row in ROWS}
    assert (len(commands), len(commands) >= 1_000) == (len(ROWS), True)
    assert commands.isdisjoint(row["command"] for row in corpus())
    assert len(Counter(row["class"] for row in ROWS)) >= 10


def test_nothing_that_reads_secrets_leads_out_or_changes_something_is_allowed(
    policy: ShellPolicy, project: Path
) -> None:
    wrong = [
        row["command"]
        for row in ROWS
        if row["expect"] == "ask" and policy.script(row["command"], str(project)).verdict == "allow"
    ]
    assert wrong == []


def test_plain_inspection_needs_no_question(policy: ShellPolicy, project: Path) -> None:
    verdicts = {row["command"]: policy.script(row["command"], str(project)) for row in ROWS if row["expect"] == "allow"}
    assert {command: verdict.reason for command, verdict in verdicts.items() if verdict.verdict != "allow"} == {}
