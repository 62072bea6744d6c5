"""Arguments of `interlock undo`."""

from interlock.cli.words.commands import Commands, add_command


def add_undo(commands: Commands) -> None:
    undo = add_command(
        commands,
        "undo",
        "restoring.undo:undo",
        "take back the last lasting change of your files: a chat's script or edit, a landing, a rollback",
        "interlock undo",
        "interlock undo --redo",
        "interlock undo --list",
    )
    undo.add_argument("--redo", action="store_true", help="make the change again that was taken back last")
    undo.add_argument("--list", action="store_true", help="list what can be undone, newest first; changes nothing")
    undo.add_argument("--yes", action="store_true", help="do not ask")
    undo.add_argument(
        "--force", action="store_true", help="also if you changed the files since; a checkpoint keeps your versions"
    )
