"""Reads commits and writes refs through git commands that stay: a ticket needs several of each."""

from dataclasses import dataclass

from interlock.errors import Unavailable
from interlock.workspaces.git import Git
from interlock.workspaces.objects import tree_of

_MOST_TREES = 5_000
_UPDATED = b"start: ok\ncommit: ok\n"


@dataclass(frozen=True)
class Commit:
    id: str
    content: bytes

    @property
    def tree(self) -> str:
        return tree_of(self.content)


class Commits:
    """The commits and our own refs of one repository. A failed conversation is repeated by a command of its own."""

    def __init__(self, refs: Git) -> None:
        self._refs = refs
        self._reader = refs.converse("cat-file", "--batch")
        self._writer = refs.converse("update-ref", "--stdin", durable=True)
        self._trees: dict[str, str] = {}  # by the full id of a commit: they never change

    async def find(self, *names: str) -> list[Commit | None]:
        """The commits that these refs or ids name."""
        request = "".join(f"{name}^{{commit}}\n" for name in names).encode()
        answer = await self._reader.ask(request, lambda answer: _parse(answer, len(names)) is not None)
        if answer is None:
            answer = (await self._refs("cat-file", "--batch", stdin=request)).stdout
        commits = _parse(answer, len(names))
        if commits is None:
            raise Unavailable(f"git cat-file gave no whole answer about {', '.join(names)}")
        for commit in commits:
            if commit is not None:
                self.note_tree(commit.id, commit.tree)
        return commits

    async def tree(self, commit: str) -> str | None:
        """The tree of a commit, by its full id."""
        if commit not in self._trees:
            await self.find(commit)
        return self._trees.get(commit)

    def known_tree(self, commit: str) -> str | None:
        return self._trees.get(commit)

    def note_tree(self, commit: str, tree: str) -> None:
        self._trees[commit] = tree
        while len(self._trees) > _MOST_TREES:
            del self._trees[next(iter(self._trees))]

    async def point(self, ref: str, commit: str) -> bool:
        """Sets a ref durably. False if git did not confirm it: a command of its own gives the reason."""
        request = f"start\nupdate {ref} {commit}\ncommit\n".encode()
        return await self._writer.ask(request, lambda answer: len(answer) >= len(_UPDATED)) == _UPDATED

    async def close(self) -> None:
        await self._reader.close()
        await self._writer.close()


def _parse(output: bytes, count: int) -> list[Commit | None] | None:
    """The answers of `cat-file --batch`: a line with the id, kind and size, then the content; or a line without."""
    commits: list[Commit | None] = []
    start = 0
    while len(commits) < count:
        end = output.find(b"\n", start)
        if end < 0:
            return None
        words = output[start:end].rsplit(b" ", 2)
        start = end + 1
        if len(words) != 3 or words[1] != b"commit" or not words[2].isdigit():
            commits.append(None)
            continue
        size = int(words[2])
        if len(output) < start + size + 1:
            return None
        commits.append(Commit(words[0].decode(), output[start : start + size]))
        start += size + 1
    return commits
