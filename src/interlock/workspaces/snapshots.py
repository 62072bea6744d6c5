"""The private repository of a folder without one: its commits are snapshots of the folder."""

import asyncio

from interlock.errors import Unavailable
from interlock.workspaces.checkouts.staging import forget, stage, unlock
from interlock.workspaces.repository import SNAPSHOTS, Repository


class Snapshots:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._taking = asyncio.Lock()

    async def take(self) -> str:
        """The commit of the current folder: the last one, or a new one after a change."""
        async with self._taking:
            return await self._take()

    async def _take(self) -> str:
        repository = self._repository
        index = f"{repository.place.git_dir}/index"
        unlock(index)
        try:
            tree = await stage(repository.plumbing, repository.place.top, index, frozenset())
        except Unavailable:
            forget(index)
            tree = await stage(repository.plumbing, repository.place.top, index, frozenset())
        last = await repository.resolve("HEAD")
        if last is not None and await repository.commits.tree(last) == tree:
            return last
        parents = () if last is None else (last,)
        commit = await repository.commit(tree, parents, "The folder as it was\n")
        await repository.refs("update-ref", f"refs/heads/{SNAPSHOTS}", commit, last or "", durable=True)
        return commit
