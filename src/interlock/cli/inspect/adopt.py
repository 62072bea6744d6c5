"""`interlock adopt`: show what a foreign `.interlock` holds, and take it over as history only."""

import sys
from typing import Any

from interlock.assembly.adoption import Holding, UsableApproval, adopt, holding
from interlock.assembly.locations import root_of
from interlock.assembly.project import open_project
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import confirmed, paint, say, say_json
from interlock.cli.terminal.sessions import actor
from interlock.errors import Rejected
from interlock.views.display import counted, one_line, safe
from interlock.wire import to_plain

_MOST_LINES = 20


class AdoptArgs(CommandArgs, frozen=True):
    yes: bool


def adopt_(args: AdoptArgs) -> int:
    project = open_project(root_of(args.project))
    held = holding(project)
    if held.standing.kind == "none":
        raise Rejected(f"there is no .interlock in {project.root}; 'interlock init' makes a project")
    if held.standing.kind == "own":
        if args.json:
            say_json({**_plain(held), "adopted": False})
        else:
            say(f"{project.folder} is yours already: nothing to adopt")
        return DONE
    if not args.json:
        _print(held)
    moved = held.standing.kind == "moved"
    wanted = args.yes or (
        not args.json and confirmed("continue it here? [y/N] " if moved else "keep it as history only? [y/N] ")
    )
    if held.problem and wanted:
        raise Rejected(
            f"its journal cannot be kept as history: {held.problem}. Nothing was changed; to begin anew, move"
            f" {project.folder} away, then run 'interlock init'"
        )
    now = adopt(project, actor()) if wanted else held.standing
    if args.json:
        say_json({**_plain(held), "adopted": now.counts})
    elif now.counts:
        say("it continues here" if moved else "adopted as history: nothing in it runs, no answer in it counts")
    if not now.counts:
        say("not adopted; to adopt it: interlock adopt --yes", sys.stderr)
    return DONE if now.counts else ERROR


def _print(held: Holding) -> None:
    say(safe(held.standing.sentence))
    for problem in held.standing.problems[1:]:
        say(f"  also: {safe(problem)}")
    say(f"  journal: {(held.problem and safe(held.problem)) or counted(held.rows, 'row')}")
    _list(
        "tracks",
        [f"{row.id} ({row.status}, {row.progress.completed} of {row.progress.total} done)" for row in held.tracks],
    )
    _list("pending approvals", [_line(approval) for approval in held.approvals if not approval.answer])
    _list("answers that have not taken effect", [_line(approval) for approval in held.approvals if approval.answer])
    _list("running work", held.running)
    _list("files that are removed", held.files)
    _list("in the project's files, only after 'interlock trust'", held.settings)


def _line(approval: UsableApproval) -> str:
    answer = f": {approval.answer}{', edited' if approval.edited else ''}" if approval.answer else ""
    return f"{approval.id} {approval.kind} {approval.about}{answer}"


def _list(title: str, lines: "list[str] | tuple[str, ...]") -> None:
    if not lines:
        return
    say(f"  {paint(title, 'bold')}:")
    for line in lines[:_MOST_LINES]:
        say(f"    {one_line(line, 160)}")
    if len(lines) > _MOST_LINES:
        say(f"    … and {len(lines) - _MOST_LINES} more")


def _plain(held: Holding) -> dict[str, Any]:
    found = held.standing
    about = {"standing": found.kind, "found": found.found, "place": found.place, "problems": found.problems}
    plain: dict[str, Any] = to_plain(held)
    del plain["standing"]
    return {**about, **plain}
