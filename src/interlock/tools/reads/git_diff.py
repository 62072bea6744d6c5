"""`get_git_diff`: the worker's changes so far, from git in the sandbox."""

import asyncio
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.ports.processes import Job, Sandbox
from interlock.ports.tools import ToolPlace
from interlock.tools.files.paths import shown

_SECONDS = 60.0
_MOST_CLOSED = 500
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
_MOST_CHARACTERS = 39_000
_SAFE = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.quotePath=false"),
    *("core.pager=cat", "diff.external=", "diff.ignoreSubmodules=all", "submodule.recurse=false", "gc.auto=0"),
)


class GetGitDiff(Struct, forbid_unknown_fields=True, frozen=True):
    path: Annotated[str, Meta(description="Only this file or folder, relative to the worktree.")] = "."


class GitDiff:
    def __init__(self, sandbox: Sandbox, env: Mapping[str, str], names: ClosedNames) -> None:
        self._sandbox = sandbox
        self._names = names
        self._env = {
            **env,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
        }

    async def get_git_diff(self, place: ToolPlace, args: GetGitDiff) -> str:
        # git trusts files of the worktree, which the worker wrote: without a sandbox this could run any program.
        if self._sandbox.level == "off":
            raise ToolFailure("The sandbox is off, so git is not run unasked; ask for `git diff HEAD` with run_shell.")
        # Both names of a renamed file are listed, so that the text of a closed file is not shown as another one's.
        names = await self._git(place, *_DIFF, "--name-only", "-z", "HEAD", "--", args.path)
        closed = [name for name in os.fsdecode(names).split("\0") if name and self._names.is_closed(name)]
        if len(closed) > _MOST_CLOSED:
            raise ToolFailure(f"More than {_MOST_CLOSED} changed files are closed to tools; give a path to see less.")
        without = (f":(top,exclude,literal){name}" for name in closed)
        changed = _text(await self._git(place, *_DIFF, "HEAD", "--", args.path, *without))
        new = _text(await self._git(place, "ls-files", "--others", "--exclude-standard", "--", args.path))
        parts = [changed.rstrip("\n")] if changed.strip() else []
        parts += [f"Changed, but closed to tools: {', '.join(shown((name,)) for name in closed)}"] if closed else []
        parts += [f"New files, not in git yet:\n{new.rstrip()}"] if new.strip() else []
        return "\n".join(parts) or "Nothing was changed since the ticket began."

    async def _git(self, place: ToolPlace, *words: str) -> bytes:
        flags = [part for setting in _SAFE for part in ("-c", setting)]
        with tempfile.TemporaryDirectory() as folder:
            finished = await self._sandbox.run(
                Job(
                    argv=("git", *flags, *words),
                    cwd=place.root,
                    env=self._env,
                    readable=(place.root, *place.readable),
                    timeout_s=_SECONDS,
                    keep=folder,
                )
            )
            if finished.status != "exited" or finished.exit_code != 0:
                why = finished.message or finished.stderr.strip()[-500:] or finished.status
                raise ToolFailure(f"git could not say what changed: {why}")
            return await asyncio.to_thread(Path(folder, "stdout").read_bytes)


def _text(content: bytes) -> str:
    output = content.decode(errors="replace").removesuffix("\n")
    if len(output) <= _MOST_CHARACTERS:
        return output
    return f"{output[:_MOST_CHARACTERS]}\n[… cut here: {len(output):,} characters; give a path to see less]"
