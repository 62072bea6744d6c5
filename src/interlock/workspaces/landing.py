"""Landing: the only operation that changes the user's branch and files.

The plan is computed without touching them. The execution locks the index, writes the new files beside the old ones,
renames each into place, replaces the index, unlocks it and moves the branch. After a crash before the last step the
branch has not moved, each file is the old or the new one, and landing again continues.
"""

import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from interlock.errors import Rejected
from interlock.ports.processes import Output
from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.files import draft_of, fresh_folder, is_obstructed, locked, put_in_place
from interlock.workspaces.git import shown, text
from interlock.workspaces.integration import Integration, branch, cut
from interlock.workspaces.own_git_dirs import set_head, share_index_parts
from interlock.workspaces.repository import Repository
from interlock.workspaces.snapshots import Snapshots
from interlock.workspaces.threads import in_thread

_MOST_DIFF = 400_000  # characters
_MOST_LINES = 50_000
_MOST_NAMED = 10
_UNDER_WAY = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")


class Landings:
    def __init__(self, repository: Repository, integration: Integration, snapshots: Snapshots) -> None:
        self._repository = repository
        self._integration = integration
        self._snapshots = snapshots
        self._refs = repository.refs
        self._git = repository.users_files
        self._top = repository.place.top
        self._index = Path(repository.place.git_dir, "index")
        self._beside = Path(repository.place.top, repository.place.prefix, ".interlock", "landing")

    async def dirty(self) -> tuple[bytes, ...]:
        """Tracked files that differ from HEAD in the index or on disk."""
        head = await self._refs.line("rev-parse", "HEAD^{commit}")
        folder = self._repository.scratch / "users_files"
        share_index_parts(folder, self._repository.place.git_dir)
        set_head(folder, head)
        how = ("--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all")
        output = await self._git("status", *how, work_tree=self._top, index=str(self._index))
        return tuple(entry[3:] for entry in output.stdout.split(b"\0") if entry)

    async def prepare(self, track: str) -> LandingPlan:
        tip = await self._integration.tip(track)
        if self._repository.private:
            await self._snapshots.take()
        before, onto = await self._head()
        shared = text((await self._git("merge-base", before, tip, ok=(0, 1))).stdout)
        if shared == tip:
            return LandingPlan(onto, before, before, "")
        if self._repository.private:
            await self._refuse_both_changed(shared, before, tip)
        after = tip if shared == before else await self._merge(track, before, tip, onto)
        await self._refuse_overwriting(before, after)
        await self._integration.point(f"refs/interlock/landing/{track}", after)  # the approval may wait for weeks
        return LandingPlan(onto, before, after, await self._diff(before, after))

    async def land(self, landing: LandingPlan) -> None:
        if await self.is_landed(landing.after):
            return
        before, onto = await self._head()
        if (before, onto) != (landing.before, landing.branch):
            raise Rejected(f"{onto} changed since this landing was prepared; ask for it again")
        await self._refuse_overwriting(before, landing.after)
        await self._move(before, landing.after)
        moved = await self._refs(
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
        return await self._repository.is_descendant("HEAD", after)

    async def _head(self) -> tuple[str, str]:
        """The commit and the short name of the user's current branch."""
        output = await self._refs("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
        commit, name = text(output.stdout).split("\n")
        if not name.startswith("refs/heads/"):
            raise Rejected("HEAD is detached: check out the branch the track should land on")
        if what := _operation_in_progress(self._repository.place.git_dir):
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
        """Refuses if uncommitted changes would be lost. Files that already have the landed content are fine."""
        touched = await self._changes(before, after)
        dirty = set(await self.dirty())
        if self._repository.private:
            dirty &= touched.keys()
        untracked = {
            path for path, kind in touched.items() if kind == "A" and is_obstructed(path, touched, self._top)
        } - dirty
        if (dirty | untracked) <= touched.keys() and not await self._differ_from(after, dirty | untracked):
            return
        if dirty:
            raise Rejected(f"{_named(sorted(dirty))} changed and not committed: commit or stash before landing")
        raise Rejected(f"landing would overwrite {_named(sorted(untracked))}, which git does not track: move it away")

    async def _refuse_both_changed(self, shared: str, before: str, tip: str) -> None:
        """A folder without a repository has no history: a file that the user changed is not merged."""
        users, tracks = await self._changes(shared, before), await self._changes(shared, tip)
        both = users.keys() & tracks.keys() & (await self._changes(before, tip)).keys()
        if both:
            raise Rejected(f"{_named(sorted(both))} changed in the folder since the track began")

    async def _changes(self, before: str, after: str) -> dict[bytes, str]:
        """The paths that landing changes: A(dded), D(eleted), M(odified), T(ype)."""
        output = await self._git("diff-tree", "-r", "-z", "--no-renames", "--name-status", *_PLAIN, before, after)
        fields = output.stdout.split(b"\0")
        return {path: kind.decode() for kind, path in zip(fields[::2], fields[1::2], strict=False)}

    async def _differ_from(self, commit: str, paths: set[bytes]) -> bool:
        """True if any of these files on disk differs from the commit."""
        if not paths:
            return False
        with draft_of(self._index) as index:
            await self._git("read-tree", "--reset", commit, work_tree=self._top, index=index)
            listed = await self._git("ls-files", "-z", "--modified", "--deleted", work_tree=self._top, index=index)
        known = await self._git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        differing, tracked = set(listed.stdout.split(b"\0")), set(known.stdout.split(b"\0"))
        return any(path in differing or (path not in tracked and self._exists(path)) for path in paths)

    def _exists(self, path: bytes) -> bool:
        return os.path.lexists(os.path.join(os.fsencode(self._top), path))

    async def _move(self, before: str, after: str) -> None:
        """Moves the user's files and index from one commit to the other; all other files stay."""
        touched = await self._changes(before, after)
        with locked(self._index), draft_of(self._index) as index, fresh_folder(self._beside) as written:
            await self._git("read-tree", "-i", "-m", before, after, index=index)
            await self._write_files([path for path, kind in touched.items() if kind != "D"], index, written)
            await in_thread(lambda: put_in_place(touched, written, self._top))
            await self._git("update-index", "-q", "--refresh", work_tree=self._top, index=index, ok=(0, 1))
            os.replace(index, self._index)

    async def _write_files(self, paths: list[bytes], index: str, folder: str) -> None:
        """Writes files of the index below a folder, except those outside the user's sparse checkout."""
        into = (f"--prefix={folder}/", "--force", "--quiet", "-z", "--stdin")

        def written(wanted: list[bytes], ok: tuple[int, ...]) -> Coroutine[Any, Any, Output]:
            names = b"".join(path + b"\0" for path in wanted)
            return self._git("checkout-index", *into, work_tree=self._top, index=index, stdin=names, ok=ok)

        if (await written(paths, (0, 1))).code == 0:
            return
        listed = (await self._git("ls-files", "-z", "-t", "--cached", index=index)).stdout.split(b"\0")
        sparse = {entry[2:] for entry in listed if entry.startswith(b"S ")}
        await written([path for path in paths if path not in sparse], (0,))

    async def _diff(self, before: str, after: str) -> str:
        stat = await self._git("diff-tree", "-r", "--numstat", *_PLAIN, before, after)
        counts = [line.split("\t")[:2] for line in shown(stat.stdout).splitlines()]
        if sum(int(number) for pair in counts for number in pair if number.isdigit()) > _MOST_LINES:
            return cut(f"Too much to show line by line (added, removed, file):\n{shown(stat.stdout)}", _MOST_DIFF)
        patch = await self._git("diff-tree", "-r", "--patch", "-M", *_PLAIN, before, after)
        return cut(shown(patch.stdout), _MOST_DIFF)


def _operation_in_progress(git_dir: str) -> str | None:
    return next((what for file, what in _UNDER_WAY.items() if os.path.exists(os.path.join(git_dir, file))), None)


def _named(paths: list[bytes]) -> str:
    names = [shown(path) for path in paths if path]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
