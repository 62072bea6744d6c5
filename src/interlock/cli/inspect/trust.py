"""`interlock trust`: show the project's files that grant rights or start programs, and trust exactly these."""

import sys
from typing import Literal

import msgspec
from msgspec import Struct

from interlock.assembly.locations import FOLDER
from interlock.assembly.project import (
    POLICY,
    SERVICES,
    SETUP,
    Project,
    TrustItem,
    project_starts,
    standing,
    trust_items,
    trust_store,
)
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import APPROVAL, DONE
from interlock.cli.terminal.output import confirmed, paint, say, say_json
from interlock.cli.terminal.sessions import folder_of
from interlock.views.display import safe


class _Shown(Struct, frozen=True):
    thing: TrustItem
    state: Literal["trusted", "new", "changed", "foreign"]


class TrustArgs(CommandArgs, frozen=True):
    show: bool
    yes: bool


def trust(args: TrustArgs) -> int:
    project: Project = folder_of(args)
    shown = _with_states(project)
    waiting = [item for item in shown if item.state in ("new", "changed")]
    if not args.json:
        _print(shown, waiting)
    if args.show or not waiting:
        if args.json:
            _say_json(project, shown, trusted=not waiting)
        return DONE
    trusted = args.yes or (not args.json and confirmed("trust exactly this? [y/N] "))
    if trusted:
        trust_store(project).add([(item.thing.digest, item.thing.name) for item in waiting])
    if args.json:
        _say_json(project, shown, trusted=trusted)
    elif trusted:
        say("trusted; any change to it asks again")
    else:
        say("not trusted; to trust it: interlock trust --yes", sys.stderr)
    return DONE if trusted else APPROVAL


def _with_states(project: Project) -> list[_Shown]:
    store = trust_store(project)
    shown: list[_Shown] = []
    for thing in trust_items(project):
        known = "changed" if store.ever_trusted(thing.name) else "new"
        shown.append(_Shown(thing, "trusted" if store.trusts(thing.digest) else known))
    if not (found := standing(project)).counts:  # only `interlock adopt` changes this
        shown.append(_Shown(TrustItem(FOLDER, found.sentence.encode()), "foreign"))
    return shown


def _print(shown: list[_Shown], waiting: list[_Shown]) -> None:
    if not shown:
        say("this project has nothing that must be trusted")
        return
    known = [item.thing.name for item in shown if item.state == "trusted"]
    if known:
        say(paint(f"trusted already: {safe(', '.join(known))}", "dim"))
    for item in waiting:
        about = f" ({item.thing.what})" if item.thing.what else ""
        say(f"{paint(item.state, 'waiting')} {safe(item.thing.name)}{about}, digest {item.thing.digest}:\n")
        for line in _readable(item.thing).splitlines():
            say(f"  {safe(line)}")
        say()


def _readable(thing: TrustItem) -> str:
    """The content, with rules and services as indented JSON: they are stored on one line."""
    content = msgspec.json.format(thing.content, indent=2) if thing.name in (POLICY, SERVICES) else thing.content
    return content.decode(errors="replace")


def _say_json(project: Project, shown: list[_Shown], *, trusted: bool) -> None:
    starts = [{"key": start.key, "text": start.text, "digest": start.digest} for start in project_starts(project)]
    setup = next((start for start in starts if start["key"] == SETUP), {"text": None, "digest": None})
    things = [
        {
            "name": item.thing.name,
            "state": item.state,
            "digest": item.thing.digest,
            "content": item.thing.content.decode(errors="replace"),
        }
        for item in shown
    ]
    report = {"setup": setup["text"], "digest": setup["digest"], "starts": starts, "things": things}
    say_json({**report, "trusted": trusted})
