"""The lasting changes of a project that can be taken back, newest last; each holds only the paths that it touched.

An entry is a folder in `.interlock/undo` with a record and its slots (placing.py). The record is durable before a file
of the user changes, and says how far it is. After a crash `settle` does the rest: what began is finished.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.errors import NotFound, Rejected, Unavailable
from interlock.identity.careful import sync_folder
from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.effects.changes import (
    MISSING,
    Changes,
    PathChange,
    moved,
    named,
    reversed_changes,
    seen_below,
)
from interlock.workspaces.effects.placing import Content, Placing

MOST_ENTRIES = 50
MOST_BYTES = 5 << 30
_MOST_NAMED = 10
_RECORD = "record.json"
State = Literal["staging", "watching", "putting", "done", "taking", "undone"]


class Branch(Struct, frozen=True):
    """The user's branch that a landing moved."""

    name: str
    before: str
    after: str


class Entry(Struct, frozen=True, omit_defaults=True):
    id: str
    at: str
    what: str
    root: str  # the folder of the paths
    changes: Changes
    state: State
    origin: str = ""  # the key of the preview that it applied
    turn: int = 0  # counts each time that an entry is done or undone
    branch: Branch | None = None  # of a landing: git holds both versions of its files
    rollback: str = ""  # of a rollback, or of a script without a preview: the checkpoint with the other files
    left: str = ""  # the tree of all files after it, to see what the user changed since; empty if not known

    @property
    def number(self) -> int:
        return int(self.id[2:])


class UndoStore:
    def __init__(self, folder: Path, now: Callable[[], str]) -> None:
        """`folder` is `.interlock/undo` of the project."""
        self._folder = folder
        self._now = now

    @contextmanager
    def locked(self, *, wait: bool = False) -> Generator[None]:
        """One change at a time. `wait`: until the other one has ended; only outside the event loop."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / "lock", "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Unavailable(
                    "another process is changing files of this project; try again when it has ended"
                ) from None
            yield

    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        found = [entry for path in self._folder.glob("U-*") if (entry := self._read(path)) is not None]
        return tuple(sorted(found, key=lambda entry: entry.number))

    def get(self, name: str) -> Entry:
        known = {entry.id: entry for entry in self.entries()}
        if name not in known:
            raise NotFound(f"there is no change {name!r}; 'interlock undo --list' shows those that can be undone")
        return known[name]

    # ── making changes ───────────────────────────────────────────────────────────────────

    def apply(self, root: str, changes: Changes, content: Content, what: str, origin: str = "") -> Entry:
        """Makes these changes, or none of them. Raises Rejected with the paths that are no longer as expected."""
        if (done := self._applied(origin)) is not None:
            return done  # a crash came after it
        entry = Entry(self._next(), self._now(), what, root, changes, "staging", origin)
        entry = self._begin(entry)
        try:
            Placing(root, self._slots(entry)).stage(changes, content)
            self.check(root, changes)
        except BaseException:
            self.drop(entry)
            raise
        return self._put(replace(entry, state="putting"), changes, "done")

    def has_applied(self, origin: str) -> bool:
        return self._applied(origin) is not None

    def _applied(self, origin: str) -> Entry | None:
        known = (entry for entry in self.entries() if entry.state == "done")
        return next((entry for entry in known if origin and entry.origin == origin), None)

    def watch(self, root: str, paths: Sequence[bytes], what: str, branch: Branch | None = None) -> Entry:
        """Copies these files before somebody else changes them; `watched` or `drop` follows."""
        top = os.fsencode(root)
        seen = {path: seen_below(top, path) for path in dict.fromkeys((*_above(top, paths), *paths))}
        changes = tuple(PathChange(named(path), seen[path], seen[path]) for path in sorted(seen))
        entry = Entry(self._next(), self._now(), what, root, changes, "watching", branch=branch)
        entry = self._begin(entry)
        slots = self._slots(entry)
        slots.mkdir(exist_ok=True)
        for number, change in enumerate(changes):
            if change.before.kind == "file":
                shutil.copy2(os.path.join(top, change.raw), os.fsencode(slots / str(number)), follow_symlinks=False)
        return entry

    def watched(self, entry: Entry) -> Entry | None:
        """Records what became of the files; None if nothing changed."""
        top = os.fsencode(entry.root)
        now = (
            replace(change, after=seen_below(top, change.raw), slot=number)
            for number, change in enumerate(entry.changes)
        )
        changed = tuple(change for change in now if change.before != change.after)
        if not changed:
            self.drop(entry)
            return None
        return self._write(replace(entry, changes=changed, state="done", turn=self._turn()))

    # ── changes whose content is stored elsewhere ────────────────────────────────────────

    def begin(self, track: str, landing: LandingPlan) -> str:
        """Notes a landing before it changes a file; a continued one is noted once."""
        branch = Branch(landing.branch, landing.before, landing.after)
        known = (entry for entry in self.entries() if entry.branch == branch and entry.state in ("watching", "done"))
        if (found := next(known, None)) is not None:
            return found.id
        what = f"landing of {track} on {landing.branch}"
        return self._begin(Entry(self._next(), self._now(), what, "", (), "watching", branch=branch)).id

    def end(self, noted: str, *, landed: bool) -> None:
        entry = self.get(noted)
        if not landed:
            self.drop(entry)
        elif entry.state != "done":
            self._write(replace(entry, state="done", turn=self._turn()))

    def note(self, what: str, checkpoint: str, *, done: bool) -> Entry:
        """Notes a change of any files; `checkpoint` holds them as they were."""
        state: State = "done" if done else "watching"
        return self._begin(
            Entry(self._next(), self._now(), what, "", (), state, turn=self._turn(), rollback=checkpoint)
        )

    def noted(self, entry: Entry, left: str) -> None:
        self._write(replace(entry, state="done", left=left))

    def turned(self, entry: Entry, rollback: str = "") -> Entry:
        """Records that a landing or a rollback was taken back, or made again."""
        state: State = "undone" if entry.state == "done" else "done"
        return self._write(replace(entry, state=state, turn=self._turn(), rollback=rollback, left=""))

    # ── taking them back ─────────────────────────────────────────────────────────────────

    def next_undo(self) -> Entry | None:
        """The last change that is not taken back."""
        return max((entry for entry in self.entries() if entry.state == "done"), key=_turn_of, default=None)

    def next_redo(self) -> Entry | None:
        """The change that was taken back last."""
        return max((entry for entry in self.entries() if entry.state == "undone"), key=_turn_of, default=None)

    def moved(self, entry: Entry, *, redo: bool = False) -> tuple[str, ...]:
        """The paths that the user changed since."""
        return moved(os.fsencode(entry.root), entry.changes if redo else reversed_changes(entry.changes))

    def as_now(self, entry: Entry) -> Entry:
        """The entry with the present files as those that it left, so that they are taken for its own."""
        top = os.fsencode(entry.root)
        now = reversed_changes(reversed_changes(entry.changes))  # with the numbers of their slots
        return replace(entry, changes=tuple(replace(one, after=seen_below(top, one.raw)) for one in now))

    def undo(self, entry: Entry) -> Entry:
        """Takes all of it back. Raises Rejected with the paths that the user changed since."""
        back = reversed_changes(entry.changes)
        self._check_stored(entry, back)
        return self._put(replace(entry, state="taking"), back, "undone")

    def redo(self, entry: Entry) -> Entry:
        forward = reversed_changes(reversed_changes(entry.changes))
        self._check_stored(entry, forward)
        return self._put(replace(entry, state="putting"), forward, "done")

    def _check_stored(self, entry: Entry, changes: Changes) -> None:
        self.check(entry.root, changes)
        if spoiled := Placing(entry.root, self._slots(entry)).spoiled(changes):
            raise Rejected(f"the stored versions of {_listed(spoiled)} are damaged; nothing was changed")

    def check(self, root: str, changes: Changes) -> None:
        if paths := moved(os.fsencode(root), changes):
            raise Rejected(f"changed since: {_listed(paths)}; nothing was changed")

    def settle(self) -> tuple[str, ...]:
        """Finishes what a killed process began; a sentence for each."""
        said: list[str] = []
        for path in self._folder.glob("U-*"):
            if self._read(path) is None:
                shutil.rmtree(path, ignore_errors=True)  # killed before its record was there
        for entry in self.entries():
            match entry.state:
                case "staging":
                    self.drop(entry)
                case "watching" if entry.rollback:
                    self.noted(entry, "")
                case "watching" if entry.branch is None:
                    self.watched(entry)
                case "putting" | "taking":
                    taking = entry.state == "taking"
                    changes = reversed_changes(entry.changes) if taking else entry.changes
                    left = Placing(entry.root, self._slots(entry)).put(changes, again=True)
                    self._write(replace(entry, state="undone" if taking else "done", turn=self._turn()))
                    note = f"; not as expected, so left as they are: {_listed(left)}" if left else ""
                    said.append(f"{entry.id} ({entry.what}) was interrupted and is finished now{note}")
                case _:
                    pass
        return tuple(said)

    def drop(self, entry: Entry) -> None:
        (self._path(entry) / _RECORD).unlink(missing_ok=True)
        shutil.rmtree(self._path(entry), ignore_errors=True)

    def prune(self) -> None:
        """Drops the oldest entries beyond the limits of number and size."""
        known = [entry for entry in self.entries() if entry.state in ("done", "undone")]
        total = 0
        for number, entry in enumerate(reversed(known)):
            total += sum(max(change.before.size, change.after.size) for change in entry.changes)
            if number and (number >= MOST_ENTRIES or total > MOST_BYTES):
                self.drop(entry)

    # ── on disk ──────────────────────────────────────────────────────────────────────────

    def _put(self, begun: Entry, changes: Changes, end: Literal["done", "undone"]) -> Entry:
        self._write(begun)
        placing = Placing(begun.root, self._slots(begun))
        try:
            left = placing.put(changes)
            problem = f"changed at this moment: {_listed(left)}" if left else ""
        except (OSError, Rejected) as error:
            problem = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        if not problem:
            return self._write(replace(begun, state=end, turn=self._turn()))
        back: State = "undone" if end == "done" else "done"
        self._write(replace(begun, state="taking" if end == "done" else "putting"))
        placing.put(reversed_changes(changes), again=True)
        if begun.turn:
            self._write(replace(begun, state=back))
        else:
            self.drop(begun)
        raise Rejected(f"{problem}; what was changed is put back")

    def _begin(self, entry: Entry) -> Entry:
        """Takes the next free id; a landing may take one at the same time."""
        while True:
            try:
                self._path(entry).mkdir(parents=True)
            except FileExistsError:
                entry = replace(entry, id=f"U-{entry.number + 1}")
            else:
                return self._write(entry)

    def _write(self, entry: Entry) -> Entry:
        file = self._path(entry) / _RECORD
        draft = file.with_name(f"{_RECORD}.new")
        with open(draft, "wb") as opened:
            opened.write(msgspec.json.encode(entry))
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)
        sync_folder(file.parent)
        sync_folder(self._folder)
        return entry

    def _read(self, path: Path) -> Entry | None:
        try:
            return msgspec.json.decode((path / _RECORD).read_bytes(), type=Entry)
        except (OSError, msgspec.DecodeError):
            return None

    def _path(self, entry: Entry) -> Path:
        return self._folder / entry.id

    def _slots(self, entry: Entry) -> Path:
        return self._path(entry) / "slots"

    def _next(self) -> str:
        numbers = [int(path.name[2:]) for path in self._folder.glob("U-*") if path.name[2:].isdigit()]
        return f"U-{max(numbers, default=0) + 1}"

    def _turn(self) -> int:
        return max((entry.turn for entry in self.entries()), default=0) + 1


def _turn_of(entry: Entry) -> int:
    return entry.turn


def _above(root: bytes, paths: Iterable[bytes]) -> set[bytes]:
    """The folders above these paths that do not exist: a change may make or remove them."""
    found: set[bytes] = set()
    for path in paths:
        while path := os.path.dirname(path):
            if seen_below(root, path) == MISSING:
                found.add(path)
    return found


def _listed(paths: Iterable[str]) -> str:
    whole = list(paths)
    more = f" and {len(whole) - _MOST_NAMED} more" if len(whole) > _MOST_NAMED else ""
    return ", ".join(whole[:_MOST_NAMED]) + more
