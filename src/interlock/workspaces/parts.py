"""Commits with only some parts of a change: a person accepted these parts of its diff."""

import secrets
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from interlock.domain.review.diff_parts import patch_of
from interlock.errors import Rejected
from interlock.workspaces.git import shown
from interlock.workspaces.repository import Repository

_HOW = ("-r", "--patch", "--binary", "--full-index", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
_EXACT = ("utf-8", "surrogateescape")


async def tree_of_parts(repository: Repository, base: str, commit: str, parts: Collection[int]) -> str:
    """The files of `base` with these parts of the change to `commit`. Numbers are those of the shown diff."""
    diff = (await repository.plumbing("diff-tree", *_HOW, base, commit)).stdout.decode(*_EXACT)
    patch = patch_of(diff, frozenset(parts)).encode(*_EXACT)
    with _index_in(repository.scratch) as index:
        await repository.plumbing("read-tree", base, index=index)
        how = ("apply", "--cached", "--whitespace=nowarn", "-")
        applied = await repository.plumbing(*how, index=index, stdin=patch, durable=True, ok=(0, 1, 128))
        if applied.code != 0:
            why = next((line for line in shown(applied.stderr).splitlines() if line.strip()), "git apply failed")
            raise Rejected(f"these parts cannot be taken without the others: {why}")
        written = await repository.plumbing("write-tree", index=index, durable=True)
    return written.stdout.decode().strip()


@contextmanager
def _index_in(folder: Path) -> Generator[str]:
    """The path of a new index, which is removed afterwards."""
    index = folder / f"parts-{secrets.token_hex(8)}.index"
    try:
        yield str(index)
    finally:
        index.unlink(missing_ok=True)
        Path(f"{index}.lock").unlink(missing_ok=True)


def remove_left(folder: Path) -> None:
    """Removes what a killed process left. Nothing else may be at work in this folder."""
    for left in folder.glob("parts-*.index*"):
        left.unlink(missing_ok=True)
