"""The policy: combines the rules of three sources to a verdict on a script or a tool."""

import os
from collections.abc import Callable, Sequence

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.policy import git_safety
from interlock.policy.folders import MOST_FOLDERS, Places, cd_objection, located, order_objection
from interlock.policy.paths import CommandLocation, Private, place_at
from interlock.policy.programs import Programs
from interlock.policy.reading.shell_ast import Command, parse
from interlock.policy.reading.wrappers import program
from interlock.policy.rules import Hit, Rule, Source, Verdict, by_verdict, hit_of, matches_tool
from interlock.policy.tracked import TrackedFiles
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

    def __init__(
        self,
        rules: Callable[[], Sequence[Rule]],
        private: Private,
        home: str | None = None,
        programs: Programs | None = None,
    ) -> None:
        self._rules = rules
        self._index = _Index(())
        self._private = private
        self._tracked = TrackedFiles(private)
        self._home = home or os.path.expanduser("~")
        self._programs = programs or Programs(os.environ.get("PATH", os.defpath))

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        try:
            rules = self._rules()
        except Misconfigured as error:
            return PolicyVerdict("ask", NO_RULE, f"the policy cannot be read: {error}", explicit=True)
        by_kind = by_verdict([Hit(rule) for rule in rules if matches_tool(rule, name, paths, hosts)])
        for key in _ORDER:
            if key in by_kind:
                rule = by_kind[key].rule
                reason = rule.reason or f"a rule says so ({rule.at})"
                asks = rule.verdict == "ask" and rule.source != "default"
                return PolicyVerdict(rule.verdict, rule.name, reason, explicit=asks)
        return ASK

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        """`own` are the gate commands that were accepted with the ticket: they are allowed."""
        try:
            rules = self._rules()
        except Misconfigured as error:
            return PolicyVerdict("ask", NO_RULE, f"the policy cannot be read: {error}", explicit=True)
        index = self._indexed(rules)
        place = place_at(directory, self._home, self._private)
        verdict = _judged(script, index, place, self._programs, self._tracked)
        if verdict.verdict == "ask" and script in own:
            whole = self.tool("run_shell")
            if whole.rule == NO_RULE:
                return PolicyVerdict("allow", "own-gate", "it is a gate of its own ticket")
        return _stricter(verdict, self.tool("run_shell"))

    def _indexed(self, rules: Sequence[Rule]) -> _Index:
        if self._index.rules is not rules:
            self._index = _Index(rules)
        return self._index

    def open_commands(self, script: str, directory: str) -> tuple[Command, ...]:
        """The commands for which only an allowing rule is missing; empty if rules could not allow the script."""
        index = self._indexed(self._rules())
        start = place_at(directory, self._home, self._private)
        read = parse(script, start.home)
        if read.concerns:
            return ()
        judged = [(one, _strictest(one, places, index, start)) for one, places in located(read, start)]
        if any(_is_fixed(verdict) for _, verdict in judged):
            return ()
        return tuple(command for command, verdict in judged if verdict.verdict != "allow")


class PersonOnly:
    """Without a sandbox no rule allows anything: a person answers everything that is not denied."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return _ask_instead(self._policy.tool(name, paths, hosts))

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


_Judged = tuple[Command, Places, CommandVerdict]


def _judged(
    script: str, rules: _Index, start: CommandLocation, programs: Programs, tracked: TrackedFiles
) -> PolicyVerdict:
    if not script.strip():
        return PolicyVerdict("ask", NO_RULE, "there is no command")
    read = parse(script, start.home)
    commands = located(read, start)
    judged = [
        (command, places, _strictest(command, places, rules, start)) for command, places in commands if command.words
    ]
    for _, _, one in judged:
        if one.verdict == "deny" and one.rule is not None:
            return PolicyVerdict("deny", one.rule.name, one.reason)
    for _, _, one in judged:
        if one.verdict == "ask" and one.rule is not None and one.rule.source != "default":
            return PolicyVerdict("ask", one.rule.name, one.reason, explicit=True)
    if read.concerns:
        return PolicyVerdict("ask", NO_RULE, read.concerns[0])
    for _, _, one in judged:
        if one.verdict == "ask":
            return PolicyVerdict("ask", one.rule.name if one.rule else NO_RULE, one.reason)
    if not judged:
        return PolicyVerdict("ask", NO_RULE, "there is no command")
    if why := order_objection(read.steps) or _folder_objection(judged, tracked):
        return PolicyVerdict("ask", NO_RULE, why)
    own = [command.words[0] for command, _, one in judged if one.rule is not None and one.rule.source != "default"]
    called = [word for command, _ in commands for word in (*command.words[:1], *command.through) if word not in own]
    if why := programs.objection(called, start.root) or programs.objection(own, start.root, project_may_bring_it=True):
        return PolicyVerdict("ask", NO_RULE, why)
    names = list(dict.fromkeys(one.rule.name for _, _, one in judged if one.rule))
    git = any(_is_shipped_git(command, one) for command, _, one in judged)
    reason = "; ".join(dict.fromkeys(one.reason for _, _, one in judged if one.reason))
    return PolicyVerdict("allow", "+".join(names), reason, git_safety.safe_environment() if git else ())


def _strictest(command: Command, places: Places, rules: _Index, start: CommandLocation) -> CommandVerdict:
    """The verdict in the folder where it is strictest."""
    verdicts = [_say(command, rules, place, start) for place in places[: MOST_FOLDERS + 1]]
    return min(verdicts, key=lambda one: ("deny", "ask", "allow").index(one.verdict))


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


def _is_fixed(one: CommandVerdict) -> bool:
    """Whether a rule denies it, or a rule of the user or the project asks: a further rule would not change that."""
    return one.rule is not None and (one.verdict == "deny" or (one.verdict == "ask" and one.rule.source != "default"))


def _is_shipped_git(command: Command, one: CommandVerdict) -> bool:
    return program(command.words) == "git" and one.rule is not None and one.rule.source == "default"


def _folder_objection(judged: Sequence[_Judged], tracked: TrackedFiles) -> str | None:
    for command, places, one in judged:
        if why := cd_objection(command, places):
            return why
        if len(places) > MOST_FOLDERS:
            return "it may run in too many folders"
        for place in places:
            if not place.is_certain():
                return "cd follows a link and goes up again: that can be read in two ways"
            if one.rule is None or not _is_shipped_git(command, one):
                continue
            if why := git_safety.objection(place.cwd) or tracked.objection(command.words, one.rule.options, place):
                return why
    return None
