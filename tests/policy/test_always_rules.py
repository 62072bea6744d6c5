"""“Always allow this”: the narrowest rule, and the file that stores it."""

from pathlib import Path

import pytest

from interlock.errors import Misconfigured, Rejected
from interlock.policy.always_rules import append_rule, free_name, narrowest_rule, tool_rule
from interlock.policy.reading.words import Word
from interlock.policy.rule_files import read_rules

RULE = '[[policy]]\nname = "always-1"\nverdict = "allow"\nexactly = "npm run lint"\nmatch = ["npm run lint"]\n'


def test_the_rule_allows_exactly_that_command() -> None:
    assert narrowest_rule("npm run lint\n", "always-1") == RULE
    (rule,) = read_rules(narrowest_rule('make "a \\" b"', "x"), "config.toml", "user")
    assert rule.exactly == (Word("make"), Word('a " b'))


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("a; b", "it is more than one command"),
        ("a *.py", "a pattern in it may match other files later"),
        ("a $x", "it expands a variable"),
        ("a > b", "it writes to a file"),
        ("bash -c a", "bash runs another command"),
        ("timeout 5 a", "timeout runs another command"),
        ("a (", "it does not parse"),
        ("", "it is not plain enough"),
        ("a [b]", "it is not plain enough"),
    ],
)
def test_without_a_narrow_rule_the_reason_is_given(script: str, why: str) -> None:
    with pytest.raises(Rejected, match=why.replace("(", r"\(")):
        narrowest_rule(script, "x")


@pytest.mark.parametrize("before", ["", "# mine\n[gates]\ntimeout_s = 5", "a = 1\r\n# é\r\n"])
def test_everything_else_in_the_file_stays_byte_for_byte(tmp_path: Path, before: str) -> None:
    file = tmp_path / "config" / "config.toml"
    if before:
        file.parent.mkdir()
        file.write_bytes(before.encode())
        file.chmod(0o640)
    append_rule(file, RULE)
    append_rule(file, RULE.replace("always-1", "always-2"))
    assert file.read_bytes().startswith(before.encode())
    assert [rule.name for rule in read_rules(file.read_text(), "config.toml", "user")] == ["always-1", "always-2"]
    assert file.stat().st_mode & 0o777 == (0o640 if before else 0o600)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("")
    link = tmp_path / "config.toml"
    link.symlink_to("real.toml")
    append_rule(link, RULE)
    assert (link.is_symlink(), (tmp_path / "real.toml").read_text()) == (True, RULE)


def test_a_file_where_it_cannot_stand_at_the_end_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("policy = []\n")
    with pytest.raises(Misconfigured, match="add it by hand"):
        append_rule(file, RULE)
    assert file.read_text() == "policy = []\n"


def test_names_count_up() -> None:
    assert free_name({"always-1", "always-2"}.__contains__) == "always-3"


def test_a_tool_that_contacts_a_host_is_allowed_for_that_host_only() -> None:
    assert tool_rule("fetch_url", "always-1", ("docs.python.org",)) == (
        '[[policy]]\nname = "always-1"\nverdict = "allow"\ntool = "fetch_url"\n'
        'hosts = ["docs.python.org"]\nmatch = ["fetch_url docs.python.org"]\n'
    )
    with pytest.raises(Rejected):
        tool_rule("fetch_url", "always-1")
