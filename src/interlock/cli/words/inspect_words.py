"""Arguments of the commands that inspect and change nothing but trust: `init`, `doctor`, `trust`, `adopt`, `parse`,
`view`, `context` and `policy …`.
"""

from interlock.cli.words.commands import TICKET, Commands, add_command, add_group


def add_init(commands: Commands) -> None:
    add_command(
        commands,
        "init",
        "inspect.basics:init",
        "make this folder a project (asks nothing; git ignores the new files)",
        "interlock init",
        "interlock init -C ../shop",
    )


def add_doctor(commands: Commands) -> None:
    add_command(
        commands,
        "doctor",
        "inspect.basics:doctor",
        "check this machine: git, sandbox, model, journal",
        "interlock doctor",
    )


def add_trust(commands: Commands) -> None:
    command = add_command(
        commands,
        "trust",
        "inspect.trust:trust",
        "read the project's own rules and start commands, and let them take effect",
        "interlock trust --show",
        "interlock trust",
    )
    command.add_argument("--show", action="store_true", help="only show what is new, changed or trusted")
    command.add_argument("--yes", action="store_true", help="do not ask")


def add_adopt(commands: Commands) -> None:
    command = add_command(
        commands,
        "adopt",
        "inspect.adopt:adopt_",
        "show what an .interlock folder from elsewhere holds, and keep it as history only",
        "interlock adopt",
        "interlock adopt --json",
    )
    command.add_argument("--yes", action="store_true", help="do not ask")


def add_parse(commands: Commands) -> None:
    command = add_command(
        commands,
        "parse",
        "inspect.parse:parse",
        "print the meaning of a command of the command language as JSON; nothing runs",
        """interlock parse '>>fix src/money.py :: verify:"pytest -q" :fast'""",
        """interlock parse '%lean >>plan --> >>build :: "reads well" * 2'""",
    )
    command.add_argument(
        "command", metavar="COMMAND", help="[%%modifier] [@framework] [#style] >>prompt args [:: gate] …"
    )


def add_view(commands: Commands) -> None:
    command = add_command(
        commands,
        "view",
        "inspect.view:view",
        "print shortened views of files, as agents get them: skeleton, curated, summary or outline",
        "interlock view skeleton src/app.py",
        "interlock view outline src tests",
        "interlock view summary 'docs/**/*.md' --json",
    )
    command.add_argument(
        "kind",
        choices=["skeleton", "curated", "summary", "outline"],
        metavar="KIND",
        help="skeleton, curated, summary or outline",
    )
    command.add_argument(
        "paths", nargs="+", metavar="PATH", help="a file, a folder (without the files git ignores), or a pattern"
    )
    command.add_argument("--no-cache", action="store_true", help="neither read nor write the cache of views")


def add_context(commands: Commands) -> None:
    command = add_command(
        commands,
        "context",
        "inspect.context:context",
        "print every block a worker would get, with its tokens",
        "interlock context T-001",
        "interlock context --files src/app.py src/db.py --json",
    )
    command.add_argument("ticket", nargs="?", metavar="TICKET", help=TICKET)
    command.add_argument("--files", nargs="+", metavar="F", help="these files instead of a ticket")
    tiers = ["tier1", "tier2", "tier3", "tier4", "discussion"]
    command.add_argument("--prompt", choices=tiers, metavar="TIER", help=f"only a system prompt: {', '.join(tiers)}")


def add_policy(commands: Commands) -> None:
    group = add_group(
        commands,
        "policy",
        "rules for running without approval: check, list, test; suggest, rules, forget",
        "interlock policy check -- 'git log --oneline | head'",
        "interlock policy suggest",
    )
    check = add_command(
        group,
        "check",
        "inspect.policy:check",
        "print the verdict of the rules on a shell command; nothing runs",
        "interlock policy check -- 'git log --oneline | head'",
        "interlock policy check --json -- 'rm -rf /'",
    )
    check.add_argument("command", metavar="CMD", help="the whole command as one argument, as sh -c gets it")
    check.add_argument("--cwd", metavar="DIR", help="the command's working folder (default: the project's)")
    add_command(
        group,
        "list",
        "inspect.policy:list_",
        "list all rules: yours, the project's, the shipped ones",
        "interlock policy list",
    )
    add_command(
        group,
        "test",
        "inspect.policy:test",
        "check the examples of all rules; exit 1 if one fails",
        "interlock policy test",
    )
    _add_learned(group)


def _add_learned(group: Commands) -> None:
    """Rules from experience."""
    suggest = add_command(
        group,
        "suggest",
        "inspect.learned:suggest",
        "propose narrow rules from your answers so far, each with its back-test",
        "interlock policy suggest",
        "interlock policy suggest --accept 1 3",
        "interlock policy suggest --accept all --everywhere",
    )
    suggest.add_argument("--accept", nargs="+", default=[], metavar="N", help="store these rules, by number; or all")
    suggest.add_argument("--everywhere", action="store_true", help="with --accept: in all your projects")
    suggest.add_argument(
        "--min", type=int, default=3, metavar="N", dest="least", help="questions a rule must have answered (default: 3)"
    )
    add_command(
        group,
        "rules",
        "inspect.learned:rules",
        "list your own rules: how often each answered, when last, and which are stale",
        "interlock policy rules",
    )
    forget = add_command(
        group,
        "forget",
        "inspect.learned:forget",
        "remove one of your own rules, by its number or name",
        "interlock policy forget 2",
        "interlock policy forget learned-pytest",
    )
    forget.add_argument("rule", metavar="RULE", help="its number in 'policy rules', or its name")
