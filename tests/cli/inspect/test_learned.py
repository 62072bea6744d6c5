"""`policy suggest`, `rules` and `forget` from the command line, on a journal of a whole epic."""

from pathlib import Path

import pytest

from interlock.journal.sqlite import SqliteJournal
from tests.cli.project import Project
from tests.policy.experience.scripted_epic import play


@pytest.fixture
def experienced(project: Project) -> Project:
    assert project.run("init").code == 0
    journal = SqliteJournal(project.root / ".interlock")
    journal.append(play(1, tickets=12).records)
    journal.close()
    return project


def rule_files(project: Project) -> list[Path]:
    return list((Path(project.env["XDG_STATE_HOME"]) / "interlock" / "rules").glob("*.toml"))


def test_a_suggestion_is_shown_accepted_used_and_forgotten(experienced: Project) -> None:
    found = experienced.run("policy", "suggest", "--json").json
    (pytest_rule,) = [one for one in found["offered"] if one["about"].startswith("pytest [")]
    assert len(pytest_rule["answers"]) >= 3
    assert experienced.run("policy", "check", "--", "pytest -q tests/test_new.py").out.startswith("ask")
    shown = experienced.run("policy", "suggest").out
    assert "none of the" in shown
    assert f"learned-pytest  {pytest_rule['about']}" in shown
    accepted = experienced.run("policy", "suggest", "--accept", str(pytest_rule["number"]))
    assert (accepted.code, pytest_rule["rule"].rstrip() in accepted.err) == (0, True), accepted
    assert accepted.out == "accepted: learned-pytest; 'interlock policy forget NAME' takes one back\n"
    assert experienced.run("policy", "check", "--", "pytest -q tests/test_new.py").out == "allow (learned-pytest)\n"
    assert experienced.run("policy", "check", "--", "pytest -p evil").out.startswith("ask")
    assert experienced.run("policy", "test").code == 0
    (rule,) = experienced.run("policy", "rules", "--json").json
    assert (rule["name"], rule["everywhere"], rule["answered"], rule["stale"]) == ("learned-pytest", False, 0, False)
    again = experienced.run("policy", "suggest", "--json").json
    assert "learned-pytest" not in [one["name"] for one in again["offered"]]
    assert experienced.run("policy", "forget", "1").out.startswith("forgot learned-pytest (pytest)")
    assert experienced.run("policy", "check", "--", "pytest -q tests/test_new.py").out.startswith("ask")
    assert experienced.run("policy", "rules").out.startswith("you have no rules of your own")


def test_all_suggestions_are_accepted_at_once_for_all_projects(experienced: Project) -> None:
    count = len(experienced.run("policy", "suggest", "--json").json["offered"])
    accepted = experienced.run("policy", "suggest", "--accept", "all", "--everywhere", "--json")
    assert len(accepted.json["accepted"]) == count
    assert rule_files(experienced) == []
    rules = experienced.run("policy", "rules", "--json").json
    assert [rule["everywhere"] for rule in rules] == [True] * count
    assert experienced.run("policy", "suggest", "--accept", "all").out == "there is nothing to accept\n"


def test_a_stale_rule_is_named(experienced: Project) -> None:
    experienced.settings('[[policy]]\nname = "old"\nverdict = "allow"\nexactly = "make old"\nsince = "2020-01-01"\n')
    listed = experienced.run("policy", "rules")
    assert listed.out.splitlines()[-1] == ("stale: old answered nothing for 30 days; 'interlock policy forget 1'")
    assert "stale: old" in experienced.run("policy", "suggest").out
    assert [rule["name"] for rule in experienced.run("policy", "suggest", "--json").json["stale"]] == ["old"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("suggest", "--accept", "99"), "there is no suggestion '99'"),
        (("suggest", "--accept", "1", "all"), "there is no suggestion 'all'"),
        (("suggest", "--everywhere"), "--everywhere says where the rules of --accept count"),
        (("suggest", "--min", "0"), "--min is a number from 1"),
        (("forget", "nothing"), "you have no rule 'nothing'"),
    ],
)
def test_a_wrong_choice_changes_nothing_and_says_what_to_do(
    experienced: Project, words: tuple[str, ...], sentence: str
) -> None:
    result = experienced.run("policy", *words)
    assert (result.code, sentence in result.err) == (1, True), result
    assert rule_files(experienced) == []


def test_a_project_without_answers_has_nothing_to_suggest(project: Project) -> None:
    assert project.run("init").code == 0
    assert project.run("policy", "suggest").out == "no rule to suggest from 0 answered questions\n"
