"""The folders in which the commands of a script may run."""

from pathlib import Path

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy.folders import located
from interlock.policy.paths import place_at
from interlock.policy.reading.shell_ast import parse
from tests.security.policy_scene import shipped_policy


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a/b", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "x").write_text("")
    return tmp_path


def folders(root: Path, script: str) -> dict[str, set[str]]:
    """For each `pwd N`, the folders in which it may run."""
    found: dict[str, set[str]] = {}
    for command, places in located(parse(script), place_at(str(root), "/users/me", ClosedNames().refusal)):
        if command.words and command.words[0].text == "pwd":
            found[command.words[1].text] = {str(Path(place.cwd).relative_to(root)) for place in places}
    return found


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("cd a && pwd 1", {"1": {"a"}}),
        ("cd a; pwd 1", {"1": {".", "a"}}),
        ("cd a || pwd 1", {"1": {"."}}),
        ("cd a || pwd 1; pwd 2", {"1": {"."}, "2": {".", "a"}}),
        ("true || cd a && pwd 1", {"1": {".", "a"}}),
        ("true && cd a || pwd 1", {"1": {"."}}),
        ("ls | cd a && pwd 1", {"1": {".", "a"}}),
        ("cd a | pwd 1", {"1": {"."}}),
        ("cd a && cd b && pwd 1", {"1": {"a/b"}}),
        ("cd a && cd b; pwd 1", {"1": {".", "a", "a/b"}}),
        ("cd a && pwd 1 | pwd 2 && pwd 3", {"1": {"a"}, "2": {"a"}, "3": {"a"}}),
        ("bash -c 'cd a && pwd 1' && pwd 2", {"1": {"a"}, "2": {"."}}),
        ("cd a && bash -c 'cd b && pwd 1; pwd 2' && pwd 3", {"1": {"a/b"}, "2": {"a", "a/b"}, "3": {"a"}}),
        ("timeout 5 cd a && pwd 1", {"1": {".", "a"}}),
        ("(cd a; pwd 1); pwd 2", {"1": {".", "a"}, "2": {".", "a"}}),
    ],
)
def test_every_folder_that_may_be_in_effect_counts(root: Path, script: str, expected: dict[str, set[str]]) -> None:
    assert folders(root, script) == expected


@pytest.mark.parametrize(
    "script",
    [
        "true || cd a && cat ../x",
        "ls | cd a && cat ../x",
        "cd a; cat ../x",
        "cd a || cat x",
        "cd nothing && ls",
        "cd a c && ls",
        "cd -- a && ls",
        "cd && ls",
        "cd - && ls",
        "bash -c 'cd a; ls'",
    ],
)
def test_a_folder_that_is_not_certain_asks(root: Path, script: str) -> None:
    assert shipped_policy().script(script, str(root)).verdict == "ask"


def test_a_command_is_allowed_if_it_is_in_every_possible_folder(root: Path) -> None:
    assert shipped_policy().script("true || cd a && ls", str(root)).verdict == "allow"
    assert shipped_policy().script("cd a && cat ../x", str(root)).verdict == "allow"
    assert shipped_policy().script("bash -c 'cd a && cat ../x' && cat x", str(root)).verdict == "allow"
