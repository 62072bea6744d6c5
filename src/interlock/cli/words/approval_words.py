"""Arguments of `interlock approvals …`."""

from interlock.cli.words.commands import Commands, add_command, add_group, add_page_options


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
        "list approvals, oldest first",
        "interlock approvals list",
        "interlock approvals list --state answered --limit 20",
    )
    listing.add_argument("--state", choices=["pending", "answered", "withdrawn", "all"], default="pending")
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
        "answer one approval",
        "interlock approvals answer A-1 approve",
        "interlock approvals answer A-1 approve --edit fixed.sh",
        "interlock approvals answer A-1 approve --always",
        "interlock approvals answer A-2 reject --message 'not on this branch'",
        "interlock approvals answer A-3 retry",
    )
    command.add_argument("approval", metavar="ID")
    command.add_argument("decision", choices=["approve", "reject", "abort", "retry", "skip"])
    command.add_argument("--edit", metavar="FILE", help="approve this text instead; - is stdin")
    command.add_argument("--edit-context", metavar="FILE", help="give the worker this context instead (spawn only)")
    command.add_argument("--hunks", metavar="1,3", help="approve only these hunks (file edits)")
    command.add_argument(
        "--always", action="store_true", help="also add a policy rule that allows exactly this, in this project"
    )
    command.add_argument("--everywhere", action="store_true", help="with --always: in all your projects")
    command.add_argument("--message", "-m", default="", metavar="M", help="a message for the asker")
