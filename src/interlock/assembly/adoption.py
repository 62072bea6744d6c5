"""Shows what a foreign `.interlock` holds, and takes it over as history: nothing runs, no answer counts.

Nothing of the folder itself is kept. A new one is made beside it: the journal's rows as they are, then the events that
end everything unfinished; the texts whose content has the hash of their name; and the objects of a private repository.
Then it takes the old folder's place.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from interlock.assembly.project import Project, now, standing, trust_items, trust_store
from interlock.domain.messages.commands.conductor_commands import EndInherited
from interlock.domain.messages.envelopes import Submission
from interlock.domain.rules.conductor_rules import usable_approvals
from interlock.domain.state.state import State
from interlock.domain.step import step
from interlock.domain.values.approvals import Answered
from interlock.domain.values.discussions import Quiet
from interlock.engine.bench.load_state import load_state
from interlock.errors import InterlockError, JournalCorrupt, JournalInUse, Misconfigured, Rejected
from interlock.identity.careful import Unexpected, each_below, open_beneath
from interlock.identity.making import make_folder, write_twin
from interlock.identity.standing import FOLDER, IDENTITY, Standing, printable, read_identity
from interlock.journal.inherit import copy_blobs, inherited_reader, private_copy, write_history
from interlock.journal.reading import JournalReader
from interlock.journal.sqlite import SqliteJournal
from interlock.journal.verify import verify_rows
from interlock.views.board import TrackRow, track_row

REASON = "adopted as history: what came with the folder does not count"
_MOST_LISTED = 1_000
_PRIVATE = "private.git"
_MOST_PRIVATE = 4 * 1024**3  # bytes
# Replaying rows that no Interlock wrote can fail in any of these ways; all mean the same to a person.
_IMPOSSIBLE = (LookupError, ValueError, TypeError, AttributeError, AssertionError, ArithmeticError, RecursionError)


class UsableApproval(Struct, frozen=True):
    """An approval that would still have an effect if the folder were believed."""

    id: str
    kind: str
    about: str
    answer: str = ""  # empty while it is pending
    edited: bool = False


class Holding(Struct, frozen=True):
    """What a folder holds, as far as it can be read without believing it."""

    standing: Standing
    rows: int = 0
    problem: str = ""  # why its journal cannot be history
    tracks: tuple[TrackRow, ...] = ()
    approvals: tuple[UsableApproval, ...] = ()
    running: tuple[str, ...] = ()  # tickets, epics and discussions that would go on
    files: tuple[str, ...] = ()  # everything in it but the journal and its texts
    settings: tuple[str, ...] = ()  # names in the project's files that count only after trust


def holding(project: Project) -> Holding:
    """Reads a private copy of the journal; changes nothing in the project."""
    found = standing(project)
    store = trust_store(project)
    settings = tuple(item.name for item in trust_items(project) if not store.trusts(item.digest))
    if found.kind == "none" or not _is_folder(project):
        return Holding(found, settings=settings)
    files = () if found.counts or found.kind == "moved" else _other_files(project)
    try:
        with private_copy(project.folder) as copy:
            if not (copy / "journal.db").exists():
                return Holding(found, files=files, settings=settings)
            with _reading(copy) as reader:
                rows, state = _history(reader, copy)
    except InterlockError as error:
        return Holding(found, problem=str(error), files=files, settings=settings)
    return Holding(
        found,
        rows,
        "",
        tuple(track_row(state.tracks[name]) for name in state.track_order),
        tuple(_usable(state)),
        tuple(_running(state)),
        files,
        settings,
    )


def adopt(project: Project, actor: str) -> Standing:
    """Makes the folder count: a moved one as it is, any other as history. Returns its new standing."""
    found = standing(project)
    if found.counts:
        return found
    if found.tracked:
        raise Rejected(
            f"git tracks {found.tracked}: it cannot be adopted, because a commit of others could change it again."
            f" First: git rm -r --cached {FOLDER}, and commit that"
        )
    try:
        if found.kind == "moved":
            write_twin(project.state_dir, found.id, project.root, project.folder, now())
        else:
            with _unused(project), _source(project) as copy:
                make_folder(
                    project.root,
                    project.state_dir,
                    now(),
                    lambda part: _fill(part, project.folder, copy, actor),
                    replace=True,
                )
    except OSError as error:
        raise Misconfigured(f"cannot adopt {project.folder}: {error.filename}: {error.strerror}") from error
    return standing(project)


def _fill(part: Path, old: Path, copy: Path | None, actor: str) -> None:
    if copy is None or not (copy / "journal.db").exists():
        return
    with _reading(copy) as reader:
        _, state = _history(reader, copy)
        write_history(reader, part)
    copy_blobs(old / "blobs", part / "blobs")
    _copy_private(old, part)
    journal = SqliteJournal(part)
    try:
        ended = step(state, Submission(f"adopt-{read_identity(part)[:12]}", actor, EndInherited(REASON)), now())
        journal.append(ended.records)
    finally:
        journal.close()


def _is_folder(project: Project) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(project.folder).st_mode)
    except OSError:
        return False


@contextmanager
def _source(project: Project) -> Generator[Path | None]:
    """A private copy of the journal; None if `.interlock` is a link or a file, which is not read at all."""
    if not _is_folder(project):
        yield None
        return
    with private_copy(project.folder) as copy:
        yield copy


@contextmanager
def _unused(project: Project) -> Generator[None]:
    """Raises JournalInUse while another process, such as an older Interlock, writes this journal."""
    try:
        fd = os.open(project.folder / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise JournalInUse(f"{project.folder} is in use by another process; end that first", None) from None
    finally:
        os.close(fd)


@contextmanager
def _reading(copy: Path) -> Generator[JournalReader]:
    reader = inherited_reader(copy)
    try:
        yield reader
    finally:
        reader.close()


def _history(reader: JournalReader, copy: Path) -> tuple[int, State]:
    """The number of rows and the state after them. Raises JournalCorrupt if they are not a whole, possible history."""
    try:
        report = verify_rows(copy, reader.connection)
        if not report.ok and not report.only_head:
            raise JournalCorrupt(report.problem)
        return report.rows, load_state(reader, use_checkpoint=False)
    except _IMPOSSIBLE as error:
        raise JournalCorrupt(f"its rows are not a possible history ({type(error).__name__})") from error


def _usable(state: State) -> Iterator[UsableApproval]:
    for approval in usable_approvals(state):
        about = approval.ticket or approval.discussion or approval.track or approval.asker
        answer = approval.state
        if isinstance(answer, Answered):
            yield UsableApproval(approval.id, approval.kind, about, answer.decision, answer.edited is not None)
        else:
            yield UsableApproval(approval.id, approval.kind, about)


def _running(state: State) -> Iterator[str]:
    for track_id in state.track_order:
        track = state.tracks[track_id]
        yield from (ticket.name for ticket in track.tickets.values() if ticket.status == "in_progress")
        if track.landing is not None and track.landing.state == "started":
            yield f"landing of {track_id}"
    yield from (name for name in sorted(state.epics) if state.epics[name].status == "planning")
    yield from (name for name, talk in sorted(state.discussions.items()) if not isinstance(talk.stage, Quiet))


def _other_files(project: Project) -> tuple[str, ...]:
    """Names of tokens, sockets, scripts, logs and links in the folder."""
    names: list[str] = []

    def note(folder: int, name: str, status: os.stat_result) -> None:
        if len(names) < _MOST_LISTED and not stat.S_ISDIR(status.st_mode):
            path = os.path.relpath(os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name), project.folder)
            first = path.partition("/")[0]
            if first not in ("blobs", _PRIVATE, IDENTITY, "lock", ".gitignore") and not path.startswith("journal."):
                names.append(printable(path))

    with suppress(OSError):
        folder = open_beneath(project.root, (FOLDER,))
        try:
            each_below(folder, note)
        finally:
            os.close(folder)
    return tuple(sorted(names))


# ── the private repository ───────────────────────────────────────────────────────────────


def _copy_private(old: Path, part: Path) -> None:
    """Copies objects and branches of a private repository; its settings, hooks and alternates are left behind."""
    try:
        source = open_beneath(old.parent, (old.name, _PRIVATE))
    except OSError:
        return
    target, left = part / _PRIVATE, [_MOST_PRIVATE]
    try:
        target.mkdir(mode=0o700)
        for folder in ("objects", "refs"):
            (target / folder).mkdir(mode=0o700)
            with suppress(FileNotFoundError, NotADirectoryError):
                inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
                _copy_tree(inner, target / folder, left)
        for name in ("packed-refs", "HEAD"):
            with suppress(FileNotFoundError):
                _copy_file(source, name, target / name, left)
    finally:
        os.close(source)
    (target / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n")


def _copy_tree(source: int, target: Path, left: list[int]) -> None:
    """Takes over the descriptor. Copies plain files and folders; leaves out links and `info/alternates`."""
    try:
        for name in os.listdir(source):
            if stat.S_ISDIR(os.lstat(name, dir_fd=source).st_mode):
                if name != "info":
                    (target / name).mkdir(mode=0o700)
                    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
                    _copy_tree(inner, target / name, left)
            elif not name.endswith(".lock"):
                _copy_file(source, name, target / name, left)
    finally:
        os.close(source)


def _copy_file(folder: int, name: str, target: Path, left: list[int]) -> None:
    """Copies a plain file, and nothing else. Raises OSError if the whole repository gets too large."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            return
        raise
    with os.fdopen(fd, "rb", closefd=True) as read:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return
        left[0] -= status.st_size
        if left[0] < 0:
            raise Unexpected(0, f"the private repository has more than {_MOST_PRIVATE:,} bytes", name)
        with open(target, "xb") as out:
            rest = status.st_size
            while rest > 0 and (piece := read.read(min(rest, 1 << 20))):
                out.write(piece)
                rest -= len(piece)
