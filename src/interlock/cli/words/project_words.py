"""Arguments of the commands about a project's own tests and packages: `try`, `prepare` and `caches`."""

from interlock.cli.words.commands import TICKET, Commands, add_command, add_group, seconds


def add_try(commands: Commands) -> None:
    command = add_command(
        commands,
        "try",
        "inspect.try_tests:try_",
        "run the project's tests once in the sandbox; finds out how, and installs what they need",
        "interlock try",
        "interlock try --yes",
        "interlock try 'pytest -q tests/unit' --timeout 120",
    )
    command.add_argument("command", nargs="?", metavar="COMMAND", help="the tests to run (default: the project's)")
    command.add_argument("--timeout", type=seconds, metavar="S", help="most seconds for the tests (default: 600)")
    command.add_argument("--yes", action="store_true", help="accept the proposed settings without asking")


def add_prepare(commands: Commands) -> None:
    command = add_command(
        commands,
        "prepare",
        "inspect.prepare:prepare",
        "install the packages of your branch, or of a track or ticket that changed them (asks first)",
        "interlock prepare",
        "interlock prepare demo/T-3",
        "interlock prepare demo",
    )
    command.add_argument(
        "name", nargs="?", metavar="TRACK|TICKET", help=f"a track, or {TICKET}: its saved work (default: your branch)"
    )
    command.add_argument("--yes", action="store_true", help="do not ask")


def add_caches(commands: Commands) -> None:
    group = add_group(
        commands,
        "caches",
        "the installed packages of all projects",
        "interlock caches list",
        "interlock caches prune --older-than 14",
    )
    add_command(
        group, "list", "inspect.caches:list_", "list installed packages, the last used first", "interlock caches list"
    )
    command = add_command(
        group,
        "prune",
        "inspect.caches:prune",
        "delete installed packages by age and size (default: the settings' limits)",
        "interlock caches prune",
        "interlock caches prune --larger-than 5000",
        "interlock caches prune --all",
    )
    command.add_argument("--older-than", type=seconds, metavar="DAYS", help="those not used for so many days")
    command.add_argument("--larger-than", type=seconds, metavar="MB", help="the least used, until the rest is so large")
    command.add_argument("--all", action="store_true", help="all of them")
