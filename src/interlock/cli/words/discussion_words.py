"""Arguments of `interlock chat`, `tell` and `discussions …`."""

from interlock.cli.words.commands import (
    Commands,
    add_approve_option,
    add_command,
    add_group,
    add_message_option,
    add_model_options,
    add_plain_option,
)


def add_chat(commands: Commands) -> None:
    command = add_command(
        commands,
        "chat",
        "work.chat:chat",
        "discuss the project with a model",
        "interlock chat 'Where is rounding decided?'",
        "interlock chat --in D-1 'And who calls it?'",
    )
    command.add_argument(
        "text", nargs="?", metavar="TEXT", help="your message; - is stdin; none: wait for the answer in --in"
    )
    command.add_argument("--in", dest="discussion", metavar="D", help="continue this discussion (default: a new one)")
    add_approve_option(command)
    add_model_options(command)
    add_plain_option(command, "print the answer as it streams")


def add_tell(commands: Commands) -> None:
    command = add_command(
        commands,
        "tell",
        "work.steering:tell",
        "send a note to a running ticket or a discussion; the model reads it before its next turn",
        "interlock tell demo/T-001 'Leave the public names as they are'",
        "interlock tell D-1 'Only the tests, please'",
    )
    command.add_argument("recipient", metavar="TICKET|DISCUSSION", help="TRACK/TICKET, TICKET or D-1")
    command.add_argument("text", metavar="TEXT", help="the note; - is stdin")


def add_autonomy(commands: Commands) -> None:
    command = add_command(
        commands,
        "autonomy",
        "work.steering:autonomy",
        "what asks first: every change, each ticket's finished diff, or only the landing",
        "interlock autonomy",
        "interlock autonomy review",
        "interlock autonomy land demo",
        "interlock autonomy ask demo/T-002",
    )
    command.add_argument("level", nargs="?", choices=["ask", "review", "land", "unset"], help="none: show the levels")
    command.add_argument("subject", nargs="?", metavar="TRACK|TICKET", help="only for this (default: the project)")


def add_discussions(commands: Commands) -> None:
    group = add_group(commands, "discussions", "discussions: list, show, stop", "interlock discussions list")
    add_command(group, "list", "work.chat:list_", "list all discussions", "interlock discussions list --json")
    stop = add_command(
        group,
        "stop",
        "work.steering:stop",
        "end the model's turn now; the cost it may have had counts as spent",
        "interlock discussions stop D-1 --message 'wrong question'",
    )
    stop.add_argument("discussion", metavar="D")
    add_message_option(stop)
    show = add_command(group, "show", "work.chat:show", "print one whole discussion", "interlock discussions show D-1")
    show.add_argument("discussion", metavar="D")
