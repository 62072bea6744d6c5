"""Arguments of `interlock checkpoint …`."""

from interlock.cli.words.commands import Commands, add_command, add_group

_ID = "the checkpoint, e.g. C-3"


def add_checkpoint(commands: Commands) -> None:
    group = add_group(
        commands,
        "checkpoint",
        "snapshots of your files, tracked and untracked: create, list, show, rollback, delete",
        "interlock checkpoint create -m 'before the experiment'",
        "interlock checkpoint rollback C-3",
    )
    create = add_command(
        group,
        "create",
        "restoring.checkpoints:create",
        "store the present files; changes no file, not the index and not HEAD",
        "interlock checkpoint create -m 'before the experiment'",
        "interlock checkpoint create --ignored",
    )
    create.add_argument("--message", "-m", default="", metavar="TEXT", help="what it is for")
    create.add_argument("--ignored", action="store_true", help="also the files that git ignores")
    add_command(
        group, "list", "restoring.checkpoints:list_", "list the checkpoints, oldest first", "interlock checkpoint list"
    )
    show = add_command(
        group,
        "show",
        "restoring.checkpoints:show",
        "print a checkpoint, and what a rollback to it would change now",
        "interlock checkpoint show C-3",
        "interlock checkpoint show C-3 --diff",
    )
    show.add_argument("checkpoint", metavar="ID", help=_ID)
    show.add_argument("--diff", action="store_true", help="also the lines that would change")
    rollback = add_command(
        group,
        "rollback",
        "restoring.checkpoints:rollback",
        "put your files back as they were; asks first, and stores the present files so that it can be undone",
        "interlock checkpoint rollback C-3",
        "interlock checkpoint rollback C-3 --yes",
    )
    rollback.add_argument("checkpoint", metavar="ID", help=_ID)
    rollback.add_argument("--yes", action="store_true", help="do not ask")
    rollback.add_argument(
        "--ignored", action="store_true", help="also the ignored files, of a checkpoint created with --ignored"
    )
    delete = add_command(
        group,
        "delete",
        "restoring.checkpoints:delete",
        "delete checkpoints and what only they hold",
        "interlock checkpoint delete C-3 C-4",
    )
    delete.add_argument("checkpoints", nargs="+", metavar="ID", help=_ID)
