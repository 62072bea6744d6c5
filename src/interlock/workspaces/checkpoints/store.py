"""Checkpoints of a project: snapshots of its files in a git repository of our own, outside the project.

The repository has its own objects and refs. The user's repository, index, HEAD and files are only read, so creating a
checkpoint changes none of them, and a folder without a repository is no special case.
"""

import fcntl
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from interlock.errors import NotFound, Rejected, Unavailable
from interlock.ports.processes import Sandbox
from interlock.workspaces.checkouts.staging import forget, unlock
from interlock.workspaces.checkpoints.manifest import Manifest, decode, read_modes
from interlock.workspaces.checkpoints.present import PresentFiles
from interlock.workspaces.git import Git, check_version, shown, text
from interlock.workspaces.objects import Objects, identity
from interlock.workspaces.own_git_dirs import write_for_work
from interlock.workspaces.records import CHECKPOINTS
from interlock.workspaces.threads import in_thread

_REFS = "refs/interlock/checkpoints"
_TRIES = 3
_MOST_LINES = 50_000
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")


class Checkpoint(msgspec.Struct, frozen=True):
    id: str
    at: str
    message: str
    files: int
    folders: int
    ignored: bool  # also the files that git ignores
    before_rollback_to: str = ""  # made by a rollback to that checkpoint, so that it can be undone


class Change(msgspec.Struct, frozen=True):
    """What a rollback does to one path."""

    change: str  # restore, replace, remove, mode
    path: str


class Snapshot(msgspec.Struct, frozen=True):
    """Files that are in the object store, without a name yet."""

    tree: str
    files: int
    folders: int


class CheckpointStore:
    def __init__(self, project: Path, scratch: Path, run: Sandbox, excluded: Sequence[str]) -> None:
        """`scratch` is our own git folder for this project; `excluded` are folders that count as ignored."""
        self.project = os.path.realpath(project)
        self.scratch = scratch
        self.folder = scratch / CHECKPOINTS
        self.present = PresentFiles(project, self.folder / "present", run, excluded)
        self._run = run
        self.git = Git(run, str(self.folder), settings=("core.autocrlf=false",), env={})
        self._objects = Objects(str(self.folder / "objects"), "sha1", identity(None, None))

    @property
    def _index(self) -> str:
        """Not git's usual name: a power cut may leave half of it, and every git command would read that."""
        return str(self.folder / "snapshot.index")

    @contextmanager
    def locked(self) -> Generator[None]:
        """One command at a time changes the checkpoints or rolls back."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Unavailable(
                    "another 'interlock checkpoint' command is at work on this project; try again when it has ended"
                ) from None
            yield

    async def open(self) -> None:
        await check_version(self._run)
        (self.folder / "objects").mkdir(parents=True, exist_ok=True)
        write_for_work(self.folder, "sha1", "", b"")
        await self.present.open()

    # ── reading ──────────────────────────────────────────────────────────────────────────

    async def list(self) -> tuple[Checkpoint, ...]:
        """All checkpoints, oldest first."""
        if not (self.folder / "HEAD").exists():
            return ()
        output = await self.git("for-each-ref", "--format=%(contents)", _REFS)
        found = [msgspec.json.decode(line, type=Checkpoint) for line in output.stdout.splitlines() if line]
        return tuple(sorted(found, key=lambda checkpoint: int(checkpoint.id[2:])))

    async def get(self, name: str) -> Checkpoint:
        known = {checkpoint.id: checkpoint for checkpoint in await self.list()}
        if name not in known:
            last = list(known)[-5:]
            have = (
                f"the last ones are {', '.join(last)}" if last else "there is none yet; 'interlock checkpoint create'"
            )
            raise NotFound(f"no checkpoint is called {name!r}: {have}")
        return known[name]

    async def tree_of(self, name: str) -> str:
        return await self.git.line("rev-parse", f"{_REFS}/{name}^{{tree}}")

    async def has(self, tree: str) -> bool:
        """Whether a stored tree without a name is still there."""
        return (await self.git("cat-file", "-e", f"{tree}^{{tree}}", ok=(0, 1, 128))).code == 0

    async def manifest(self, tree: str) -> Manifest:
        return decode((await self.git("cat-file", "blob", f"{tree}:manifest")).stdout)

    async def changed_files(self, source: str, target: str) -> dict[bytes, str]:
        """The paths that differ between two snapshots: A(dded), D(eleted), M(odified), T(ype)."""
        names = (f"{source}:files", f"{target}:files")
        output = await self.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", *_PLAIN, *names)
        fields = output.stdout.split(b"\0")
        return {path: kind.decode() for kind, path in zip(fields[::2], fields[1::2], strict=False)}

    async def diff(self, source: str, target: str) -> str:
        names = (f"{source}:files", f"{target}:files")
        stat = await self.git("diff-tree", "-r", "--numstat", *_PLAIN, *names)
        counts = [line.split("\t")[:2] for line in shown(stat.stdout).splitlines()]
        if sum(int(number) for pair in counts for number in pair if number.isdigit()) > _MOST_LINES:
            return f"Too much to show line by line (added, removed, file):\n{shown(stat.stdout)}"
        return shown((await self.git("diff-tree", "-r", "--patch", *_PLAIN, *names)).stdout)

    async def write_files(self, tree: str, paths: Iterable[bytes], folder: Path) -> None:
        """Writes files of a snapshot below a folder of ours."""
        os.makedirs(folder, exist_ok=True)
        index = f"{self._index}.written"
        forget(index)
        await self.git("read-tree", "--reset", f"{tree}:files", index=index)
        how = ("checkout-index", f"--prefix={folder}/", "--force", "--quiet", "-z", "--stdin")
        await self.git(*how, work_tree=str(folder), index=index, stdin=b"".join(path + b"\0" for path in paths))

    # ── writing ──────────────────────────────────────────────────────────────────────────

    async def create(self, at: str, message: str, *, ignored: bool, before_rollback_to: str = "") -> Checkpoint:
        snapshot = await self.take(ignored=ignored)
        return await self.keep(snapshot, at, message, ignored=ignored, before_rollback_to=before_rollback_to)

    async def take(self, *, ignored: bool) -> Snapshot:
        """Stores the present files. A file that changes its kind meanwhile is looked at again."""
        for left in range(_TRIES, 0, -1):
            try:
                return await self._take(ignored=ignored)
            except Unavailable as error:
                if left == 1:
                    raise Rejected(f"the files of {self.project} cannot be stored: {error}") from error
                forget(self._index)
        raise AssertionError

    async def _take(self, *, ignored: bool) -> Snapshot:
        index = self._index
        unlock(index)
        listing = await self.present.listing(ignored=ignored)
        stored = (await self.git("ls-files", "-z", "--cached", index=index)).stdout.split(b"\0")
        if stale := {path for path in stored if path}.difference(listing.files):
            await self._update(index, stale, "--force-remove")
        await self._update(index, listing.files, "--add", "--remove", "--replace")
        files = text((await self.git("write-tree", index=index, durable=True)).stdout)
        output = await self.git("ls-files", "-z", "--stage", index=index)
        entries = (entry.partition(b"\t") for entry in output.stdout.split(b"\0") if entry)
        executable = {path: about.startswith(b"100755") for about, _, path in entries}
        manifest = await in_thread(lambda: read_modes(self.project, executable, listing.folders))
        stdin = manifest.encode()
        blob = text((await self.git("hash-object", "-w", "--stdin", stdin=stdin, durable=True)).stdout)
        tree = await self._objects.tree((("40000", "files", files), ("100644", "manifest", blob)))
        return Snapshot(tree, len(executable), len(manifest.folders))

    async def _update(self, index: str, paths: Iterable[bytes], *how: str) -> None:
        stdin = b"".join(path + b"\0" for path in paths)
        await self.git(
            "update-index", *how, "-z", "--stdin", index=index, work_tree=self.project, stdin=stdin, durable=True
        )

    async def keep(
        self, snapshot: Snapshot, at: str, message: str, *, ignored: bool, before_rollback_to: str = ""
    ) -> Checkpoint:
        """Gives a snapshot its name."""
        name = f"C-{self._next_number(await self.list())}"
        made = Checkpoint(name, at, message, snapshot.files, snapshot.folders, ignored, before_rollback_to)
        commit = await self._objects.commit(snapshot.tree, (), msgspec.json.encode(made).decode() + "\n")
        await self.git("update-ref", f"{_REFS}/{name}", commit, "", durable=True)
        return made

    def _next_number(self, known: tuple[Checkpoint, ...]) -> int:
        """A number is not used again after its checkpoint is deleted."""
        file = self.folder / "last"
        last = int(file.read_text() or 0) if file.exists() else 0
        number = max([last, *(int(checkpoint.id[2:]) for checkpoint in known)]) + 1
        draft = file.with_name("last.new")
        draft.write_text(str(number))
        draft.replace(file)
        return number

    async def delete(self, name: str) -> Checkpoint:
        """Deletes a checkpoint, and the content that no other one holds."""
        found = await self.get(name)
        await self.git("update-ref", "-d", f"{_REFS}/{name}", durable=True)
        forget(self._index)  # it names objects of the last snapshot
        await self.git("prune", "--expire=now")
        return found
