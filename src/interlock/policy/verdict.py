"""The policy: combines the rules of three sources to a verdict on a script or a tool."""

import os
from collections.abc import Callable, Sequence

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.policy import git_safety
from interlock.policy.paths import CommandLocation, Private, place_at
from interlock.policy.rules import Hit, Rule, Source, Verdict, by_verdict, hit_of, matches_tool, with_folders
from interlock.policy.shell_ast import Command, parse
from interlock.policy.wrappers import program
from interlock.ports.work import Policy, PolicyVerdict

# The order of sources. A deny always wins; a project can make the user's rules stricter, never looser.
_ORDER: tuple[tuple[Verdict, Source], ...] = (
    *(("deny", source) for source in ("default", "user", "project")),
    ("ask", "user"),
    ("ask", "project"),
    ("allow", "user"),
    ("allow", "project"),
    ("ask", "default"),
    ("allow", "default"),
)
NO_RULE = "default"
ASK = PolicyVerdict("ask", NO_RULE, "no rule allows this")


class _Index:
    """Rules by program, in their order: most rules do not apply to a command."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self._by_program: dict[str, list[Rule]] = {}
        programs = {name for rule in rules for name in _programs(rule)}
        for name in programs:
            self._by_program[name] = [rule for rule in rules if _may_apply(rule, name)]
        self._others = [rule for rule in rules if any(_is_pattern(name) for name in _programs(rule))]

    def rules_for(self, name: str) -> Sequence[Rule]:
        return self._by_program.get(name, self._others)


def _programs(rule: Rule) -> set[str]:
    names = {begin[0] for begin in rule.commands}
    return names | {program(rule.exactly)} if rule.exactly else names


def _is_pattern(name: str) -> bool:
    return any(mark in name for mark in "*?[")


def _may_apply(rule: Rule, name: str) -> bool:
    return any(program_name == name or _is_pattern(program_name) for program_name in _programs(rule))


class CommandVerdict(Struct, frozen=True):
    """The verdict on one command of a script."""

    verdict: Verdict
    rule: Rule | None
    reason: str


class ShellPolicy:
    """Implements the port `Policy`. `rules` is called each time, so a changed file takes effect at once."""

    def __init__(self, rules: Callable[[], Sequence[Rule]], private: Private, home: str | None = None) -> None:
        self._rules = rules
        self._index = _Index(())
        self._private = private
        self._home = home or os.path.expanduser("~")

    def tool(self, name: str) -> PolicyVerdict:
        try:
            rules = self._rules()
        except Misconfigured as error:
            return PolicyVerdict("ask", NO_RULE, f"the policy cannot be read: {error}")
        by_kind = by_verdict([Hit(rule) for rule in rules if matches_tool(rule, name)])
        for key in _ORDER:
            if key in by_kind:
                rule = by_kind[key].rule
                return PolicyVerdict(rule.verdict, rule.name, rule.reason or f"a rule says so ({rule.at})")
        return ASK

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        """`own` are the gate commands that were accepted with the ticket: they are allowed."""
        try:
            rules = self._rules()
        except Misconfigured as error:
            return PolicyVerdict("ask", NO_RULE, f"the policy cannot be read: {error}")
        if self._index.rules is not rules:
            self._index = _Index(rules)
        verdict = _judged(script, self._index, place_at(directory, self._home, self._private))
        if verdict.verdict == "ask" and script in own:
            whole = self.tool("run_shell")
            if whole.rule == NO_RULE:
                return PolicyVerdict("allow", "own-gate", "it is a gate of its own ticket")
        return _stricter(verdict, self.tool("run_shell"))


class PersonOnly:
    """Without a sandbox no rule allows anything: a person answers everything that is not denied."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def tool(self, name: str) -> PolicyVerdict:
        return _ask_instead(self._policy.tool(name))

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        return _ask_instead(self._policy.script(script, directory, own))


def _ask_instead(verdict: PolicyVerdict) -> PolicyVerdict:
    if verdict.verdict != "allow":
        return verdict
    return PolicyVerdict("ask", verdict.rule, "the sandbox is off: rules allow nothing then")


def _stricter(verdict: PolicyVerdict, tool: PolicyVerdict) -> PolicyVerdict:
    if tool.rule == NO_RULE or verdict.verdict == "deny":
        return verdict
    return tool


def _judged(script: str, rules: _Index, place: CommandLocation) -> PolicyVerdict:
    if not script.strip():
        return PolicyVerdict("ask", NO_RULE, "there is no command")
    read = parse(script, place.home)
    judged = [(command, _say(command, rules, now, place), now) for command, now in with_folders(read.commands, place)]
    for _, one, _ in judged:
        if one.verdict == "deny" and one.rule is not None:
            return PolicyVerdict("deny", one.rule.name, one.reason)
    if read.concerns:
        return PolicyVerdict("ask", NO_RULE, read.concerns[0])
    for _, one, _ in judged:
        if one.verdict == "ask":
            return PolicyVerdict("ask", one.rule.name if one.rule else NO_RULE, one.reason)
    if not judged:
        return PolicyVerdict("ask", NO_RULE, "there is no command")
    if why := _after_cd(read.commands) or _folder_objection(judged):
        return PolicyVerdict("ask", NO_RULE, why)
    names = list(dict.fromkeys(one.rule.name for _, one, _ in judged if one.rule))
    git = any(_is_shipped_git(command, one) for command, one, _ in judged)
    reason = "; ".join(dict.fromkeys(one.reason for _, one, _ in judged if one.reason))
    return PolicyVerdict("allow", "+".join(names), reason, git_safety.safe_environment() if git else ())


def _say(command: Command, rules: _Index, now: CommandLocation, start: CommandLocation) -> CommandVerdict:
    hits: list[Hit] = []
    for rule in rules.rules_for(program(command.words)):
        hit = hit_of(rule, command, now)
        if hit is None and rule.verdict != "allow" and now is not start:
            hit = hit_of(rule, command, start)
        if hit is not None:
            hits.append(hit)
    by_kind = by_verdict(hits)
    for key in _ORDER:
        if key in by_kind:
            rule = by_kind[key].rule
            reason = rule.reason or ("" if rule.verdict == "allow" else f"a rule says so ({rule.at})")
            return CommandVerdict(rule.verdict, rule, reason)
    name = program(command.words)
    # The most specific rule gives the best reason.
    nearest = max((hit for hit in hits if hit.but), key=lambda hit: hit.words, default=None)
    return CommandVerdict("ask", None, f"{name}: {nearest.but}" if nearest else f"no rule allows {name!r}")


def _after_cd(commands: Sequence[Command]) -> str | None:
    """The commands after a `cd` must not run if the `cd` failed."""
    moved = False
    for number, command in enumerate(commands):
        last = number == len(commands) - 1
        if moved and not last and command.joined not in ("&&", "|"):
            return f"what follows {command.joined!r} runs in another folder if cd fails"
        if program(command.words) == "cd":
            if len(command.words) != 2 or command.words[1].text in ("", "-") or command.words[1].glob:
                return "cd leads elsewhere"
            if not last and command.joined != "&&":
                return "cd must be followed by &&"
            moved = True
    return None


def _is_shipped_git(command: Command, one: CommandVerdict) -> bool:
    return program(command.words) == "git" and one.rule is not None and one.rule.source == "default"


def _folder_objection(judged: Sequence[tuple[Command, CommandVerdict, CommandLocation]]) -> str | None:
    for command, one, place in judged:
        if not place.is_certain():
            return "cd follows a link and goes up again: that can be read in two ways"
        if _is_shipped_git(command, one) and (why := git_safety.objection(place.cwd)):
            return why
    return None
