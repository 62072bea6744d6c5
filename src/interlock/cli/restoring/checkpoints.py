"""`interlock checkpoint …`: snapshots of the user's files."""

import sys
from typing import Any

from interlock.assembly.restoring.checkpoints import Checkpoints
from interlock.assembly.restoring.undoing import note_rollback
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.asking.diff_lines import say_diff
from interlock.cli.terminal.exits import APPROVAL, DONE, ERROR
from interlock.cli.terminal.output import confirmed, paint, say, say_json, table
from interlock.cli.terminal.sessions import project_of
from interlock.cli.terminal.signals import wake_main_thread_for_signals
from interlock.views.display import counted, one_line, safe
from interlock.wire import to_plain
from interlock.workspaces.checkpoints.rollback import Preview
from interlock.workspaces.checkpoints.store import Checkpoint

_MOST_LINES = 30
_SIGNS = {"restore": "+", "replace": "~", "remove": "-", "mode": "~"}


class CreateArgs(CommandArgs, frozen=True):
    message: str
    ignored: bool


class ShowArgs(CommandArgs, frozen=True):
    checkpoint: str
    diff: bool


class RollbackArgs(CommandArgs, frozen=True):
    checkpoint: str
    yes: bool
    ignored: bool


class DeleteArgs(CommandArgs, frozen=True):
    checkpoints: list[str]


def create(args: CreateArgs) -> int:
    made = _checkpoints(args).create(args.message, ignored=args.ignored)
    if args.json:
        say_json(to_plain(made))
    else:
        say(f"{paint(made.id, 'bold')}: {_size(made)} stored")
    return DONE


def list_(args: CommandArgs) -> int:
    found = _checkpoints(args).list()
    if args.json:
        say_json([to_plain(checkpoint) for checkpoint in found])
    elif not found:
        say("no checkpoints; 'interlock checkpoint create' makes one")
    else:
        rows = [(one.id, one.at[:19].replace("T", " "), str(one.files), one_line(one.message, 80)) for one in found]
        table(("ID", "CREATED (UTC)", "FILES", "MESSAGE"), rows)
    return DONE


def show(args: ShowArgs) -> int:
    checkpoints = _checkpoints(args)
    found = checkpoints.get(args.checkpoint)
    preview = checkpoints.preview(found.id, ignored=found.ignored)
    diff = checkpoints.diff(found.id, preview) if args.diff else ""
    if args.json:
        shown = {**to_plain(found), **_plain(preview)}
        say_json({**shown, "diff": diff} if args.diff else shown)
        return DONE
    say(f"{paint(found.id, 'bold')}  {found.at[:19].replace('T', ' ')} UTC  {_size(found)}")
    if found.message:
        say(f"  {safe(found.message)}")
    _print(preview)
    if diff:
        say()
        say_diff(diff)
    return DONE


def rollback(args: RollbackArgs) -> int:
    checkpoints = _checkpoints(args)
    found = checkpoints.get(args.checkpoint)
    seen = ""
    if not args.yes:
        preview = checkpoints.preview(found.id, ignored=args.ignored)
        if not args.json:
            _print(preview)
        if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return _needs_approval(args, preview)
        if not confirmed(f"roll your files back to {found.id}? [y/N] "):
            say("nothing was rolled back", sys.stderr)
            return ERROR
        seen = preview.present.tree
    try:
        done = checkpoints.rollback(found.id, ignored=args.ignored, shown_tree=seen)
    except KeyboardInterrupt:
        say(f"interlock: {safe(checkpoints.interrupted(found.id))}", sys.stderr)
        raise
    note_rollback(checkpoints.project, done.to, done.undo)
    if args.json:
        say_json(to_plain(done))
        return DONE
    say(f"rolled back to {done.to}: {counted(done.changed, 'change')}; HEAD and the index are as they were")
    for path in done.left[:_MOST_LINES]:
        say(f"  not touched, because git ignores it: {one_line(path, 200)}")
    if done.note:
        say(safe(done.note))
    say(f"to undo it: interlock checkpoint rollback {done.undo}")
    return DONE


def delete(args: DeleteArgs) -> int:
    checkpoints = _checkpoints(args)
    for name in args.checkpoints:
        checkpoints.get(name)  # all or none
    gone = [checkpoints.delete(name) for name in dict.fromkeys(args.checkpoints)]
    if args.json:
        say_json([to_plain(one) for one in gone])
    else:
        say(f"deleted: {', '.join(one.id for one in gone)}")
    return DONE


def _needs_approval(args: RollbackArgs, preview: Preview) -> int:
    how = f"interlock checkpoint rollback {args.checkpoint}{' --ignored' if args.ignored else ''} --yes"
    if args.json:
        say_json({"error": "a rollback must be confirmed", "kind": "ApprovalNeeded", "how": how, **_plain(preview)})
    say(f"interlock: a rollback must be confirmed, and no terminal is there to ask; to confirm it: {how}", sys.stderr)
    return APPROVAL


def _checkpoints(args: CommandArgs) -> Checkpoints:
    def tell(sentence: str) -> None:
        say(paint(f"interlock: {safe(sentence)}", "waiting", sys.stderr), sys.stderr)

    wake_main_thread_for_signals()
    return Checkpoints(project_of(args), tell)


def _size(checkpoint: Checkpoint) -> str:
    what = f"{counted(checkpoint.files, 'file')} in {counted(checkpoint.folders, 'folder')}"
    return f"{what}, with the ignored ones" if checkpoint.ignored else what


def _print(preview: Preview) -> None:
    if not preview.changes:
        say("a rollback would change nothing")
    else:
        say(f"a rollback would make {counted(len(preview.changes), 'change')}:")
    for change in preview.changes[:_MOST_LINES]:
        say(f"  {_SIGNS[change.change]} {change.change:8}{one_line(change.path, 200)}")
    if len(preview.changes) > _MOST_LINES:
        say(f"  … and {len(preview.changes) - _MOST_LINES} more")
    for path in preview.left[:_MOST_LINES]:
        say(f"  not touched, because git ignores it: {one_line(path, 200)}")


def _plain(preview: Preview) -> dict[str, Any]:
    return {"changes": [to_plain(change) for change in preview.changes], "left": list(preview.left)}
