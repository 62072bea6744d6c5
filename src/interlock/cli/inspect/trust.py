"""`interlock trust`: what came with a project and would grant rights or start programs, and a yes to exactly that."""

import sys
from typing import Literal

import msgspec
from msgspec import Struct

from interlock.assembly.project import POLICY, SETUP, Project, Thing, project_starts, things_to_trust, trust_store
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import APPROVAL, DONE
from interlock.cli.terminal.output import paint, say, say_json
from interlock.cli.terminal.sessions import project_of
from interlock.views.display import safe


class _Shown(Struct, frozen=True):
    thing: Thing
    state: Literal["trusted", "new", "changed"]


class TrustArgs(CommandArgs, frozen=True):
    show: bool
    yes: bool


def trust(args: TrustArgs) -> int:
    project: Project = project_of(args)
    shown = _look(project)
    waiting = [one for one in shown if one.state != "trusted"]
    if not args.json:
        _tell(shown, waiting)
    if args.show or not waiting:
        if args.json:
            _json(project, shown, trusted=not waiting)
        return DONE
    trusted = args.yes or (not args.json and _asked("trust exactly this? [y/N] "))
    if trusted:
        trust_store(project).add([(one.thing.digest, one.thing.name) for one in waiting])
    if args.json:
        _json(project, shown, trusted=trusted)
    elif trusted:
        say("trusted; any change to it asks again")
    else:
        say("not trusted; to trust it: interlock trust --yes", sys.stderr)
    return DONE if trusted else APPROVAL


def _look(project: Project) -> list[_Shown]:
    store = trust_store(project)
    shown: list[_Shown] = []
    for thing in things_to_trust(project):
        known = "changed" if store.knows(thing.name) else "new"
        shown.append(_Shown(thing, "trusted" if store.trusts(thing.digest) else known))
    return shown


def _tell(shown: list[_Shown], waiting: list[_Shown]) -> None:
    if not shown:
        say("this project brings nothing that must be trusted")
        return
    known = [one.thing.name for one in shown if one.state == "trusted"]
    if known:
        say(paint(f"trusted already: {safe(', '.join(known))}", "dim"))
    for one in waiting:
        about = f" ({one.thing.what})" if one.thing.what else ""
        say(f"{paint(one.state, 'waiting')} {safe(one.thing.name)}{about}, digest {one.thing.digest}:\n")
        for line in _readable(one.thing).splitlines():
            say(f"  {safe(line)}")
        say()


def _readable(thing: Thing) -> str:
    """Rules are kept as JSON on one line."""
    content = msgspec.json.format(thing.content, indent=2) if thing.name == POLICY else thing.content
    return content.decode(errors="replace")


def _json(project: Project, shown: list[_Shown], *, trusted: bool) -> None:
    starts = [{"key": start.key, "text": start.text, "digest": start.digest} for start in project_starts(project)]
    setup = next((start for start in starts if start["key"] == SETUP), {"text": None, "digest": None})
    things = [
        {
            "name": one.thing.name,
            "state": one.state,
            "digest": one.thing.digest,
            "content": one.thing.content.decode(errors="replace"),
        }
        for one in shown
    ]
    told = {"setup": setup["text"], "digest": setup["digest"], "starts": starts, "things": things}
    say_json({**told, "trusted": trusted})


def _asked(question: str) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and input(question).strip().lower() == "y"
