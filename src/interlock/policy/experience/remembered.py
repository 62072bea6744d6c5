"""The user's own rules: how often each answered, whether it is stale, and how it is forgotten."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.policy.always_rules import replace_content
from interlock.policy.rules import Rule
from interlock.views.display import one_line
from interlock.views.rules.experience import RuleUse, is_stale
from interlock.views.rules.learned_rules import KeptRule

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*policy[ \t]*\]\]", re.MULTILINE)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


class Place(Struct, frozen=True):
    """Where a rule is: in which of the user's files, and as which rule there."""

    everywhere: bool
    position: int


def kept_rules(
    files: Sequence[tuple[Sequence[Rule], bool]], uses: Mapping[str, RuleUse], days: tuple[str, str]
) -> tuple[tuple[KeptRule, Place], ...]:
    """The rules of the user's files, each file with whether it counts everywhere. Numbers count over both files."""
    found: list[tuple[KeptRule, Place]] = []
    for rules, everywhere in files:
        for position, rule in enumerate(rules):
            use = uses.get(rule.name, RuleUse())
            kept = KeptRule(
                number=len(found) + 1,
                name=rule.name,
                verdict=rule.verdict,
                about=described(rule),
                everywhere=everywhere,
                answered=use.count,
                last=use.last,
                since=rule.since,
                stale=rule.verdict == "allow" and is_stale(use, rule.since, days),
            )
            found.append((kept, Place(everywhere, position)))
    return tuple(found)


def described(rule: Rule) -> str:
    """What the rule is about, in one line."""
    if rule.tool:
        places = rule.paths or rule.hosts
        return one_line(f"tool {rule.tool}" + (f" on {', '.join(places)}" if places else ""), 80)
    if rule.exactly:
        return one_line("exactly: " + " ".join(word.text for word in rule.exactly), 80)
    return one_line(", ".join(" ".join(begin) for begin in rule.commands), 80)


def forget(file: Path, position: int) -> None:
    """Removes one `[[policy]]` table. All other bytes of the file stay."""
    before = file.read_bytes().decode()
    headers = [match.start() for match in _HEADER.finditer(before)]
    start = headers[position] if position < len(headers) else len(before)
    following = _ANY_HEADER.search(before, before.find("\n", start) + 1 or len(before))
    after = before[:start] + (before[following.start() :] if following else "")
    if _content(after) != _without(_content(before), position):
        raise Misconfigured(f"{file}: the rule cannot be cut out for certain; remove it by hand")
    replace_content(file, after.encode())


def _content(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError:
        return None


def _without(content: dict[str, Any] | None, position: int) -> dict[str, Any]:
    content = dict(content or {})
    rules = [rule for number, rule in enumerate(content.pop("policy", [])) if number != position]
    return {**content, "policy": rules} if rules else content
