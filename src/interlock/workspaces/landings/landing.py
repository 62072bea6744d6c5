"""Landing: the only operation that changes the user's branch and files.

The plan is computed without touching them. The execution records that it begins, locks the index, writes the new files
beside the old ones, exchanges each with the old one, replaces the index, moves the branch, and unlocks the index. A
failure puts the files back. After a crash each file is the old or the new one, and the next opening continues.
"""

import os
import shutil
from collections.abc import Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.errors import BranchMoved, InterlockError, Rejected, Unavailable
from interlock.ports.processes import Output
from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.files import draft_of, is_obstructed
from interlock.workspaces.git import shown, text
from interlock.workspaces.integration import Integration, branch, cut
from interlock.workspaces.landings.found import MISSING, Found, as_file, find, state_of
from interlock.workspaces.landings.index_lock import IndexLock, LandingRecord, new_token, read_record, write_record
from interlock.workspaces.landings.placing import GONE, NEW, Placing, folders_of
from interlock.workspaces.own_git_dirs import set_head, share_index_parts
from interlock.workspaces.parts import tree_of_parts
from interlock.workspaces.records import LANDING, ROLLBACK
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
        self._record = repository.scratch / LANDING
        self._rollback = repository.scratch / ROLLBACK
        self._met: Placing | None = None  # the latest run
        self._lock = IndexLock(self._index, os.path.join(repository.place.top, repository.place.prefix))

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
        self._refuse_rollback()
        tip = await self._integration.tip(track)
        if self._repository.private:
            await self._snapshots.take()
        before, onto = await self._head()
        shared = text((await self._git("merge-base", before, tip, ok=(0, 1))).stdout)
        if shared == tip:
            return LandingPlan(onto, before, before, "", await self._tree(before))
        if self._repository.private:
            await self._refuse_both_changed(shared, before, tip)
        after = tip if shared == before else await self._merge(track, before, tip, onto)
        await self._refuse_overwriting(before, after)
        await self._integration.point(f"refs/interlock/landing/{track}", after)  # the approval may wait for weeks
        return LandingPlan(onto, before, after, await self._diff(before, after), await self._tree(after))

    async def narrow(self, track: str, landing: LandingPlan, parts: Collection[int]) -> LandingPlan:
        self._refuse_rollback()
        before, onto = await self._head()
        if (before, onto) != (landing.before, landing.branch):
            raise BranchMoved(f"{onto} changed since the landing of {track} was answered")
        tree = await tree_of_parts(self._repository, before, landing.after, parts)
        message = f"Land only the accepted parts of track {track}\n"
        after = await self._repository.commit(tree, (landing.after,), message)
        await self._refuse_overwriting(before, after)
        await self._integration.point(f"refs/interlock/landing/{track}", after)
        return LandingPlan(onto, before, after, await self._diff(before, after), tree)

    def _refuse_rollback(self) -> None:
        if self._rollback.exists():
            raise Rejected(
                "a rollback to a checkpoint is under way or was interrupted; 'interlock checkpoint list' says which,"
                " and finishes an interrupted one"
            )

    async def _tree(self, commit: str) -> str:
        return await self._refs.line("rev-parse", f"{commit}^{{tree}}")

    async def land(self, landing: LandingPlan) -> str:
        """Lands, or continues an interrupted landing. Returns what the user should know about their own files."""
        record = read_record(self._record)
        if record is not None and (record.before, record.after) != (landing.before, landing.after):
            await self.settle()
            record = None
        if record is not None and record.phase != "staging":
            return await self._continue(record)
        if await self.is_landed(landing.after):
            self._drop(record)
            return ""
        before, onto = await self._head()
        if (before, onto) != (landing.before, landing.branch):
            self._drop(record)
            raise BranchMoved(f"{onto} changed since this landing was prepared; ask for it again")
        self._drop(record)
        return await self._move_all(LandingRecord(new_token(), onto, before, landing.after))

    async def take_back(self, landed: LandingPlan) -> str:
        """Undoes a landing: files, index and branch go back to where they were, or nothing changes.

        It is a landing in the other direction: after a crash it is taken back like one that the journal does not know.
        """
        if self._record.exists():
            raise Rejected("a landing is under way or was interrupted; try again when it has ended")
        now, onto = await self._head()
        if onto != landed.branch:
            raise Rejected(f"it landed on {landed.branch}, but {onto} is checked out; nothing was changed")
        if now != landed.after:
            raise Rejected(f"{onto} has moved on since it landed there; 'git revert' can take it back on top")
        return await self._move_all(LandingRecord(new_token(), onto, now, landed.before))

    async def _move_all(self, record: LandingRecord) -> str:
        write_record(self._record, record)
        try:
            self._refuse_rollback()  # a rollback writes its record first and then looks for this one
            with self._lock.held(record.token):
                return await self._land(record)
        finally:
            if not self._is_half_done():
                self._drop(record)

    async def settle(self) -> str:
        """Ends a landing that was interrupted and that the journal does not continue. Returns what was done."""
        record = read_record(self._record)
        if record is None:
            return ""
        if record.phase == "staging":
            self._drop(record)
            return f"the landing on {record.branch} was interrupted before it changed a file; its lock is removed"
        with self._lock.held(record.token):
            before, onto = await self._head()
            if (before, onto) == (record.before, record.branch):
                placing = await self._move(record, back=True, continued=True)
                await self._end(placing, record)
                did = f"an interrupted landing on {record.branch} was taken back"
            else:
                did, placing = f"an interrupted landing on {record.branch} was ended", await self._rescue(record)
        self._drop(record)
        return _sentence(did, placing.note())

    async def _continue(self, record: LandingRecord) -> str:
        with self._lock.held(record.token):
            landed = await self.is_landed(record.after)  # the branch moves last, so every file is in its place
            before, onto = await self._head()
            if landed:
                placing = await self._rescue(record)
            elif (before, onto) == (record.before, record.branch):
                return await self._land(record, continued=True)
            else:
                placing = await self._rescue(record)
                self._drop(record)
                why = (
                    f"{onto} changed while this landing was interrupted; 'git status' shows which of its files you have"
                )
                raise BranchMoved(_sentence(why, placing.note()))
        self._drop(record)
        return placing.note()

    async def _land(self, record: LandingRecord, *, continued: bool = False) -> str:
        """Everything that happens under the lock. A failure puts the user's files back."""
        try:
            placing = await self._move(record, continued=continued)
            await self._move_branch(record)
        except (InterlockError, OSError) as error:
            half = read_record(self._record)
            if half is None or half.phase == "staging":
                raise
            met = self._met.kept if self._met else []
            returned = await self._move(half, back=True, continued=True)
            returned.kept[:0] = met
            await self._end(returned, record)
            reason = str(error) if isinstance(error, InterlockError) else f"{error.filename}: {error.strerror}"
            raise Rejected(_sentence(reason, "nothing was landed", returned.note())) from error
        await self._end(placing, record)
        self._drop(record)
        return placing.note()

    async def _move_branch(self, record: LandingRecord) -> None:
        how = ("update-ref", "-m", "interlock: land", f"refs/heads/{record.branch}", record.after, record.before)
        moved = await self._refs(*how, durable=True, ok=(0, 1, 128))
        now = await self._repository.resolve(f"refs/heads/{record.branch}") if moved.code else record.after
        if now != record.after:  # a git of a killed run may have moved it
            raise Rejected(f"{record.branch} could not be moved: {text(moved.stderr).splitlines()[-1]}")

    async def _end(self, placing: Placing, record: LandingRecord) -> None:
        await in_thread(placing.finish)
        write_record(self._record, replace(record, phase="staging"))  # no file of the user is in our folder any more

    def _is_half_done(self) -> bool:
        record = read_record(self._record)
        return record is not None and record.phase != "staging"

    def _drop(self, record: LandingRecord | None) -> None:
        """The landing is over: removes its files, its lock if a killed process left it, and its record."""
        if record is not None:
            shutil.rmtree(self._beside, ignore_errors=True)
            self._lock.remove(record.token)
            self._record.unlink(missing_ok=True)

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

    async def _move(self, record: LandingRecord, *, back: bool = False, continued: bool = False) -> Placing:
        """Moves the user's files and index to the landed commit, or back; all other files stay."""
        source, target = (record.after, record.before) if back else (record.before, record.after)
        touched = await self._changes(source, target)
        rescued: Placing | None = None
        if continued:
            rescued = await self._rescue(record)
            expected = await self._known(source, target, touched)
        else:
            expected = await self._compare(source, target, touched)
        run = replace(record, phase="returning" if back else "placing", folder=new_token())
        with draft_of(self._index) as index:
            await self._git("read-tree", "-i", "-m", source, target, index=index)
            await self._stage_files(touched, index, self._beside / run.folder / os.fsdecode(NEW))
            write_record(self._record, run)
            placing = Placing(self._top, str(self._beside / run.folder), record.token, expected)
            placing.kept += rescued.kept if rescued else []
            self._met = placing
            await in_thread(lambda: placing.put_all(touched))
            await self._git("update-index", "-q", "--refresh", work_tree=self._top, index=index, ok=(0, 1))
            if not self._lock.is_held(record.token):
                raise Unavailable(f"{self._index}.lock was removed while Interlock was landing")
            os.replace(index, self._index)
        return placing

    async def _compare(self, source: str, target: str, touched: Mapping[bytes, str]) -> dict[bytes, Found]:
        """What is at each path while git calls it unchanged. Refuses if that cannot be said."""
        top = os.fsencode(self._top)
        paths = {path: os.path.join(top, path) for path in touched}
        changing: list[bytes] = []
        for _ in range(3):
            before = await in_thread(lambda: {path: state_of(full) for path, full in paths.items()})
            await self._refuse_overwriting(source, target)
            found = await in_thread(lambda: {path: find(full) for path, full in paths.items()})
            after = await in_thread(lambda: {path: state_of(full) for path, full in paths.items()})
            changing = [path for path in paths if before[path] != after[path]]
            if not changing:
                return found
        raise Rejected(f"{_named(changing)} is being written to: try again")

    async def _known(self, source: str, target: str, touched: Mapping[bytes, str]) -> dict[bytes, Found]:
        """What is at each path, where that is the old or the new content exactly."""
        versions = await self._versions(source, target, touched)
        top = os.fsencode(self._top)

        def compare() -> dict[bytes, Found]:
            found = {path: find(os.path.join(top, path)) for path in touched}
            return {path: one for path, one in found.items() if one in versions[path]}

        known = await in_thread(compare)
        shutil.rmtree(self._beside, ignore_errors=True)
        return known

    async def _rescue(self, record: LandingRecord) -> Placing:
        """Keeps files of the user that an interrupted landing had taken from their places."""
        touched = await self._changes(record.before, record.after)
        versions = await self._versions(record.before, record.after, touched)
        last = 0 if record.phase == "returning" else 1
        was_staged = [path for path in touched if versions[path][last] != MISSING]
        beside = os.fsencode(self._beside / record.folder)
        ours = {os.path.join(beside, NEW, folder) for folder in folders_of(was_staged)}
        ours |= {os.path.join(beside, GONE, folder) for folder in folders_of(touched)}
        placing = Placing(self._top, os.fsdecode(beside), record.token, {})

        def rescue() -> None:
            for path in touched:
                placing.rescue(path, versions[path], ours)

        await in_thread(rescue)
        return placing

    async def _versions(
        self, source: str, target: str, touched: Mapping[bytes, str]
    ) -> dict[bytes, tuple[Found, Found]]:
        """The files of both commits as git would write them here."""
        folders: list[bytes] = []
        for commit in (source, target):
            folder = self._beside / new_token()
            with draft_of(self._index) as index:
                await self._git("read-tree", "--reset", commit, work_tree=self._top, index=index)
                await self._stage_files(touched, index, folder)
            folders.append(os.fsencode(folder))

        def find_both() -> dict[bytes, tuple[Found, Found]]:
            old, new = folders
            return {path: (as_file(old, path), as_file(new, path)) for path in touched}

        return await in_thread(find_both)

    async def _stage_files(self, touched: Mapping[bytes, str], index: str, folder: Path) -> None:
        """Writes the files that the index has at these paths into a new folder."""
        await in_thread(lambda: folder.mkdir(parents=True))
        listed = await self._git("ls-files", "-z", "--cached", index=index)
        there = set(listed.stdout.split(b"\0"))
        await self._write_files([path for path in touched if path in there], index, str(folder))

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


def _sentence(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _operation_in_progress(git_dir: str) -> str | None:
    return next((what for file, what in _UNDER_WAY.items() if os.path.exists(os.path.join(git_dir, file))), None)


def _named(paths: list[bytes]) -> str:
    names = [shown(path) for path in paths if path]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
