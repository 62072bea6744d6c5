"""The user's own rules: their use, and forgetting one without touching anything else."""

from pathlib import Path

import pytest

from interlock.errors import Misconfigured
from interlock.policy.experience.remembered import Place, described, forget, kept_rules
from interlock.policy.rule_files import read_rules
from interlock.views.rules.experience import RuleUse

ONE = '[[policy]]\nname = "one"\nverdict = "allow"\nexactly = "make a"\n'
TWO = (
    '[[policy]]  # mine\nname = "two"\nverdict = "allow"\ncommand = ["ruff check", "ruff format"]\n'
    'match = [\n  "ruff check",\n]\n'
)
THREE = '[[policy]]\nname = "three"\nverdict = "deny"\ntool = "write_file"\npaths = ["src/**"]\n'


def test_rules_are_numbered_over_both_files_with_their_use() -> None:
    here, everywhere = read_rules(ONE, "here", "user"), read_rules(TWO + THREE, "all", "user")
    days = ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z")
    uses = {"one": RuleUse(2, "2026-05-20T00:00:00Z")}
    found = kept_rules([(here, False), (everywhere, True)], uses, days)
    assert [place for _, place in found] == [Place(False, 0), Place(True, 0), Place(True, 1)]
    assert [(rule.number, rule.name, rule.answered, rule.stale) for rule, _ in found] == [
        (1, "one", 2, False),
        (2, "two", 0, True),
        (3, "three", 0, False),  # a rule that denies answers nothing by its nature
    ]
    assert [described(rule) for rule in (*here, *everywhere)] == [
        "exactly: make a",
        "ruff check, ruff format",
        "tool write_file on src/**",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_only_the_forgotten_rule_leaves_the_file(tmp_path: Path, end: str, position: int) -> None:
    file = tmp_path / "config.toml"
    parts = ["# mine\n[gates]\ntimeout_s = 9\n\n", ONE, TWO, THREE, "[workspace]\npath = []\n"]
    file.write_bytes("".join(parts).replace("\n", end).encode())
    file.chmod(0o640)
    forget(file, position)
    left = [part for number, part in enumerate(parts) if number != position + 1]
    assert file.read_bytes() == "".join(left).replace("\n", end).encode()
    assert file.stat().st_mode & 0o777 == 0o640


def test_the_last_rule_of_a_file_can_go(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(f"# Rules\n\n{ONE}")
    forget(file, 0)
    assert file.read_text() == "# Rules\n\n"


@pytest.mark.parametrize(
    "text",
    [
        'policy = [{ verdict = "allow", exactly = "a" }]\n',
        '[[policy]]\nverdict = "allow"\nexactly = "a"\nmatch = [\n[[policy]]\n',
        "[[policy]]\nverdict = 'allow'\nreason = '''\n[[policy]]\n'''\nexactly = 'a'\n",
    ],
)
def test_a_rule_that_cannot_be_cut_out_for_certain_stays(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(Misconfigured, match="remove it by hand"):
        forget(file, 0)
    assert file.read_text() == text
