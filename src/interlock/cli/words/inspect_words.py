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


def add_policy(commands: Commands) -> None:
    group = add_group(
        commands,
        "policy",
        "rules for running without approval: check, list, test",
        "interlock policy check -- 'git log --oneline | head'",
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
