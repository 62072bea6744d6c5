"""`interlock undo`: takes back the last lasting change of the user's files."""

import asyncio
import sys

from interlock.assembly.restoring.undoing import Undoing
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import APPROVAL, DONE, ERROR
from interlock.cli.terminal.output import confirmed, say, say_json, table
from interlock.cli.terminal.sessions import project_of
from interlock.ports.effects import UndoPlan
from interlock.views.display import counted, one_line, safe
from interlock.wire import to_plain

_MOST_LINES = 30


class UndoArgs(CommandArgs, frozen=True):
    redo: bool
    list: bool
    yes: bool
    force: bool


def undo(args: UndoArgs) -> int:
    undoing = Undoing(project_of(args))
    if args.list:
        return _list(args, undoing)
    plan = asyncio.run(undoing.plan(redo=args.redo))
    undoing.check(plan, force=args.force)
    if not args.yes:
        if not args.json:
            _print(plan)
        if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return _needs_approval(args, plan)
        if not confirmed(f"{_verb(plan)} {plan.id}? [y/N] "):
            say("nothing was changed", sys.stderr)
            return ERROR
    done = asyncio.run(undoing.run(plan, force=args.force))
    if args.json:
        say_json(to_plain(done))
        return DONE
    say(f"{'made again' if done.redo else 'taken back'}: {safe(done.what)} ({done.id})")
    if done.note:
        say(safe(done.note))
    if done.checkpoint:
        say(f"your versions are in checkpoint {done.checkpoint}")
    say(f"to reverse this: interlock undo{'' if done.redo else ' --redo'}")
    return DONE


def _list(args: UndoArgs, undoing: Undoing) -> int:
    rows = undoing.rows()
    if args.json:
        say_json([to_plain(row) for row in rows])
    elif not rows:
        say("nothing can be undone yet")
    else:
        shown = [(row.id, row.at[:19].replace("T", " "), row.state, one_line(row.what, 80)) for row in rows]
        table(("ID", "MADE (UTC)", "STATE", "WHAT"), shown)
    return DONE


def _print(plan: UndoPlan) -> None:
    say(f"{_verb(plan)} {plan.id}, {safe(plan.what)}: {counted(len(plan.files) + plan.more, 'change')}")
    for line in plan.files[:_MOST_LINES]:
        say(f"  {one_line(line, 200)}")
    if (rest := len(plan.files) - _MOST_LINES + plan.more) > 0:
        say(f"  … and {rest} more")


def _needs_approval(args: UndoArgs, plan: UndoPlan) -> int:
    how = f"interlock undo{' --redo' if args.redo else ''}{' --force' if args.force else ''} --yes"
    if args.json:
        say_json({"error": "an undo must be confirmed", "kind": "ApprovalNeeded", "how": how, **to_plain(plan)})
    say(f"interlock: an undo must be confirmed, and no terminal is there to ask; to confirm it: {how}", sys.stderr)
    return APPROVAL


def _verb(plan: UndoPlan) -> str:
    return "redo" if plan.redo else "undo"
