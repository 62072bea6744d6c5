"""Lasting changes of a project that can be taken back, and previews of scripts: connects them with the project."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial

from interlock.assembly.project import Project, now, plain_git, trusts_include
from interlock.assembly.restoring.checkpoints import Checkpoints
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Quiet
from interlock.engine.agents.chat import preview_prefix
from interlock.errors import JournalInUse, Rejected
from interlock.identity.careful import is_below
from interlock.journal.lock import WriterLock
from interlock.ports.effects import Undone, UndoPlan, UndoRow
from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.checkpoints.rollback import RolledBack
from interlock.workspaces.checkpoints.store import Change
from interlock.workspaces.effects.changes import PathChange, reversed_changes, shown
from interlock.workspaces.effects.previews import Previews
from interlock.workspaces.effects.undo_store import Branch, Entry, UndoStore
from interlock.workspaces.git_workspaces import GitWorkspaces, project_key
from interlock.workspaces.records import LANDING, ROLLBACK

MOST_FILES = 200
MOST_NAMED = 10


def undo_store(project: Project) -> UndoStore:
    return UndoStore(project.folder / "undo", now)


def previews_of(project: Project, level: str, redact: Callable[[str], str]) -> Previews:
    folder = project.state_dir.resolve() / "previews" / project_key(project.root)
    return Previews(folder, undo_store(project), level, redact, Checkpoints(project, lambda _: None))


async def settle(project: Project, workspaces: GitWorkspaces, *, opened: bool) -> tuple[str, ...]:
    """Finishes the changes that a killed process began; a sentence for each."""
    store = undo_store(project)
    if not (project.folder / "undo").is_dir():
        return ()
    with store.locked():
        said = await asyncio.to_thread(store.settle)
        begun = [entry for entry in store.entries() if entry.state == "watching" and entry.branch is not None]
        if begun and not opened:
            await workspaces.open()
        for entry in begun:
            if entry.branch is not None and not workspaces.has_begun_landing():
                store.end(entry.id, landed=await workspaces.is_landed(entry.branch.after))
        return said


def note_rollback(project: Project, to: str, undo: str) -> None:
    """Lists a rollback that the user made, so that `interlock undo` takes it back like every other change."""
    store = undo_store(project)
    with store.locked():
        store.note(f"rollback to {to}", undo, done=True)


def waited_for(state: State) -> Iterable[str]:
    """How the keys of the previews begin that a discussion still needs."""
    for discussion in state.discussions_in_order():
        if not isinstance(discussion.stage, Quiet):
            yield preview_prefix(discussion.id)


class Undoing:
    """Takes back the last lasting change, or makes the last one that was taken back again.

    `workspaces` opens those of the running workbench, if this is its process.
    """

    def __init__(self, project: Project, workspaces: Callable[[], Awaitable[GitWorkspaces]] | None = None) -> None:
        self._project = project
        self._store = undo_store(project)
        self._workspaces = workspaces

    def rows(self) -> tuple[UndoRow, ...]:
        """The changes that can be undone or redone, newest first."""
        found = [entry for entry in self._store.entries() if entry.state in ("done", "undone")]
        found.sort(key=lambda entry: entry.turn, reverse=True)
        return tuple(UndoRow(one.id, one.at, one.what, one.state, len(one.changes)) for one in found)

    def has_next(self, *, redo: bool) -> bool:
        return (self._store.next_redo() if redo else self._store.next_undo()) is not None

    async def plan(self, *, redo: bool) -> UndoPlan:
        entry = self._next(redo=redo)
        if entry.branch is not None:
            files = await self._landed_files(entry.branch, redo=redo)
        elif entry.rollback:
            files = [f"{change.change} {change.path}" for change in await asyncio.to_thread(self._rolled, entry)]
        else:
            changes = entry.changes if redo else reversed_changes(entry.changes)
            files = [f"{_word(change)} {shown(change.path)}" for change in changes]
        changed = await asyncio.to_thread(lambda: self._changed(entry, redo=redo))
        more = max(0, len(files) - MOST_FILES)
        return UndoPlan(entry.id, entry.what, redo, tuple(files[:MOST_FILES]), more, changed)

    def check(self, plan: UndoPlan, *, force: bool) -> None:
        """Raises Rejected with the names if the user changed the files since, unless that is forced."""
        if plan.changed and (plan.redo or not force):
            more = f" and {len(plan.changed) - MOST_NAMED} more" if len(plan.changed) > MOST_NAMED else ""
            how = "" if plan.redo else "; --force (force over HTTP) does it, and a checkpoint keeps your versions"
            raise Rejected(
                f"you changed files since {plan.what}: {', '.join(plan.changed[:MOST_NAMED])}{more};"
                f" nothing was changed{how}"
            )

    async def run(self, plan: UndoPlan, *, force: bool = False) -> Undone:
        """Lasting: all of it or nothing; after a crash the next opening finishes it."""
        self.check(plan, force=force)
        with self._held(plan):
            entry = self._next(redo=plan.redo)
            if entry.id != plan.id:
                raise Rejected("another change was made meanwhile; look at it again")
            if entry.branch is not None:
                note = await self._move_landing(entry.branch, redo=plan.redo)
                await asyncio.to_thread(self._store.turned, entry)
                return Undone(entry.id, entry.what, plan.redo, note)
            if entry.rollback:
                done = await asyncio.to_thread(self._roll, entry)
                self._store.turned(entry, done.undo)
                return Undone(entry.id, entry.what, plan.redo, done.note)
            return await asyncio.to_thread(lambda: self._move_files(entry, redo=plan.redo, force=force))

    def _changed(self, entry: Entry, *, redo: bool) -> tuple[str, ...]:
        if entry.left:
            return Checkpoints(self._project, lambda _: None).changed_since(entry.left)
        return self._store.moved(entry, redo=redo) if entry.changes else ()

    def _next(self, *, redo: bool) -> Entry:
        entry = self._store.next_redo() if redo else self._store.next_undo()
        if entry is None:
            raise Rejected(f"there is nothing to {'redo' if redo else 'undo'}")
        return entry

    def _move_files(self, entry: Entry, *, redo: bool, force: bool) -> Undone:
        if not is_below(entry.root, self._project.root):
            raise Rejected(f"{entry.root} is not a folder of this project; nothing was changed")
        checkpoint = ""
        if force and not redo and self._store.moved(entry):
            made = Checkpoints(self._project, lambda _: None).create(f"before the undo of {entry.id}", ignored=False)
            entry, checkpoint = self._store.as_now(entry), made.id
        if redo:
            self._store.redo(entry)
        else:
            self._store.undo(entry)
        return Undone(entry.id, entry.what, redo, checkpoint=checkpoint)

    @contextmanager
    def _held(self, plan: UndoPlan) -> Generator[None]:
        """No other process changes the project's files meanwhile."""
        scratch = self._project.state_dir.resolve() / "git" / project_key(self._project.root)
        if any((scratch / name).exists() for name in (LANDING, ROLLBACK)):
            raise Rejected("a landing or a rollback is under way or was interrupted; try again when it has ended")
        lock = None
        if self._workspaces is None and self._store.get(plan.id).branch is not None:
            try:
                lock = WriterLock(self._project.folder / "lock")
            except JournalInUse as error:
                raise Rejected(f"{error}; end it first, or undo the landing there") from None
        try:
            with self._store.locked():
                yield
        finally:
            if lock is not None:
                lock.release()

    async def _git(self) -> GitWorkspaces:
        if self._workspaces is not None:
            return await self._workspaces()
        project = self._project
        made = GitWorkspaces(project.root, project.state_dir, await plain_git(), partial(trusts_include, project))
        await made.open()
        return made

    async def _landed_files(self, branch: Branch, *, redo: bool) -> list[str]:
        old, new = (branch.before, branch.after) if redo else (branch.after, branch.before)
        changed = await (await self._git()).changes(old, new)
        return [f"change {file.path}" for file in changed] + [f"move the branch {branch.name} to {new[:12]}"]

    async def _move_landing(self, branch: Branch, *, redo: bool) -> str:
        plan = LandingPlan(branch.name, branch.before, branch.after, "")
        git = await self._git()
        return await (git.land_again(plan) if redo else git.take_back(plan))

    def _rolled(self, entry: Entry) -> tuple[Change, ...]:
        checkpoints = Checkpoints(self._project, lambda _: None)
        found = checkpoints.get(entry.rollback)
        return checkpoints.preview(found.id, ignored=found.ignored).changes

    def _roll(self, entry: Entry) -> RolledBack:
        checkpoints = Checkpoints(self._project, lambda _: None)
        found = checkpoints.get(entry.rollback)
        return checkpoints.rollback(found.id, ignored=found.ignored)


def _word(change: PathChange) -> str:
    if change.after.kind == "missing":
        return "remove"
    return "restore" if change.before.kind == "missing" else "change"
