"""The tables of options agree with the manuals of the programs that are installed here."""

import re
import shutil
import subprocess
from functools import cache

import pytest

from interlock.policy.flags import ANYTHING
from interlock.policy.rules import Rule
from interlock.policy.sources import shipped_rules

# Names of one program: they share a table.
_SAME = ({"grep", "egrep", "fgrep"}, {"md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"})
# Their help is not a list of options, or they have none of their own.
_NO_LIST = {"find", "test", "cd", "echo", "printf", "type", "command", "pwd", "tree", "which", "rev"}

TABLES = [rule for rule in shipped_rules() if rule.verdict == "allow" and rule.options and ANYTHING not in rule.options]


@cache
def manual(command: tuple[str, ...]) -> dict[str, str]:
    """For each option in a program's help: `none`, `attached` (only with the option) or `separate`."""
    words = [*command, "-h" if command[0] == "git" else "--help"]
    run = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=20)
    kinds: dict[str, str] = {}
    for line in (run.stdout + run.stderr).splitlines():
        match = re.match(r"\s{1,8}(-\S.*?)(?:\s{2,}|$)", line)
        names: list[str] = []
        kind = "none"
        for part in re.split(r",\s*", match[1]) if match else ():
            option = re.match(r"(--?[A-Za-z0-9][\w-]*)(\[?)[= ]?(.*)$", part)
            if option:
                names.append(option[1])
                kind = "attached" if option[2] else "separate" if option[3].strip() and kind == "none" else kind
        for name in names:
            # `-c, --check, --check=…` of sort: written twice
            kinds[name] = kind if kinds.get(name, kind) == kind else "unclear"
    return kinds


def test_every_table_is_of_one_program() -> None:
    shared = [rule.name for rule in TABLES if len({begin[0] for begin in rule.commands}) > 1 or _subcommands(rule) > 1]
    allowed = [rule.name for rule in TABLES if {begin[0] for begin in rule.commands} in _SAME]
    assert sorted(shared) == sorted(allowed)


def _subcommands(rule: Rule) -> int:
    return len(set(rule.commands)) if rule.commands[0][0] == "git" else 1


# The help writes these options without their value, which they need: `-S BYTES, --strings[=BYTES]`, `-c  --format=…`.
_TAKES_THE_NEXT_WORD = {("od", "-S"), ("stat", "-c")}


@pytest.mark.parametrize("rule", TABLES, ids=lambda rule: rule.name)
def test_no_option_swallows_a_word_that_the_program_reads_as_a_file(rule: Rule) -> None:
    command = rule.commands[0]
    if command[0] in _NO_LIST or shutil.which(command[0]) is None:
        pytest.skip("there is no list of its options here")
    known = manual(command)
    swallowing = [name for name, kind in rule.options.items() if kind in ("any", "path", "number")]
    wrong = [name for name in swallowing if known.get(name) in ("none", "attached")]
    assert [name for name in wrong if (command[0], name) not in _TAKES_THE_NEXT_WORD] == []
