"""Workspaces without git: a commit is a folder's name, and showing it copies the folder."""

import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import cast

from interlock.domain.values.tickets import Saved
from interlock.ports.workspaces import DependencyLists, SetupDone, Workspace, Workspaces


class FolderWorkspaces:
    """`commits/<name>` are trees; each ticket's worktree is a copy of one. Files `*.ignored` are not part of any.

    Showing a tree keeps ignored files only where a setup command made them.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._setups: dict[tuple[str, str], str] = {}
        self.commit("base", {})

    @property
    def port(self) -> Workspaces:
        """The part of the port that gates and crews use."""
        return cast("Workspaces", self)

    def commit(self, name: str, files: dict[str, str]) -> str:
        folder = self.root / "commits" / name
        folder.mkdir(parents=True)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return name

    def files(self, commit: str) -> dict[str, str]:
        folder = self.root / "commits" / commit
        return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}

    def path_for(self, track: str, ticket: str) -> str:
        return str(self.root / "worktrees" / track / ticket)

    async def prepare(self, track: str, ticket: str) -> Workspace:
        shutil.rmtree(self.path_for(track, ticket), ignore_errors=True)
        self._setups.pop((track, ticket), None)
        return await self.show_tree(track, ticket, "base")

    async def changed(self, base: str, commit: str) -> str:
        return ""

    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace:
        return self._show(track, ticket, commit)

    def _show(self, track: str, ticket: str, commit: str) -> Workspace:
        path = Path(self.path_for(track, ticket))
        path.mkdir(parents=True, exist_ok=True)
        for entry in path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.suffix != ".ignored" or (track, ticket) not in self._setups:
                entry.unlink()
        shutil.copytree(self.root / "commits" / commit, path, dirs_exist_ok=True, symlinks=True)
        return Workspace(str(path), commit, None, setup=self._setups.get((track, ticket), ""), made_from="base")

    async def note_setup(self, track: str, ticket: str, note: SetupDone) -> None:
        self._setups[track, ticket] = note.digest

    async def dependency_lists(self, commit: str | None = None, commands: Sequence[str] = ()) -> DependencyLists:
        return DependencyLists("lists", (), frozenset())

    async def checkout(self, commit: str | None = None) -> Workspace:
        raise NotImplementedError

    async def discard(self, checkout: Workspace) -> None:
        raise NotImplementedError

    async def save(self, workspace: Workspace, track: str, ticket: str, attempt: int, message: str) -> Saved:
        name = f"{track}-{ticket}-{attempt}"
        shutil.copytree(
            workspace.path, self.root / "commits" / name, ignore=shutil.ignore_patterns("*.ignored"), symlinks=True
        )
        (self.root / f"{name}.message").write_text(message)
        return Saved(workspace.base, name, sha256(repr(self.files(name)).encode()).hexdigest())
