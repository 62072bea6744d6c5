"""The private repository of a folder that has none: its commits are pictures of the folder."""

from interlock.errors import Unavailable
from interlock.workspaces.git import text
from interlock.workspaces.repository import SNAPSHOTS, Repository
from interlock.workspaces.staging import stage, unlock


async def snapshot(repository: Repository) -> str:
    """The commit that holds the folder as it is now: the last one, or a new one if anything changed."""
    index = f"{repository.place.git_dir}/index"
    unlock(index)
    tree = await stage(repository.plumbing, repository.place.top, index, frozenset())
    last = await repository.resolve("HEAD")
    if last is not None and text((await repository.refs("rev-parse", f"{last}^{{tree}}")).stdout) == tree:
        return last
    parents = () if last is None else (last,)
    commit = await repository.objects.commit(tree, parents, "The folder as it was\n")
    ref = f"refs/heads/{SNAPSHOTS}"
    moved = await repository.refs("update-ref", ref, commit, last or "", durable=True, ok=(0, 1, 128))
    if moved.code != 0:
        raise Unavailable(f"the folder's snapshot could not be kept: {text(moved.stderr)}")
    return commit
