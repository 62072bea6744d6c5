"""`grep`: searches the files of the worktree by a regular expression.

The files are chosen here, race-free. The expression runs in the sandbox (grep_program.py), because Python cannot stop
a runaway expression, and it would block all other threads.
"""

import asyncio
import json
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.ports.tools import ToolPlace
from interlock.tools.files.globs import matcher
from interlock.tools.files.paths import Parts, Root
from interlock.tools.files.walking import Walk

_PROGRAM = resources("interlock.tools.reads").joinpath("grep_program.py").read_text(encoding="utf-8")
_INTERPRETER = os.path.realpath(sys.executable)
_SECONDS = 10.0
_LONGEST_PATTERN = 1_000


class Grep(Struct, forbid_unknown_fields=True, frozen=True):
    pattern: Annotated[str, Meta(description="Regular expression (Python), tried on each line.")]
    path: Annotated[str, Meta(description="Folder or file to search, relative to the worktree.")] = "."
    glob: Annotated[str, Meta(description="Only files that fit, such as *.py or src/**/*.ts.")] = ""
    ignore_case: Annotated[bool, Meta(description="Small and capital letters are the same.")] = False
    context: Annotated[int, Meta(ge=0, le=20, description="Lines to show before and after each match.")] = 0


class Searching:
    def __init__(self, sandbox: Sandbox, env: Mapping[str, str], names: ClosedNames, seconds: float = _SECONDS) -> None:
        self._sandbox = sandbox
        self._env = env
        self._names = names
        self._seconds = seconds

    async def grep(self, place: ToolPlace, args: Grep) -> str:
        if not args.pattern or len(args.pattern) > _LONGEST_PATTERN:
            raise ToolFailure(f"A pattern has 1 to {_LONGEST_PATTERN:,} characters.")
        paths, notes = await asyncio.to_thread(_candidates, Root(place.root, self._names), args)
        if not paths:
            return "\n".join(("There is no file to search.", *(f"[… {note}]" for note in notes)))
        with tempfile.TemporaryDirectory() as folder:
            finished = await self._sandbox.run(self._job(place, args, paths, folder))
            output = _kept_output(folder)
        return "\n".join((_search_result(finished, output, self._seconds), *(f"[… {note}]" for note in notes)))

    def _job(self, place: ToolPlace, args: Grep, paths: list[Parts], keep: str) -> Job:
        asked = {
            "pattern": args.pattern,
            "ignore_case": args.ignore_case,
            "context": args.context,
            "most_matches": 500,
            "most_characters": 35_000,
            "seconds": self._seconds,
        }
        names = b"\0".join(os.fsencode("/".join(parts)) for parts in paths)
        return Job(
            argv=(_INTERPRETER, "-I", "-S", "-c", _PROGRAM),
            cwd=place.root,
            env=self._env,
            readable=(place.root,),
            timeout_s=self._seconds + 2,
            stdin=json.dumps(asked).encode() + b"\0" + names,
            keep=keep,
        )


def _candidates(opened: Root, args: Grep) -> tuple[list[Parts], list[str]]:
    """The files to search, in order, and notes about skipped ones."""
    fits = matcher(args.glob) if args.glob else None
    with opened as root:
        fd, top = root.open(args.path, os.O_RDONLY, folder=True)
        try:
            status = os.fstat(fd)
        finally:
            os.close(fd)
        if not stat.S_ISDIR(status.st_mode):
            return [root.plain("/".join(top))], []
        walk = Walk(root, args.path)
        files = [parts for parts, kind in walk if kind == "file" and (fits is None or fits(parts[len(walk.top) :]))]
        return files, walk.notes


def _kept_output(folder: str) -> str:
    try:
        return Path(folder, "stdout").read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    except OSError:
        return ""


def _search_result(finished: Finished, output: str, seconds: float) -> str:
    match finished.status:
        case "exited" if finished.exit_code == 0:
            return output
        case "exited" if finished.exit_code == 2 and output:
            raise ToolFailure(output)
        case "timed_out":
            note = f"[… stopped: the pattern takes too long on some line (over {seconds:.0f} s); make it simpler]"
            return f"{output}\n{note}" if output else note
        case _:
            why = finished.message or finished.stderr.strip()[-500:] or finished.status
            raise ToolFailure(f"The search could not be run: {why}")
