"""Patterns of the files that a tool changes."""

import pytest

from interlock.errors import Misconfigured
from interlock.policy.path_patterns import fits_path
from interlock.policy.rule_files import failed_examples, read_rules
from interlock.policy.rules import matches_tool


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("src/a.py", "src/**", True),
        ("src/a/b/c.py", "src/**", True),
        ("src/a/b/c.py", "src/**/c.py", True),
        ("src/c.py", "src/*.py", True),
        ("src/a/c.py", "src/*.py", False),
        ("src", "src/**", False),
        ("srcx/a.py", "src/**", False),
        ("a.py", "**", True),
        ("src/.env", "src/**", False),
        ("src/.a/b.py", "src/**", False),
        (".env", "*", False),
        (".env", ".e*", True),
        ("/src/a.py", "src/**", False),
        ("src/../.git/config", "src/**", False),
        ("src//a.py", "src/**", False),
        ('"src/a\\u0001.py"', "**", False),
    ],
)
def test_a_pattern_has_only_the_files_below_it(path: str, pattern: str, fits: bool) -> None:
    assert fits_path(path, [pattern]) is fits


def test_for_a_rule_that_denies_hidden_and_odd_paths_count_too() -> None:
    assert fits_path("src/.env", ["src/**"], hidden=True)
    assert fits_path("../x", ["src/**"], hidden=True)


def test_an_allowing_rule_with_paths_needs_all_files_and_a_denying_one_any() -> None:
    text = '[[policy]]\nverdict = "{}"\ntool = "edit_file"\npaths = ["src/**"]\n'
    (allow,) = read_rules(text.format("allow"), "x", "user")
    (deny,) = read_rules(text.format("deny"), "x", "user")
    for paths, allowed, denied in [
        (("src/a",), True, True),
        (("src/a", "b"), False, True),
        (("b",), False, False),
        ((), False, True),
    ]:
        assert (matches_tool(allow, "edit_file", paths), matches_tool(deny, "edit_file", paths)) == (allowed, denied)
    assert not matches_tool(allow, "write_file", ("src/a",))


def test_the_examples_of_a_rule_with_paths_are_a_tool_and_its_files() -> None:
    rule = (
        '[[policy]]\nverdict = "allow"\ntool = "edit_file"\npaths = ["src/**"]\n'
        'match = ["edit_file src/a.py"]\nnot_match = ["edit_file b.py", "edit_file", "write_file src/a.py"]\n'
    )
    assert failed_examples(read_rules(rule, "x", "user"), lambda _: None) == []
    (wrong,) = failed_examples(read_rules(rule.replace("src/a.py", "b.py", 1), "x", "user"), lambda _: None)
    assert wrong == "x:1: rule 'user-1' should match but does not: edit_file b.py"


def test_paths_without_a_tool_are_an_error() -> None:
    with pytest.raises(Misconfigured, match="'paths' are the files that a 'tool' changes"):
        read_rules('[[policy]]\nverdict = "allow"\ncommand = "x"\npaths = ["src/**"]\n', "x", "user")
