"""Reads rules from `[[policy]]` tables of a TOML text; errors name file and line."""

import re
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta, Struct

from interlock.domain.messages.envelopes import OWN_NAMES
from interlock.errors import Misconfigured
from interlock.policy.flags import known_options
from interlock.policy.folders import located
from interlock.policy.host_patterns import is_host_pattern
from interlock.policy.paths import CommandLocation, Private
from interlock.policy.reading.second_reader import plain_commands
from interlock.policy.reading.shell_ast import parse
from interlock.policy.reading.words import Word
from interlock.policy.rules import Rule, Source, hit_of, matches_tool

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*policy[ \t]*\]\]", re.MULTILINE)
_Text = Annotated[str, Meta(min_length=1, max_length=10_000)]


class RuleTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule as written in TOML."""

    verdict: Literal["allow", "ask", "deny"]
    name: _Text = ""
    reason: str = ""
    tool: str = ""
    paths: list[_Text] = []
    hosts: list[_Text] = []
    command: str | list[_Text] = ""
    exactly: str = ""
    options: list[str] = []
    whole_words: bool = False
    having: list[_Text] = []
    first: str = ""
    operands: Literal["any", "none", "project", "git", "outside"] | list[_Text] = "any"
    below: Literal["", "all", "visible"] = ""
    match: list[_Text] = []
    not_match: list[_Text] = []
    since: str = ""


KEYS = tuple(field.name for field in msgspec.structs.fields(RuleTable))


def policy_tables(text: str) -> list[dict[str, Any]]:
    """The `policy` tables of a TOML text."""
    tables: Any = tomllib.loads(text.replace("\r\n", "\n")).get("policy", [])
    return cast(list[dict[str, Any]], tables) if isinstance(tables, list) else []


def read_rules(text: str, label: str, source: Source) -> tuple[Rule, ...]:
    text = text.replace("\r\n", "\n")
    rules: list[Rule] = []
    for number, table in enumerate(policy_tables(text)):
        rules.append(_rule(table, _Lines(text, label, number), number, source))
        if any(rule.name == rules[-1].name for rule in rules[:-1]):
            raise _Lines(text, label, number).wrong("name", f"there is another rule called {rules[-1].name!r}")
    return tuple(rules)


def failed_examples(rules: Sequence[Rule], private: Private) -> list[str]:
    """Examples that do not hold, one sentence each. They are judged in a fictitious folder."""
    place = CommandLocation("/project", "/project", "/users/me", private, "/project")
    wrong: list[str] = []
    for rule in rules:
        for script in rule.match:
            if not _matches_example(rule, script, place):
                wrong.append(f"{rule.at}: rule {rule.name!r} should match but does not: {script}")
        for script in rule.not_match:
            if _matches_example(rule, script, place):
                wrong.append(f"{rule.at}: rule {rule.name!r} matches but should not: {script}")
    return wrong


def _matches_example(rule: Rule, script: str, place: CommandLocation) -> bool:
    if rule.tool:
        name, *words = script.split() if rule.paths or rule.hosts else [script]
        paths, hosts = ((), words) if rule.hosts else (words, ())
        return bool(re.fullmatch(_glob(rule.tool), name)) and matches_tool(rule, name, paths, hosts)
    for command, places in located(parse(script, place.home), place):
        hits = [hit_of(rule, command, now) for now in places]
        matching = [hit is not None and not hit.but for hit in hits]
        if matching and (all(matching) if rule.verdict == "allow" else any(matching)):
            return True
    return False


def _glob(pattern: str) -> str:
    return ".*".join(re.escape(part) for part in pattern.split("*"))


class _Lines:
    """The lines of each rule and of its keys in a file."""

    def __init__(self, text: str, label: str, number: int) -> None:
        headers = [match.start() for match in _HEADER.finditer(text)]
        self._text = text
        self._label = label
        self._start = headers[number] if number < len(headers) else 0
        self._end = headers[number + 1] if number + 1 < len(headers) else len(text)

    def at(self, key: str = "") -> str:
        place = self._start
        if key and (
            match := re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=", re.MULTILINE).search(self._text, place, self._end)
        ):
            place = match.start()
        return f"{self._label}:{self._text.count(chr(10), 0, place) + 1}"

    def wrong(self, key: str, message: str) -> Misconfigured:
        return Misconfigured(f"{self.at(key)}: {message}")


def _rule(values: dict[str, Any], lines: _Lines, number: int, source: Source) -> Rule:
    for key in values:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(KEYS)}"
            raise lines.wrong(key, f"unknown key 'policy.{key}'; {hint}")
    if "verdict" not in values:
        raise lines.wrong("", "a rule needs a 'verdict': allow, ask or deny")
    try:
        table = msgspec.convert(values, RuleTable)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`").split("[")[0]
        raise lines.wrong(key, f"policy.{key} is wrong: {what[:1].lower()}{what[1:]}") from error
    if sum(map(bool, (table.tool, table.command, table.exactly))) != 1:
        raise lines.wrong("", "a rule is about one of 'tool', 'command' or 'exactly'")
    if table.tool == "run_shell" and table.verdict == "allow":
        raise lines.wrong("tool", "scripts are allowed by rules with 'command' or 'exactly', not all of them at once")
    if table.paths and not table.tool:
        raise lines.wrong("paths", "'paths' are the files that a 'tool' changes")
    _check_hosts(table, lines)
    if table.name in OWN_NAMES:
        raise lines.wrong("name", f"the name {table.name!r} stands for answers that no rule gives; choose another")
    if source == "project" and table.first:
        raise lines.wrong("first", "regular expressions are for the user's own rules")
    if table.verdict == "allow" and table.operands == "outside":
        raise lines.wrong("operands", "'outside' is for rules that ask or deny")
    return Rule(
        name=table.name or f"{source}-{number + 1}",
        verdict=table.verdict,
        source=source,
        reason=table.reason,
        tool=table.tool,
        paths=tuple(table.paths),
        hosts=tuple(host.lower() for host in table.hosts),
        commands=_commands(table, lines),
        exactly=_exact_words(table, lines),
        options=_options(table, lines),
        whole_words=table.whole_words,
        having=tuple(tuple(text.split()) for text in table.having),
        first=_pattern(table, lines),
        operands=table.operands if isinstance(table.operands, str) else tuple(table.operands),
        below=table.below,
        match=tuple(table.match),
        not_match=tuple(table.not_match),
        since=table.since,
        at=lines.at(),
    )


def _check_hosts(table: RuleTable, lines: _Lines) -> None:
    if table.tool == "fetch_url" and table.verdict == "allow" and not table.hosts:
        raise lines.wrong("tool", 'a rule that allows fetch_url names its hosts, such as hosts = ["docs.python.org"]')
    if table.hosts and (not table.tool or table.paths):
        raise lines.wrong("hosts", "'hosts' are what a 'tool' contacts; such a tool changes no 'paths'")
    for host in table.hosts:
        if not is_host_pattern(host.lower()):
            kinds = "a name, name:port, *.name or *, without http:// and without a path"
            raise lines.wrong("hosts", f"policy.hosts: {host!r} is no host; write {kinds}")


def _commands(table: RuleTable, lines: _Lines) -> tuple[tuple[str, ...], ...]:
    written = [table.command] if isinstance(table.command, str) else table.command
    split = tuple(tuple(text.split()) for text in written if text)
    if table.command and not all(split):
        raise lines.wrong("command", "policy.command has a program's name, and the words that must come next")
    if table.verdict == "allow" and any("*" in word for begin in split for word in begin):
        raise lines.wrong("command", "a rule that allows names its programs exactly, without *")
    return split


def _exact_words(table: RuleTable, lines: _Lines) -> tuple[Word, ...]:
    if not table.exactly:
        return ()
    commands = plain_commands(table.exactly)
    if commands is None or len(commands) != 1 or any(word.glob for word in commands[0].words):
        raise lines.wrong("exactly", "policy.exactly is one plain command, with no pattern, variable or redirection")
    return commands[0].words


def _options(table: RuleTable, lines: _Lines) -> dict[str, Any]:
    try:
        return dict(known_options(table.options))
    except ValueError as error:
        raise lines.wrong("options", f"policy.options: {error}") from error


def _pattern(table: RuleTable, lines: _Lines) -> re.Pattern[str] | None:
    try:
        return re.compile(table.first) if table.first else None
    except re.error as error:
        raise lines.wrong("first", f"policy.first is no regular expression: {error}") from error
