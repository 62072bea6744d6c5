"""“Always allow this”: the narrowest rule for an approval, and the user's file that keeps it.

A rule counts only in the project in which it was made, unless the user asks for all projects: the same command may do
something else in another repository.
"""

from pathlib import Path

from interlock.assembly.locations import user_settings
from interlock.assembly.project import Project, policy_with, rule_sources, rules_of_project
from interlock.domain.values.approvals import Payload, ScriptPayload, ToolPayload
from interlock.errors import Rejected
from interlock.policy.always_rules import append_rule, free_name, narrowest_rule, tool_rule


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
            rule = tool_rule(payload.tool, name)
            verdict = policy_with(project, rule).tool(payload.tool)
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
