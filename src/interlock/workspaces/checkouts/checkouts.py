"""Checkouts that belong to no ticket: to install packages in, and to try the project's tests.

Several processes may have some at the same time, beside the one that holds the project. So each carries the process in
its name, and what a killed process left is removed by the next one.
"""

import hashlib
import os
import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from interlock.ports.workspaces import DependencyLists, Link, Workspace
from interlock.workspaces.checkouts.dependency_files import is_compiled, is_dependency_list, words_of
from interlock.workspaces.checkouts.include import Trusts
from interlock.workspaces.checkouts.relevant_parts import is_partly_relevant, relevant
from interlock.workspaces.checkouts.worktrees import Worktrees
from interlock.workspaces.repository import Repository

_TRACK = "checkout"

Read = Callable[[str, str], Awaitable[bytes | Link | None]]


class Checkouts:
    def __init__(self, repository: Repository, project: str, root: Path, trusts: Trusts) -> None:
        self._repository = repository
        self._worktrees = Worktrees(repository, project, root, trusts, repository.scratch / "checkouts")

    async def make(self, commit: str) -> Workspace:
        for track, ticket in self._worktrees.swept(frozenset()):
            if not _is_alive(ticket.partition("-")[0]):
                await self._worktrees.remove(track, ticket)
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        await self._worktrees.make(_TRACK, name, commit, before_work=True)
        root = str(self._worktrees.folder(_TRACK, name))
        path = self._worktrees.inside(_TRACK, name)
        git_dir = None if self._repository.private else self._repository.place.common_dir
        return Workspace(path=path, base=commit, git_dir=git_dir, root=root, made_from=commit)

    async def remove(self, checkout: Workspace) -> None:
        await self._worktrees.remove(_TRACK, os.path.basename(checkout.worktree))
        await self._worktrees.close()

    async def dependency_lists(self, commit: str, read: Read, commands: Sequence[str]) -> DependencyLists:
        """The lists in the project's folder. Of some files only the parts that decide what is installed count.

        Files that the commands name count too.
        """
        named = words_of(commands)
        prefix = self._repository.place.prefix
        start = os.fsencode(f"{prefix}/") if prefix else b""
        form = ("-r", "-z", "--full-tree", "--format=%(objectname) %(path)")
        listed = await self._repository.plumbing("ls-tree", *form, commit)
        files, tracked, compiled = list[tuple[str, str]](), list[bytes](), list[tuple[str, str]]()
        for entry in listed.stdout.split(b"\0"):
            blob, _, full = entry.partition(b" ")
            if not full.startswith(start) or full == start:
                continue
            path = full[len(start) :]
            tracked.append(path)
            name = os.fsdecode(path)
            if is_compiled(path):
                compiled.append((name, blob.decode()))
            if not is_dependency_list(path, named):
                continue
            content = await read(commit, name) if is_partly_relevant(name) else None
            counted = relevant(name, content) if isinstance(content, bytes) else blob
            files.append((name, hashlib.sha256(counted).hexdigest()))
        digest = hashlib.sha256("\0".join(part for file in files for part in file).encode(errors="surrogateescape"))
        return DependencyLists(digest.hexdigest(), tuple(files), frozenset(tracked), tuple(compiled))


def _is_alive(pid: str) -> bool:
    return pid.isdigit() and os.path.exists(f"/proc/{pid}")
