"""Checkpoints of a project: connects the store of snapshots with the project and its settings."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from interlock.assembly.project import Project, make_project, now, plain_git
from interlock.errors import InterlockError, Unavailable
from interlock.workspaces.checkpoints.rollback import Preview, Rollback, RolledBack, read_record
from interlock.workspaces.checkpoints.store import Checkpoint, CheckpointStore
from interlock.workspaces.git import shown
from interlock.workspaces.git_workspaces import project_key
from interlock.workspaces.records import ROLLBACK

T = TypeVar("T")


class Checkpoints:
    """All operations. Each first finishes a rollback that was interrupted, and passes what it did to `tell`."""

    def __init__(self, project: Project, tell: Callable[[str], None]) -> None:
        self.project = self._project = project
        self._tell = tell

    def create(self, message: str, *, ignored: bool) -> Checkpoint:
        make_project(self._project)

        async def work(store: CheckpointStore) -> Checkpoint:
            return await store.create(now(), message, ignored=ignored)

        return self._run(work)

    def list(self) -> tuple[Checkpoint, ...]:
        """Works also while a rollback that was interrupted cannot be finished."""

        async def work() -> tuple[Checkpoint, ...]:
            store = await self._store()
            if (store.scratch / ROLLBACK).exists():
                try:
                    with store.locked():
                        await store.open()
                        await self._settle(store)
                except InterlockError as error:
                    record = read_record(store.scratch / ROLLBACK)
                    if record is not None:
                        self._tell(f"a rollback to {record.to} is not finished: {error}")
            return await store.list()

        return _translated(work())

    def get(self, name: str) -> Checkpoint:
        return next((found for found in self.list() if found.id == name), None) or self._run(
            lambda store: store.get(name)
        )

    def preview(self, name: str, *, ignored: bool) -> Preview:
        async def work(store: CheckpointStore) -> Preview:
            return await Rollback(store).preview(await store.get(name), ignored=ignored)

        return self._run(work)

    def diff(self, name: str, preview: Preview) -> str:
        """The lines that a rollback would change."""

        async def work(store: CheckpointStore) -> str:
            return await store.diff(preview.present.tree, await store.tree_of(name))

        return self._run(work)

    def tree_unless(self, checkpoint: str) -> str:
        """Stores the present files without a name; empty, and the checkpoint is deleted, if they are those in it."""

        async def work(store: CheckpointStore) -> str:
            now = (await store.take(ignored=False)).tree
            if now != await store.tree_of(checkpoint):
                return now
            await store.delete(checkpoint)
            return ""

        return self._run(work)

    def changed_since(self, tree: str) -> tuple[str, ...]:
        """The files that differ from a stored tree; none if the tree is gone."""

        async def work(store: CheckpointStore) -> tuple[str, ...]:
            now = (await store.take(ignored=False)).tree
            if not await store.has(tree):
                return ()
            return tuple(shown(path) for path in await store.changed_files(tree, now))

        return self._run(work)

    def rollback(self, name: str, *, ignored: bool, shown_tree: str = "") -> RolledBack:
        """`shown_tree`: the files of the preview that the user saw."""
        make_project(self._project)

        async def work(store: CheckpointStore) -> RolledBack:
            return await Rollback(store).run(await store.get(name), now(), ignored=ignored, shown_tree=shown_tree)

        return self._run(work)

    def interrupted(self, name: str) -> str:
        """What an interrupted rollback to this checkpoint has left."""
        record = read_record(self._scratch / ROLLBACK)
        if record is None or record.phase == "staging":
            return f"the rollback to {name} was interrupted; 'interlock checkpoint show {name}' names what differs"
        return f"the rollback to {name} was interrupted; the next 'interlock checkpoint' command finishes it"

    def delete(self, name: str) -> Checkpoint:
        return self._run(lambda store: store.delete(name))

    def _run(self, work: Callable[[CheckpointStore], Coroutine[Any, Any, T]]) -> T:
        async def locked() -> T:
            store = await self._store()
            with store.locked():
                await store.open()
                await self._settle(store)
                return await work(store)

        return _translated(locked())

    async def _settle(self, store: CheckpointStore) -> None:
        if did := await Rollback(store).settle():
            self._tell(did)

    async def _store(self) -> CheckpointStore:
        return CheckpointStore(self._project.root, self._scratch, await plain_git(), self._project.not_in_git)

    @property
    def _scratch(self) -> Path:
        return self._project.state_dir.resolve() / "git" / project_key(self._project.root)


def _translated(work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(work)
    except OSError as error:
        raise Unavailable(f"{error.filename or 'a file'}: {error.strerror}") from error
