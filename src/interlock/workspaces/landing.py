"""Landing: the only moment the user's branch and files change.

What it will do is computed without touching them. Doing it goes: lock the index, write files, put the new index in
place, unlock, move the branch. Cut off anywhere before the last step, the branch is where it was, the files are partly
or wholly the new ones, and landing again goes on from there.
"""

import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from interlock.errors import Rejected, Unavailable
from interlock.ports import Landing
from interlock.workspaces.git import shown, text
from interlock.workspaces.integration import Integration, branch, cut
from interlock.workspaces.repository import Repository
from interlock.workspaces.snapshots import snapshot

_SIGNATURE = b"interlock is landing\n"
_MOST_DIFF = 400_000  # characters
_MOST_LINES = 50_000
_MOST_NAMED = 10
_UNDER_WAY = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")


class Landings:
    def __init__(self, repository: Repository, integration: Integration) -> None:
        self._repository = repository
        self._integration = integration
        self._git = repository.refs
        self._top = repository.place.top
        self._index = Path(repository.place.git_dir, "index")

    async def dirty(self) -> tuple[bytes, ...]:
        """Tracked files that differ from HEAD, in the index or on disk."""
        how = ("--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all")
        output = await self._git("status", *how, work_tree=self._top)
        return tuple(entry[3:] for entry in output.stdout.split(b"\0") if entry)

    async def prepare(self, track: str) -> Landing:
        tip = await self._integration.tip(track)
        if self._repository.private:
            await snapshot(self._repository)
        before, onto = await self._head()
        shared = text((await self._git("merge-base", before, tip, ok=(0, 1))).stdout)
        if shared == tip:
            return Landing(onto, before, before, "")
        after = tip if shared == before else await self._merge(track, before, tip, onto)
        await self._refuse_overwriting(before, after)
        await self._integration.point(f"refs/interlock/landing/{track}", after)  # the answer may take weeks
        return Landing(onto, before, after, await self._diff(before, after))

    async def land(self, landing: Landing) -> None:
        if await self.is_landed(landing.after):
            return
        before, onto = await self._head()
        if (before, onto) != (landing.before, landing.branch):
            raise Rejected(f"{onto} changed since this landing was prepared; ask for it again")
        await self._refuse_overwriting(before, landing.after)
        await self._move(before, landing.after)
        moved = await self._git(
            "update-ref",
            "-m",
            "interlock: land",
            f"refs/heads/{onto}",
            landing.after,
            before,
            durable=True,
            ok=(0, 1, 128),
        )
        if moved.code != 0:
            await self._move(landing.after, before)
            raise Rejected(f"{onto} could not be moved: {text(moved.stderr).splitlines()[-1]}; nothing was landed")

    async def is_landed(self, after: str) -> bool:
        return await self._repository.descends("HEAD", after)

    async def _head(self) -> tuple[str, str]:
        """The commit and the short name of the user's current branch."""
        output = await self._git("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
        commit, name = text(output.stdout).split("\n")
        if not name.startswith("refs/heads/"):
            raise Rejected("HEAD is detached: check out the branch the track should land on")
        if what := _under_way(self._repository.place.git_dir):
            raise Rejected(f"a {what} is under way in {self._top}: finish or abort it first")
        return commit, name.removeprefix("refs/heads/")

    async def _merge(self, track: str, before: str, tip: str, onto: str) -> str:
        how = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
        output = await self._repository.plumbing(*how, before, tip, durable=True, ok=(0, 1))
        tree, *paths = output.stdout.split(b"\0")
        if output.code != 0:
            raise Rejected(f"{branch(track)[11:]} conflicts with {onto} in {_named(paths)}")
        message = f"Land track {track}\n\nMerge branch 'interlock/{track}' into {onto}\n"
        return await self._repository.objects.commit(tree.decode().strip(), (before, tip), message)

    async def _refuse_overwriting(self, before: str, after: str) -> None:
        """Nothing the user has and has not committed is lost. Files that are already as after count as ours."""
        touched = await self._changes(before, after)
        dirty = set(await self.dirty())
        if self._repository.private:
            dirty &= touched.keys()
        untracked = {path for path, kind in touched.items() if kind == "A" and self._in_the_way(path, touched)} - dirty
        if (dirty | untracked) <= touched.keys() and not await self._differ_from(after, dirty | untracked):
            return
        if dirty:
            raise Rejected(f"{_named(sorted(dirty))} changed and not committed: commit or stash before landing")
        raise Rejected(f"landing would overwrite {_named(sorted(untracked))}, which git does not track: move it away")

    async def _changes(self, before: str, after: str) -> dict[bytes, str]:
        """Paths landing changes, and how: A(dded), D(eleted), M(odified), T(ype)."""
        output = await self._git("diff-tree", "-r", "-z", "--no-renames", "--name-status", *_PLAIN, before, after)
        fields = output.stdout.split(b"\0")
        return {path: kind.decode() for kind, path in zip(fields[::2], fields[1::2], strict=False)}

    def _in_the_way(self, path: bytes, touched: dict[bytes, str]) -> bool:
        """Something the user's repository does not track stands where the file will be."""
        top = os.fsencode(self._top)
        parts = path.split(b"/")
        for depth in range(1, len(parts)):
            above = b"/".join(parts[:depth])
            if touched.get(above) == "D":
                return False
            target = os.path.join(top, above)
            if os.path.lexists(target) and (os.path.islink(target) or not os.path.isdir(target)):
                return True
        target = os.path.join(top, path)
        if os.path.isdir(target) and not os.path.islink(target):  # a folder goes if landing empties it
            inside = (os.path.join(parent, name) for parent, _, names in os.walk(target) for name in names)
            return any(touched.get(os.path.relpath(name, top)) != "D" for name in inside)
        return os.path.lexists(target)

    async def _differ_from(self, commit: str, paths: set[bytes]) -> bool:
        """Whether any of these files on disk is not what the commit has."""
        if not paths:
            return False
        with _draft(self._index) as index:
            await self._git("read-tree", "--reset", commit, index=index)
            listed = await self._git("ls-files", "-z", "--modified", "--deleted", work_tree=self._top, index=index)
        known = await self._git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        differing, there = set(listed.stdout.split(b"\0")), set(known.stdout.split(b"\0"))
        return any(path in differing or (path not in there and self._exists(path)) for path in paths)

    def _exists(self, path: bytes) -> bool:
        return os.path.lexists(os.path.join(os.fsencode(self._top), path))

    async def _move(self, before: str, after: str) -> None:
        """The user's files and index from one commit to the other; what differs in neither stays as it is."""
        with _locked(self._index), _draft(self._index) as draft:
            await self._write_files(before, after, draft)
            os.replace(draft, self._index)

    async def _write_files(self, before: str, after: str, index: str) -> None:
        await self._git("update-index", "-q", "--refresh", work_tree=self._top, index=index, ok=(0, 1))
        touched = await self._changes(before, after)
        unfinished = set(await self.dirty()) & touched.keys()
        unfinished |= {path for path, kind in touched.items() if kind == "A" and self._in_the_way(path, touched)}
        if unfinished:  # a landing that was cut off; all of these are already as they will be
            paths = b"".join(path + b"\0" for path in sorted(unfinished))
            how = ("--add", "--remove", "--replace", "-z", "--stdin")
            await self._git("update-index", *how, work_tree=self._top, index=index, stdin=paths)
        try:
            await self._git("read-tree", "-m", "-u", before, after, work_tree=self._top, index=index)
        except Unavailable as refusal:
            raise Rejected(f"nothing was landed: {refusal}") from refusal

    async def _diff(self, before: str, after: str) -> str:
        stat = await self._git("diff-tree", "-r", "--numstat", *_PLAIN, before, after)
        counts = [line.split("\t")[:2] for line in shown(stat.stdout).splitlines()]
        if sum(int(number) for pair in counts for number in pair if number.isdigit()) > _MOST_LINES:
            return cut(f"Too much to show line by line (added, removed, file):\n{shown(stat.stdout)}", _MOST_DIFF)
        patch = await self._git("diff-tree", "-r", "--patch", "-M", *_PLAIN, before, after)
        return cut(shown(patch.stdout), _MOST_DIFF)


@contextmanager
def _locked(index: Path) -> Generator[None]:
    """The user's index is ours meanwhile. A lock we left when killed bears our signature."""
    lock = Path(f"{index}.lock")
    try:
        with open(lock, "xb") as file:
            file.write(_SIGNATURE)
    except FileExistsError:
        if lock.read_bytes() != _SIGNATURE:
            raise Rejected(f"another git command is at work ({lock} exists); try again when it has ended") from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


@contextmanager
def _draft(index: Path) -> Generator[str]:
    """A copy of the user's index, in its folder: a split index finds its other half only there."""
    for left in index.parent.glob(f"{index.name}.interlock-*"):
        left.unlink(missing_ok=True)
    draft = Path(f"{index}.interlock-{secrets.token_hex(4)}")
    if index.exists():
        shutil.copy2(index, draft)  # with its time: git compares the files' with it
    try:
        yield str(draft)
    finally:
        draft.unlink(missing_ok=True)
        Path(f"{draft}.lock").unlink(missing_ok=True)


def _under_way(git_dir: str) -> str | None:
    return next((what for file, what in _UNDER_WAY.items() if os.path.exists(os.path.join(git_dir, file))), None)


def _named(paths: list[bytes]) -> str:
    names = [shown(path) for path in paths if path]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
