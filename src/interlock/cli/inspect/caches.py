"""`interlock caches list|prune`: the installed packages of all projects."""

from datetime import UTC, datetime

from interlock.assembly.environment import environment_store
from interlock.assembly.locations import root_of
from interlock.assembly.project import open_project
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say, say_json, table
from interlock.environments.manifest import Manifest
from interlock.environments.store import Stored
from interlock.views.display import counted


class PruneArgs(CommandArgs, frozen=True):
    older_than: float | None
    larger_than: float | None
    all: bool


def list_(args: CommandArgs) -> int:
    stored = environment_store(open_project(root_of(args.project))).listed()
    if args.json:
        say_json([_as_dict(one) for one in stored])
        return DONE
    if not stored:
        say("no packages are installed yet; 'interlock try' installs those of a project")
        return DONE
    rows = [
        (one.manifest.key[:12], _size(one.manifest.size), _day(one.used_at), one.manifest.project) for one in stored
    ]
    table(("key", "size", "last used", "made for"), rows)
    say(f"{counted(len(stored), 'environment')}, {_size(sum(one.manifest.size for one in stored))}")
    return DONE


def prune(args: PruneArgs) -> int:
    """Without options by the limits of the settings."""
    project = open_project(root_of(args.project))
    limits = project.settings.workspace
    chosen = args.older_than is not None or args.larger_than is not None
    days = 0.0 if args.all else args.older_than if chosen else limits.cache_days
    most = None if args.all else args.larger_than if chosen else limits.cache_mb or None
    gone = environment_store(project).prune(older_than_days=days, larger_than_mb=most)
    if args.json:
        say_json({"removed": [manifest.key for manifest in gone], "bytes": _total(gone)})
        return DONE
    say(f"removed {counted(len(gone), 'environment')}, {_size(_total(gone))}")
    return DONE


def _total(gone: list[Manifest]) -> int:
    return sum(manifest.size for manifest in gone)


def _as_dict(stored: Stored) -> dict[str, object]:
    manifest = stored.manifest
    return {
        "key": manifest.key,
        "project": manifest.project,
        "commands": list(manifest.commands),
        "made_at": _moment(manifest.made_at),
        "used_at": _moment(stored.used_at),
        "bytes": manifest.size,
        "files": manifest.count,
        "digest": manifest.digest,
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
