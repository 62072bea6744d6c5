"""The policy against a corpus of tricks: no trick is allowed, plain inspection is."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from interlock.policy.reading.shell_ast import parse
from interlock.policy.verdict import ShellPolicy
from tests.security.policy_scene import corpus, make_project, shipped_policy

CORPUS = corpus()
HARMLESS = [row for row in CORPUS if row.get("expect") == "allow"]
TRICKS = [row for row in CORPUS if row.get("expect") != "allow"]
SEPARATORS = ["; ", " && ", " || ", " | ", " & ", "\n", " |& ", "\r\n", " ;", "&&", "|", "\n\n", " # \n"]
NOT_ALLOWED = ["rm x", "touch x", "curl example.org", "cat .env", "./x", "python3 x.py", "cat /etc/passwd", "git push"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def policy() -> ShellPolicy:
    return shipped_policy()


def test_the_corpus_is_wide() -> None:
    assert len(TRICKS) >= 200
    assert len(HARMLESS) >= 100
    assert len(Counter(row["class"] for row in TRICKS)) >= 15
    assert len({row["command"] for row in CORPUS}) == len(CORPUS)


def test_no_trick_is_allowed(policy: ShellPolicy, project: Path) -> None:
    allowed = [row["command"] for row in TRICKS if policy.script(row["command"], str(project)).verdict == "allow"]
    assert allowed == []


def test_harmful_commands_are_denied(policy: ShellPolicy) -> None:
    """Uses a folder outside the scratch folders, like every worktree."""
    verdicts = {
        row["command"]: policy.script(row["command"], "/project").verdict
        for row in CORPUS
        if row.get("expect") == "deny"
    }
    assert {command for command, verdict in verdicts.items() if verdict != "deny"} == set()


def test_plain_inspection_is_allowed(policy: ShellPolicy, project: Path) -> None:
    verdicts = {row["command"]: policy.script(row["command"], str(project)) for row in HARMLESS}
    assert {command: verdict.reason for command, verdict in verdicts.items() if verdict.verdict != "allow"} == {}


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(HARMLESS), st.sampled_from(SEPARATORS), st.sampled_from(NOT_ALLOWED), st.booleans())
def test_nothing_becomes_allowed_by_standing_beside_something_that_is(
    policy: ShellPolicy, project: Path, harmless: dict[str, Any], separator: str, other: str, first: bool
) -> None:
    command = harmless["command"]
    if "#" in command and not first and "\n" not in separator:
        command = "ls"  # text after a comment sign belongs to the comment
    script = f"{other}{separator}{command}" if first else f"{command}{separator}{other}"
    if first and separator == " # \n":
        script = f"{other}\n{command}"
    assert policy.script(script, str(project)).verdict != "allow"


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200) | st.text(alphabet="ls rm\"'`$(){}[]<>|&;\\#~*?!=\n-./x", max_size=80))
@example("$(" * 2_000)
@example("\ud800")
@example("{\U000fcc50{")  # crashed the grammar's scanner
def test_no_text_makes_the_parser_or_the_policy_fail(policy: ShellPolicy, text: str) -> None:
    parse(text)
    assert policy.script(text, "/project").verdict in ("allow", "ask", "deny")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ls caterm\"'$(){}<>|&;\\#~*\n-./x", max_size=40))
def test_allowed_scripts_use_only_known_programs(policy: ShellPolicy, text: str) -> None:
    if policy.script(text, "/project").verdict == "allow":
        programs = {command.words[0].text.rsplit("/", 1)[-1] for command in parse(text).commands}
        assert programs <= {"ls", "cat", "tr", "cd", "tac"}


def test_a_script_is_only_read_up_to_a_length(policy: ShellPolicy) -> None:
    assert policy.script("ls " + "a" * 20_000, "/project").reason == "it has more than 10,000 characters"
    assert policy.script("ls;" * 200, "/project").reason == "it has more than 100 commands"
