"""`interlock prepare`: install the packages of the branch, or of a track's or ticket's work that changed them."""

import asyncio
import sys

from interlock.assembly.environment import ToInstall, find_lists, install
from interlock.assembly.locations import root_of
from interlock.assembly.project import Project, believed, open_project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.asking.diff_lines import say_diff
from interlock.cli.terminal.exits import APPROVAL, BLOCKED, DONE
from interlock.cli.terminal.output import confirmed, paint, say, say_json
from interlock.cli.terminal.signals import wake_main_thread_for_signals
from interlock.cli.terminal.trial_steps import TrialSteps
from interlock.cli.work.tickets import find
from interlock.environments.manifest import Manifest
from interlock.errors import Misconfigured
from interlock.views.display import counted, safe


class PrepareArgs(CommandArgs, frozen=True):
    name: str | None
    yes: bool


def prepare(args: PrepareArgs) -> int:
    wake_main_thread_for_signals()
    project = open_project(root_of(args.project))
    believed(project)
    if not project.settings.workspace.prepare:
        raise Misconfigured("[workspace] prepare is not set: 'interlock try' proposes it")
    wanted = asyncio.run(find_lists(project, *_source(project, args.name)))
    if wanted.installed is not None:
        return _done(wanted.installed, args, "they were installed before")
    if not args.json:
        _show(project, wanted)
    if not args.yes and not confirmed("Install with network? [y/N] "):
        say("Nothing was installed. Accept it with: interlock prepare --yes", sys.stderr)
        return APPROVAL
    steps = TrialSteps(quiet=args.json)
    made = asyncio.run(install(project, wanted, steps.step, steps.begin))
    steps.end()
    if isinstance(made, str):
        if args.json:
            say_json({"installed": False, "explanation": made})
        else:
            say(f"{paint('✗ not installed', 'bad')}: {safe(made)}")
        return BLOCKED
    return _done(made, args, "")


def _source(project: Project, name: str | None) -> tuple[str, tuple[str, int] | None]:
    """The track, and the ticket with the number of its last attempt; empty for the user's branch."""
    if name is None:
        return "", None
    state = read_state(project)
    if name in state.tracks:
        return name, None
    track, ticket = find(state, name)
    return track, (ticket, state.track(track).tickets[ticket].attempts)


def _show(project: Project, wanted: ToInstall) -> None:
    """What would be installed: the lists that differ from the branch's, and the commands."""
    if wanted.diff:
        say(paint("Changed against your branch:", "dim"))
        say_diff(wanted.diff)
    for command in project.settings.workspace.prepare:
        say(f"  {safe(command)}")


def _done(manifest: Manifest, args: PrepareArgs, note: str) -> int:
    if args.json:
        say_json({"installed": True, "key": manifest.key, "bytes": manifest.size, "digest": manifest.digest})
        return DONE
    more = f"; {note}" if note else ""
    say(f"{paint('✓ installed', 'good')}: {counted(manifest.count, 'file')}, {manifest.size / 1e6:,.1f} MB{more}")
    say(f"  digest of what was installed: {manifest.digest[:16]}")
    return DONE
