"""Saves, merges and makes a checkpoint in a process of its own, and says what is done: PROJECT STATE."""

import asyncio
import os
import sys
from pathlib import Path

from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.checkpoints.snapshots import NOW, store_of
from tests.workspaces.desk import Runner, attempt, merge, writes


async def _work(project: Path, state: Path) -> None:
    store = GitWorkspaces(project, state, Runner())
    await store.open()
    await store.start_track("t")
    _, first = await attempt(store, "t", "T-1", writes("deep/one", "1\n"))
    _say(state, f"saved {first.commit}")
    _, second = await attempt(store, "t", "T-2", writes("two", "2\n"))
    await merge(store, "t", "T-1", first)
    combined = await merge(store, "t", "T-2", second)
    _say(state, f"merged {combined.commit}")
    checkpoints = store_of(project, state, Runner())
    with checkpoints.locked():
        await checkpoints.open()
        made = await checkpoints.create(NOW, "", ignored=False)
    _say(state, f"checkpoint {made.id}")


def _say(state: Path, text: str) -> None:
    """Says it after it is recorded, as the journal does: the sync of the record also makes git's renames durable."""
    with open(state / "recorded", "a") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.write(1, f"mark {text}\n".encode())


if __name__ == "__main__":
    asyncio.run(_work(Path(sys.argv[1]), Path(sys.argv[2])))
