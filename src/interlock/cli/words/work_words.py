"""Arguments of `interlock run`, `resume`, `do` and `verify`."""

from interlock.cli.words.commands import (
    Commands,
    add_approve_option,
    add_autonomy_option,
    add_command,
    add_land_option,
    add_model_options,
    add_plain_option,
    add_workers_option,
    seconds,
)


def add_run(commands: Commands) -> None:
    command = add_command(
        commands,
        "run",
        "work.run:run",
        "run tickets until they are done, blocked, or wait for an approval",
        "interlock run 'Round money half up everywhere'",
        "interlock run --tickets plan.json",
        "interlock run --tickets plan.json --approve all --land",
        "interlock run --resume",
    )
    command.add_argument("epic", nargs="?", metavar="EPIC", help="a goal in plain words: Interlock proposes a plan")
    command.add_argument("--tickets", metavar="FILE", help="a JSON file: an array of tickets, or a track; - is stdin")
    command.add_argument("--resume", action="store_true", help="continue everything unfinished")
    add_land_option(command)
    add_workers_option(command)
    add_autonomy_option(command)
    add_approve_option(command)
    add_model_options(command)
    add_plain_option(command, "print one line per event")


def add_resume(commands: Commands) -> None:
    command = add_command(
        commands,
        "resume",
        "work.run:resume",
        "continue one track, or everything unfinished",
        "interlock resume",
        "interlock resume demo --land",
    )
    command.add_argument("track", nargs="?", metavar="TRACK", help="only this track (default: everything unfinished)")
    add_land_option(command)
    add_workers_option(command)
    add_autonomy_option(command)
    add_approve_option(command)
    add_model_options(command)
    add_plain_option(command, "print one line per event")


def add_do(commands: Commands) -> None:
    command = add_command(
        commands,
        "do",
        "work.do:do",
        "run one command of the command language: each prompt is a ticket, with its gates",
        "interlock do '>>review src/money.py'  # the prompt in prompts/review.md",
        "interlock do 'Rename total to sum in src/money.py' --land",
        "interlock do '>>plan the cache --> >>build :: verify:\"pytest -q\" max:3'",
    )
    command.add_argument(
        "command",
        metavar="COMMAND",
        help=">>NAME and its arguments, where NAME is a file in prompts/; or plain text; see also 'interlock parse'",
    )
    add_land_option(command)
    add_approve_option(command)
    add_model_options(command)
    add_plain_option(command, "print one line per event")


def add_verify(commands: Commands) -> None:
    command = add_command(
        commands,
        "verify",
        "work.verify:verify",
        "run one shell command as a gate in this folder, in the sandbox",
        "interlock verify 'pytest -q'",
        "interlock verify 'make test' --timeout 60 --json",
    )
    command.add_argument(
        "command", metavar="COMMAND", help="the text for sh -c; it may write in this folder, but not in its .git"
    )
    command.add_argument("--timeout", type=seconds, metavar="S", help="1 to 600 seconds (default: settings, 300)")
