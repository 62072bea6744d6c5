"""The user's rules: “always allow this”, rules from experience, and their files.

A rule counts only in the project in which it was made, unless the user asks for all projects: the same command may do
something else in another repository.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from interlock.assembly.locations import user_settings
from interlock.assembly.project import Project, now, policy_of, policy_with, rule_sources, rules_of_project
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload, ScriptPayload, ToolPayload
from interlock.errors import BadValue, NotFound, Rejected
from interlock.identity.careful import read_plain
from interlock.policy.always_rules import append_rule, free_name, narrowest_rule, tool_rule
from interlock.policy.experience.remembered import Place, forget, kept_rules
from interlock.policy.experience.suggesting import LEAST, suggest
from interlock.policy.rule_files import read_rules
from interlock.policy.rules import Rule
from interlock.ports.work import PolicyVerdict
from interlock.views.rules.experience import answered_questions, changed_paths, journal_days, rule_uses
from interlock.views.rules.learned_rules import KeptRule, Suggestions

_MOST_BYTES = 4_000_000


def rule_file(project: Project, *, everywhere: bool) -> Path:
    """The user's file for rules of this project, or of all projects."""
    return user_settings() if everywhere else rules_of_project(project)


def lasting_rule(project: Project, payload: Payload) -> str:
    """The narrowest rule that allows this script or tool. Raises Rejected if no rule can."""
    taken = {rule.name for rule in rule_sources(project).rules()}
    name = free_name(taken.__contains__)
    match payload:
        case ScriptPayload():
            rule = narrowest_rule(payload.script, name)
            verdict = policy_with(project, rule).script(payload.script, payload.directory)
        case ToolPayload():
            hosts = payload.hosts or ()
            rule = tool_rule(payload.tool, name, hosts)
            verdict = policy_with(project, rule).tool(payload.tool, hosts=hosts)
        case _:
            raise Rejected("a rule can always allow a script or a tool, nothing else")
    if verdict.verdict != "allow":
        raise Rejected(
            f"a new rule would not help: the verdict of {verdict.rule} is {verdict.verdict}: {verdict.reason}"
        )
    return rule


def keep_rule(project: Project, rule: str, *, everywhere: bool = False) -> None:
    """Adds the rule to its file. A new file of a project names the project, so that a person can find it."""
    file = rule_file(project, everywhere=everywhere)
    if not everywhere and not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(f"# Rules for {str(project.root)!a}, made by “always allow this”.\n", encoding="utf-8")
        file.chmod(0o600)
    append_rule(file, rule)


# ── rules from experience ────────────────────────────────────────────────────────────────


def suggested_rules(project: Project, state: State, least: int = LEAST) -> Suggestions:
    """What the answers so far suggest. Raises Misconfigured for an error in a rule file."""
    rules = rule_sources(project).rules()
    taken = {rule.name for rule in rules}
    return suggest(answered_questions(state), rules, project.names.refusal, least=least, taken=taken.__contains__)


def accept_rule(project: Project, rule: str, *, everywhere: bool = False) -> str:
    """Stores a suggested rule with the day of today; returns it as it is stored."""
    dated = f'{rule}since = "{now()[:10]}"\n'
    keep_rule(project, dated, everywhere=everywhere)
    return dated


def accept_shown(project: Project, state: State, rule: str, *, everywhere: bool, least: int = LEAST) -> str:
    """The same for a rule that another program shows: it must still be suggested, byte for byte."""
    if rule not in [one.rule for one in suggested_rules(project, state, least).offered]:
        raise BadValue("this rule is not suggested any more: read /api/policy/suggestions again")
    return accept_rule(project, rule, everywhere=everywhere)


def remembered_rules(project: Project, state: State) -> tuple[KeptRule, ...]:
    """The user's rules of this project, then those of all projects."""
    return tuple(rule for rule, _ in _with_places(project, state))


def forget_rule(project: Project, state: State, name: str) -> KeptRule:
    """Removes the rule with this name or number from the user's file."""
    chosen = [one for one in _with_places(project, state) if name in (one[0].name, str(one[0].number))]
    if not chosen:
        raise NotFound(f"you have no rule {name!r}; 'interlock policy rules' lists them")
    if len(chosen) > 1:
        raise BadValue(f"{name!r} names more than one rule: give its number")
    rule, place = chosen[0]
    forget(rule_file(project, everywhere=place.everywhere), place.position)
    return rule


def _with_places(project: Project, state: State) -> tuple[tuple[KeptRule, Place], ...]:
    files = [(_rules_in(rule_file(project, everywhere=everywhere)), everywhere) for everywhere in (False, True)]
    return kept_rules(files, rule_uses(state), journal_days(state))


def answerable(project: Project, approvals: Sequence[Approval], rule: str) -> tuple[Approval, ...]:
    """The approvals that the rules in effect would allow by now, with the help of this rule."""
    policy = policy_of(project)
    if rule not in {one.name for one in rule_sources(project).rules()}:
        raise NotFound(f"there is no rule {rule!r}; 'interlock policy list' lists them")

    def verdict(payload: Payload) -> PolicyVerdict | None:
        match payload:
            case ScriptPayload(network=False):
                return policy.script(payload.script, payload.directory)
            case ToolPayload():
                return policy.tool(payload.tool, changed_paths(payload), payload.hosts or ())
            case _:
                return None

    found = [(approval, verdict(approval.payload)) for approval in approvals if approval.kind in ("script", "tool")]
    return tuple(
        approval
        for approval, said in found
        if said is not None and said.verdict == "allow" and rule in said.rule.split("+")
    )


def _rules_in(file: Path) -> tuple[Rule, ...]:
    try:
        text = read_plain(file, _MOST_BYTES, follow=True).decode()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return read_rules(text, str(file), "user")


class LearnedRulesOf:
    """Implements the port `LearnedRules`. `state` gives the state of this moment."""

    def __init__(self, project: Project, state: Callable[[], State]) -> None:
        self._project = project
        self._state = state

    async def suggestions(self, least: int) -> Suggestions:
        return await asyncio.to_thread(suggested_rules, self._project, self._state(), least)

    async def accept(self, rule: str, *, everywhere: bool, least: int) -> str:
        return await asyncio.to_thread(
            accept_shown, self._project, self._state(), rule, everywhere=everywhere, least=least
        )

    async def kept(self) -> tuple[KeptRule, ...]:
        return await asyncio.to_thread(remembered_rules, self._project, self._state())

    async def forget(self, name: str) -> KeptRule:
        return await asyncio.to_thread(forget_rule, self._project, self._state(), name)
