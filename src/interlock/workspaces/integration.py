"""The track's branch: its tickets, and merging an attempt exactly once."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from interlock.domain.checks.test_tampering import ChangedFile
from interlock.domain.values.tickets import Saved
from interlock.errors import Rejected
from interlock.ports.processes import Output
from interlock.ports.workspaces import Combined, Conflict
from interlock.workspaces.git import failure, shown, text
from interlock.workspaces.objects import attempt_of, with_trailers
from interlock.workspaces.repository import Repository

_MOST_CONFLICT = 20_000  # characters of conflict text
MOST_DIFF = 200_000
MOST_WHOLE = 20_000_000
_LOG = "--format=%H %(trailers:key=Ticket,valueonly,separator=%x20)"


def branch(track: str) -> str:
    return f"refs/heads/interlock/{track}"


def base_ref(track: str) -> str:
    return f"refs/interlock/base/{track}"


def attempts_ref(track: str, ticket: str) -> str:
    return f"refs/interlock/attempts/{track}/{ticket}"


def attempt_ref(track: str, ticket: str, attempt: int) -> str:
    return f"{attempts_ref(track, ticket)}/{attempt}"


@dataclass
class _Merged:
    """The tickets on a track's branch at `tip`."""

    tip: str
    commits: dict[str, str]


class Integration:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._merged: dict[str, _Merged] = {}
        self._made: dict[str, tuple[str, str]] = {}  # combined and not yet published: its ticket and its parent
        self._writing = asyncio.Lock()

    async def start(self, track: str, head: str) -> str:
        """Creates the branch at `head` unless it exists; returns its first base commit."""
        base, tip = await self._repository.resolve(base_ref(track)), await self._repository.resolve(branch(track))
        if base is not None and tip is not None:
            return base
        if tip is not None:
            begun = await self._repository.refs("merge-base", head, tip, ok=(0, 1))
            base = text(begun.stdout) or tip
        else:
            base = head  # also if an older branch of this name was deleted: the new one starts here
        lines = [f"update {base_ref(track)} {base}"]
        if tip is None:
            lines.append(f"create {branch(track)} {base}")
        output = await self._write("--stdin", stdin="".join(f"{line}\n" for line in lines).encode())
        if output.code != 0:
            if b"refs/heads/interlock'" in output.stderr:
                raise Rejected("a branch named 'interlock' is in the way of 'interlock/…' branches: rename it")
            raise failure("update-ref", output)
        return base

    async def tip(self, track: str) -> str:
        commit = await self._repository.resolve(branch(track))
        if commit is None:
            raise Rejected(f"track {track!r} has no branch interlock/{track}")
        return commit

    async def tip_and_tree(self, track: str) -> tuple[str, str]:
        """The tip of the branch and its files."""
        (tip,) = await self._repository.commits.find(branch(track))
        if tip is None:
            raise Rejected(f"track {track!r} has no branch interlock/{track}")
        return tip.id, tip.tree

    async def tree_of(self, commit: str) -> str:
        tree = await self._repository.commits.tree(commit)
        if tree is None:
            raise Rejected(f"the commit {commit} is missing in the repository")
        return tree

    async def keep(self, track: str, ticket: str, attempt: int, commit: str) -> None:
        """Stores the commit of an attempt on its own ref."""
        await self.point(attempt_ref(track, ticket, attempt), commit)

    async def is_kept(self, track: str, ticket: str, attempt: int) -> bool:
        return await self._repository.resolve(attempt_ref(track, ticket, attempt)) is not None

    async def known_trees(self, track: str, ticket: str, commits: Iterable[str]) -> frozenset[str]:
        """The trees of these commits and of all attempts that are stored."""
        trees = [await self.tree_of(commit) for commit in commits]
        stored = await self._repository.refs("for-each-ref", "--format=%(tree)", f"{attempts_ref(track, ticket)}/")
        return frozenset((*trees, *text(stored.stdout).split()))

    async def merged_tickets(self, track: str) -> frozenset[str]:
        """All tickets with a commit on the track's branch."""
        tip = await self._repository.resolve(branch(track))
        return frozenset() if tip is None else frozenset(await self._merged_at(track, tip))

    async def point(self, ref: str, commit: str) -> None:
        async with self._writing:
            if await self._repository.commits.point(ref, commit):
                return
        output = await self._write(ref, commit)
        if output.code != 0:
            raise failure("update-ref", output)

    async def combine(
        self, track: str, ticket: str, saved: Saved, message: str, onto: str | None = None
    ) -> Combined | Conflict:
        """The attempt's change on top of the branch (or of `onto`); the existing commit if the ticket is merged."""
        tip, tip_tree, attempt = await self._read_tip_and_attempt(track, saved)
        if done := (await self._merged_at(track, tip)).get(ticket):
            return Combined(tip=done, commit=done, tree=await self.tree_of(done))
        if onto is not None and onto != tip:
            tip, tip_tree = onto, await self.tree_of(onto)
        tree = saved.tree if tip == saved.base else await self._merge(track, ticket, tip, saved.commit)
        if isinstance(tree, Conflict):
            return tree
        if tree == tip_tree:
            return Combined(tip=tip, commit=tip, tree=tree, empty=True)
        commit = await self._repository.commit(tree, (tip,), with_trailers(message, ticket, attempt))
        self._made[commit] = (ticket, tip)
        return Combined(tip=tip, commit=commit, tree=tree)

    async def publish(self, track: str, combined: Combined) -> bool:
        if combined.tip == combined.commit:
            return True  # it existed when the attempt was combined
        output = await self._write("-m", "interlock: merge", branch(track), combined.commit, combined.tip)
        if output.code == 0:
            self._note(track, combined)
            return True
        tip = await self.tip(track)
        if tip == combined.tip:
            raise failure("update-ref", output)
        return await self._repository.is_descendant(tip, combined.commit)

    def _note(self, track: str, combined: Combined) -> None:
        """Updates the known tickets without reading the branch if all new commits were made here."""
        commit, news = combined.commit, dict[str, str]()
        while commit != combined.tip and commit in self._made:
            ticket, parent = self._made.pop(commit)
            news[ticket] = commit
            commit = parent
        known = self._merged.get(track)
        if known is not None and known.tip == commit == combined.tip:
            known.commits.update(reversed(news.items()))
            known.tip = combined.commit

    async def merged_commit(self, track: str, ticket: str) -> str | None:
        tip = await self._repository.resolve(branch(track))
        return None if tip is None else (await self._merged_at(track, tip)).get(ticket)

    async def _read_tip_and_attempt(self, track: str, saved: Saved) -> tuple[str, str, int | None]:
        """The tip of the branch, its tree, and the number of the attempt."""
        tip, commit = await self._repository.commits.find(branch(track), saved.commit)
        if tip is None or commit is None:
            missing = branch(track) if tip is None else saved.commit
            raise Rejected(f"{missing} is missing in the repository, which track {track!r} needs")
        return tip.id, tip.tree, attempt_of(commit.content) if commit.tree == saved.tree else None

    async def _merge(self, track: str, ticket: str, tip: str, commit: str) -> str | Conflict:
        how = ("--write-tree", "--name-only", "-z")
        output = await self._repository.plumbing("merge-tree", *how, tip, commit, durable=True, ok=(0, 1))
        tree, _, rest = output.stdout.partition(b"\0")
        if output.code == 0:
            return tree.decode().strip()
        listed, _, messages = rest.partition(b"\0\0")
        paths = tuple(dict.fromkeys(shown(path) for path in listed.split(b"\0") if path))
        hunks = await self._hunks(tip, tree.decode(), [path for path in listed.split(b"\0") if path])
        hunks = hunks.replace(f"<<<<<<< {tip}", f"<<<<<<< interlock/{track}").replace(
            f">>>>>>> {commit}", f">>>>>>> {ticket}"
        )
        return Conflict(paths, cut(f"{_messages(messages)}\n\n{hunks}", _MOST_CONFLICT))

    async def changed(self, base: str, commit: str) -> str:
        how = ("-r", "--stat=100", "--stat-count=200", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
        return cut(shown((await self._repository.plumbing("diff-tree", *how, base, commit)).stdout), _MOST_CONFLICT)

    async def changes(self, base: str, commit: str) -> tuple[ChangedFile, ...]:
        """The changed files, without rename detection: a moved file is deleted and added."""
        output = await self._repository.plumbing("diff-tree", "-r", "-z", "--no-renames", base, commit)
        parts = output.stdout.decode("utf-8", "surrogateescape").split("\0")
        changed: list[ChangedFile] = []
        for facts, path in zip(parts[::2], parts[1::2], strict=False):
            blob, how = facts.split(" ")[3:5]
            words: dict[str, Literal["added", "deleted"]] = {"A": "added", "D": "deleted"}
            changed.append(ChangedFile(words.get(how[0], "changed"), path, "" if how[0] == "D" else blob))
        return tuple(changed)

    async def diff(self, commit: str) -> str:
        """The diff of a commit."""
        how = ("-r", "--patch", "-M", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-color")
        output = await self._repository.plumbing("diff-tree", *how, f"{commit}^", commit)
        return cut(text(output.stdout), MOST_DIFF)

    async def diff_of(self, base: str, commit: str, paths: Sequence[str]) -> str:
        """The diff of some files between two commits."""
        how = ("-r", "--patch", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        specs = [f":(top,literal){path}" for path in paths]
        output = await self._repository.plumbing("diff-tree", *how, base, commit, "--", *specs)
        return cut(text(output.stdout), MOST_DIFF)

    async def whole_diff(self, base: str, commit: str) -> str:
        """Everything that differs between two commits, for a person who decides about all of it."""
        how = ("-r", "--patch", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
        return cut(text((await self._repository.plumbing("diff-tree", *how, base, commit)).stdout), MOST_WHOLE)

    async def _hunks(self, tip: str, tree: str, paths: list[bytes]) -> str:
        """The conflicting files with conflict markers, as a diff against the tip."""
        how = ("-r", "--patch", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        few = [path.decode() for path in paths[:50] if path.decode("utf-8", "ignore").encode() == path]
        specs = [f":(top,literal){path}" for path in few]
        return text((await self._repository.plumbing("diff-tree", *how, tip, tree, "--", *specs)).stdout)

    async def _merged_at(self, track: str, tip: str) -> dict[str, str]:
        known = self._merged.get(track)
        if known is not None and known.tip == tip:
            return known.commits
        since = known.tip if known is not None and await self._repository.is_descendant(tip, known.tip) else None
        commits = dict(known.commits) if known is not None and since is not None else {}
        since = since or await self._repository.resolve(base_ref(track))
        limits = [tip] if since is None else [tip, f"^{since}"]
        output = await self._repository.refs("log", "--no-merges", "--reverse", _LOG, *limits)
        for line in shown(output.stdout).splitlines():
            commit, _, ticket = line.partition(" ")
            if ticket:
                commits[ticket] = commit
        self._merged[track] = _Merged(tip, commits)
        return commits

    async def _write(self, *args: str, stdin: bytes | None = None) -> Output:
        """Updates one of our own refs. Only we write them: an existing lock is from a killed git and is removed."""
        async with self._writing:
            output = await self._repository.refs("update-ref", *args, stdin=stdin, durable=True, ok=(0, 1, 128))
            if b".lock': File exists" in output.stderr:
                self.unlock()
                output = await self._repository.refs("update-ref", *args, stdin=stdin, durable=True, ok=(0, 1, 128))
            return output

    def unlock(self) -> None:
        refs = Path(self._repository.place.common_dir, "refs")
        for folder in (refs / "heads" / "interlock", refs / "interlock"):
            for lock in folder.rglob("*.lock") if folder.is_dir() else ():
                with suppress(OSError):
                    lock.unlink()


def cut(what: str, most: int) -> str:
    return what if len(what) <= most else f"{what[:most]}\n[… {len(what) - most:,} more characters]"


def _messages(output: bytes) -> str:
    """The messages of merge-tree: after each group `count, paths…, kind` comes one sentence."""
    fields = output.split(b"\0")
    lines: list[str] = []
    position = 0
    while position < len(fields) and fields[position].isdigit():
        position += int(fields[position]) + 3
        lines.append(shown(fields[position - 1]).strip())
    return "\n".join(lines)
