"""The words of `interlock tell` and `interlock discussions …`. Only argparse here, as in `parser`."""

from collections.abc import Callable
from typing import Any


def add_talks(commands: Any, command: Callable[..., Any], group_of: Callable[..., Any]) -> None:
    made = command(
        commands,
        "tell",
        "work.tell:tell",
        "say something to a worker or a discussion while it is at work",
        "  interlock tell demo/T-001 'Leave the public names as they are'\n"
        "  interlock tell D-1 'Only the tests, please'",
    )
    made.add_argument("whom", metavar="TICKET|DISCUSSION", help="TRACK/TICKET, TICKET or D-1")
    made.add_argument("text", metavar="TEXT", help="- is stdin")
    group = group_of(commands, "discussions", "discussions: list, show, stop")
    command(group, "list", "work.chat:list_", "all discussions")
    made = command(
        group, "stop", "work.tell:stop", "end the model's turn as it is; what it may have cost counts as spent"
    )
    made.add_argument("discussion", metavar="D")
    made.add_argument("--message", "-m", default="", metavar="WHY")
    made = command(group, "show", "work.chat:show", "one discussion, whole")
    made.add_argument("discussion", metavar="D")
