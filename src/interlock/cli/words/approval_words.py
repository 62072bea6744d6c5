"""Arguments of `interlock approvals …`."""

from argparse import ArgumentParser

from interlock.cli.words.commands import Commands, add_command, add_group, add_page_options, take_words_anywhere


def add_approvals(commands: Commands) -> None:
    group = add_group(
        commands,
        "approvals",
        "pending questions to you: list, show, answer",
        "interlock approvals list",
        "interlock approvals answer A-1 approve",
    )
    listing = add_command(
        group,
        "list",
        "work.approvals:list_",
        "list approvals: what holds up most first",
        "interlock approvals list",
        "interlock approvals list --state answered --limit 20",
    )
    listing.add_argument("--state", choices=["pending", "answered", "withdrawn", "all"], default="pending")
    listing.add_argument(
        "--order", choices=["urgency", "age"], default="urgency", help="age: oldest first; the order of all but pending"
    )
    add_page_options(listing)
    show = add_command(
        group, "show", "work.approvals:show", "show everything about one approval", "interlock approvals show A-1"
    )
    show.add_argument("approval", metavar="ID")
    _add_answer(group)


def _add_answer(group: Commands) -> None:
    command = add_command(
        group,
        "answer",
        "work.approvals:answer",
        "answer one approval, or many at once",
        "interlock approvals answer A-1 approve",
        "interlock approvals answer A-1 A-2 A-3 approve",
        "interlock approvals answer --all --kind script --pattern 'pytest*' approve",
        "interlock approvals answer A-1 approve --edit fixed.sh",
        "interlock approvals answer A-1 approve --always",
        "interlock approvals answer A-2 reject --message 'not on this branch'",
        "interlock approvals answer A-3 retry",
        "interlock approvals answer A-4 changes --comment 'src/a.py:12: and if empty?'",
    )
    take_words_anywhere(command)
    command.add_argument("approval", nargs="*", metavar="ID")
    command.add_argument("decision", choices=["approve", "reject", "abort", "retry", "skip", "changes"])
    command.add_argument("--edit", metavar="FILE", help="approve this text instead; - is stdin")
    command.add_argument("--edit-context", metavar="FILE", help="give the worker this context instead (spawn only)")
    command.add_argument(
        "--hunks", metavar="1,3-5", help="approve only these hunks, or these files of a review or landing"
    )
    command.add_argument(
        "--always", action="store_true", help="also add a policy rule that allows exactly this, in this project"
    )
    command.add_argument("--everywhere", action="store_true", help="with --always: in all your projects")
    command.add_argument("--message", "-m", default="", metavar="M", help="a message for the asker")
    command.add_argument(
        "--comment",
        action="append",
        default=[],
        metavar="FILE:LINE: TEXT",
        help="a comment on a line of a review or landing",
    )
    _add_filters(command)


def _add_filters(command: ArgumentParser) -> None:
    """One answer to many approvals."""
    many = command.add_argument_group("many at once")
    many.add_argument("--all", action="store_true", help="all pending approvals, or those that these filters select")
    many.add_argument("--kind", choices=["script", "tool", "step", "spawn", "ask", "tracks"], help="only this kind")
    many.add_argument("--ticket", default="", metavar="TICKET", help="only of this ticket: TRACK/TICKET or TICKET")
    many.add_argument("--track", default="", metavar="TRACK", help="only of this track")
    many.add_argument(
        "--pattern", default="", metavar="TEXT", help="only with this text in what would run; with * or ?, the whole"
    )
    many.add_argument("--rule", default="", metavar="RULE", help="only what this policy rule would allow by now")
    many.add_argument("--yes", action="store_true", help="do not ask")
