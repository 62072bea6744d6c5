"""`interlock policy …`: check a command, list the rules, test their examples."""

from pathlib import Path

from interlock.assembly.locations import FOLDER, current_folder, root_of
from interlock.assembly.project import Project, open_project, policy_of, rule_sources
from interlock.cli.arguments import CommandArgs, ProjectArgs
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.errors import Misconfigured
from interlock.policy.experience.remembered import described
from interlock.policy.rules import Rule
from interlock.policy.sources import shipped_rules
from interlock.views.display import safe

_COLOUR = {"allow": "good", "ask": "waiting", "deny": "bad"}


class CheckArgs(CommandArgs, frozen=True):
    command: str
    cwd: str | None


def check(args: CheckArgs) -> int:
    """Exit code 0 for every verdict."""
    project = _project(args)
    folder = Path(args.cwd) if args.cwd else project.root if project else current_folder()
    if not folder.is_dir():
        raise Misconfigured(f"{folder} is not a folder")
    rule_sources(project).rules()  # raises for an error in a rule file, which would otherwise become a verdict
    judgement = policy_of(project).script(args.command, str(folder))
    if args.json:
        say_json({"verdict": judgement.verdict, "rule": judgement.rule, "reason": judgement.reason})
    else:
        reason = f": {safe(judgement.reason)}" if judgement.reason else ""
        say(f"{paint(judgement.verdict, _COLOUR[judgement.verdict])} ({safe(judgement.rule)}){reason}")
    return DONE


def list_(args: CommandArgs) -> int:
    sources = rule_sources(_project(args))
    trusted = sources.trusted()
    rows = [
        *((rule, True) for rule in sources.user()),
        *((rule, trusted or rule.verdict != "allow") for rule in sources.project()),
        *((rule, True) for rule in shipped_rules()),
    ]
    if args.json:
        say_json([_plain(rule, counts=counts) for rule, counts in rows])
        return DONE
    table(
        ("SOURCE", "VERDICT", "RULE", "ABOUT"),
        [
            (rule.source, rule.verdict if counts else f"{rule.verdict} (not trusted)", rule.name, described(rule))
            for rule, counts in rows
        ],
    )
    if not trusted:
        say("the project's rules can only forbid or ask until you trust them: interlock trust")
    return DONE


def test(args: CommandArgs) -> int:
    failed = rule_sources(_project(args)).failed()
    if args.json:
        say_json({"ok": not failed, "failed": failed})
    elif failed:
        for line in failed:
            say(safe(line))
    else:
        say("every example of every rule holds")
    return ERROR if failed else DONE


def _project(args: ProjectArgs) -> Project | None:
    """The project of this folder; without a project only the user's and the shipped rules apply."""
    root = root_of(args.project)
    is_project = args.project is not None or (root / FOLDER).exists() or (root / "interlock.toml").exists()
    return open_project(root) if is_project or (root / ".git").exists() else None


def _plain(rule: Rule, *, counts: bool) -> dict[str, object]:
    return {
        "name": rule.name,
        "source": rule.source,
        "verdict": rule.verdict,
        "reason": rule.reason,
        "about": described(rule),
        "counts": counts,
        "match": rule.match,
        "not_match": rule.not_match,
        "at": rule.at,
    }
