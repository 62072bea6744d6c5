"""A folder that was looked at whole: while nothing in it has changed, all of it is shown again at once.

What a walk finds depends on the folders it enters (an entry that comes, goes or becomes something else sets the time
of change of its folder), on the files it finds, on the rules of git that it reads, and on where the repository begins.
All of these are noted in the states in which they were; if one differs, everything is looked at anew.
"""

import contextlib
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from interlock.codeviews.folders.cache import Cache, maker_of
from interlock.codeviews.folders.one import Skipped, Viewed, make
from interlock.codeviews.folders.packs import Where
from interlock.codeviews.folders.read_file import BY_CONTENT, TICK_NS
from interlock.codeviews.folders.seen import SETTLED_NS, State, told_state
from interlock.codeviews.folders.walk import FoundFile, walk
from interlock.codeviews.views import tokens
from interlock.codeviews.views.view import Kind
from interlock.version import VERSION

WORTH_IT = 200  # files
MOST_HERE = 8_000_000  # bytes of views that lie in no pack: a folder with more is not noted as a whole
_STATE = struct.Struct("<QQQqq")


class _Row(NamedTuple):
    """A file as it was shown. Its path is from the folder on."""

    path: str
    language: str
    reason: str = ""  # why it has no view
    pack: int = -1  # which of the packs; none: the view lies here
    offset: int = 0
    length: int = 0
    checksum: int = 0
    before: int = 0
    after: int = 0


class _Known(NamedTuple):
    begins: list[tuple[str, bool]]  # where there is a repository
    outside: list[tuple[str, State | None]]  # rules
    inside: list[str]  # folders, rules and files, from the folder on
    states: bytes  # theirs, in one piece: compared at once
    packs: list[str]
    rows: list[_Row]
    views: bytes  # those in no pack


_decode: Callable[[bytes], _Known] = msgspec.msgpack.Decoder(_Known).decode
_encode = msgspec.msgpack.Encoder().encode


def folder_views(
    kind: Kind,
    top: str,
    cache: Cache,
    look: Callable[[Iterator[FoundFile]], Iterator[Viewed | Skipped]],
) -> Iterator[Viewed | Skipped]:
    """`look` is what is done where something has changed."""
    place = _place(kind, top, cache)
    known = _recalled(place, top)
    if known is not None:
        yield from _shown(kind, known, top, cache)
        cache.save()
        return
    watch = Watch(top)
    for one in look(walk(top, watch)):
        watch.shown(one, cache, kind)
        yield one
    made = watch.known()
    if made is not None:
        _note(place, made)


def _place(kind: Kind, top: str, cache: Cache) -> str:
    words = "\0".join((os.path.realpath(top), maker_of(kind, tokens.method()), VERSION))
    name = blake2b(os.fsencode(words), digest_size=20).hexdigest()
    return f"{cache.place}/whole/{name}"


# ── showing again ────────────────────────────────────────────────────────────────────────


def _recalled(place: str, top: str) -> _Known | None:
    try:
        with open(place, "rb") as file:
            checksum, content = file.read(4), file.read()
        if zlib.crc32(content) != int.from_bytes(checksum, "little"):
            return None
        known = _decode(content)
    except (OSError, msgspec.DecodeError):
        return None
    if any(os.path.lexists(path) is not lies for path, lies in known.begins):
        return None
    if any(_state(path) != state for path, state in known.outside):
        return None
    inside = os.path.join(top, "")
    lstat, pack = os.lstat, _STATE.pack
    try:
        found = [os.stat(top), *[lstat(inside + path) for path in known.inside[1:]]]
        now = b"".join(
            [pack(each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in found]
        )
    except (OSError, ValueError, struct.error):
        return None
    return known if now == known.states else None


def _shown(kind: Kind, known: _Known, top: str, cache: Cache) -> Iterator[Viewed | Skipped]:
    inside = os.path.join(top, "")
    for path, language, reason, pack, offset, length, checksum, before, after in known.rows:
        if reason:
            yield Skipped(inside + path, reason, asked=False)
            continue
        if pack < 0:
            yield Viewed(inside + path, language, known.views[offset : offset + length], before, after)
            continue
        entry = cache.packs.read(Where(known.packs[pack], offset, length, checksum, before, after))
        if entry is not None:
            yield Viewed(inside + path, language, *entry)
        else:  # the pack is gone or damaged
            made = make(kind, FoundFile(inside + path), None)
            yield made._replace(digest=b"", fresh=False) if isinstance(made, Viewed) else made


# ── noting ───────────────────────────────────────────────────────────────────────────────


class Watch:
    """What a walk looked at, each taken before it was read."""

    def __init__(self, top: str, now: Callable[[], int] = time.time_ns) -> None:
        self._top = top
        self._now = now
        self._fine = True
        self._begins: list[tuple[str, bool]] = []
        self._outside: list[tuple[str, State | None]] = []
        self._inside: dict[str, State] = {}
        self._rules: dict[str, State] = {}
        self._packs: dict[str, int] = {}
        self._rows: list[_Row] = []
        self._views: list[bytes] = []
        self._size = 0

    # ── from the walk ────────────────────────────────────────────────────────────────────

    def repository(self, path: str, *, lies: bool) -> None:
        self._begins.append((path, lies))

    def outer_rules(self, path: str) -> None:
        state = _state(path)
        self._outside.append((path, state))
        self._fine &= state is None or self._now() - state.changed > SETTLED_NS

    def folder(self, path: str) -> None:
        """Folders are not mapped, so their times only have to be of another tick."""
        try:
            state = told_state(os.stat(path) if path == self._top else os.lstat(path))
        except (OSError, ValueError):
            self._fine = False
            return
        self._fine &= self._now() - state.changed > TICK_NS
        self._keep("" if path == self._top else self._below(path), state)

    def rules(self, path: str) -> None:
        state = _state(path)
        if state is None:
            self._fine = False
        else:
            self._rules[self._below(path)] = state

    def failed(self) -> None:
        self._fine = False

    def _below(self, path: str) -> str:
        return path[len(os.path.join(self._top, "")) :]

    # ── from whoever shows ───────────────────────────────────────────────────────────────

    def shown(self, one: Viewed | Skipped, cache: Cache, kind: Kind) -> None:
        if not self._fine:
            return
        path = self._below(one.path)
        note = cache.seen.noted(one.path)
        if isinstance(one, Skipped):
            if one.reason in BY_CONTENT and (note is None or note.skipped != one.reason):
                self._fine = False
                return
            if one.reason in BY_CONTENT and note is not None:
                self._keep(path, note.state)
            self._rows.append(_Row(path, "", one.reason))
            return
        if note is None or note.skipped:
            self._fine = False
            return
        self._keep(path, note.state)
        where = note.views.get(maker_of(kind, tokens.method()))
        if where is None:
            self._rows.append(_Row(path, one.language, "", -1, self._size, len(one.view), 0, one.before, one.after))
            self._views.append(one.view)
            self._size += len(one.view)
            if self._size > MOST_HERE:
                self._fine = False
                self._views.clear()
        else:
            number = self._packs.setdefault(where.pack, len(self._packs))
            self._rows.append(_Row(path, one.language, "", number, *where[1:]))

    def _keep(self, path: str, state: State) -> None:
        self._fine &= self._inside.setdefault(path, state) == state

    def known(self) -> _Known | None:
        """None where something is not sure, or not worth it."""
        if not self._fine or len(self._rows) < WORTH_IT:
            return None
        now = self._now()
        for path, state in self._rules.items():
            # One that is shown too was noted when it was read; of others only time tells.
            if self._inside.get(path) != state and now - state.changed <= SETTLED_NS:
                return None
            self._keep(path, state)
        if not self._fine or next(iter(self._inside)) != "":
            return None
        try:
            states = b"".join([_STATE.pack(*state) for state in self._inside.values()])
        except struct.error:
            return None
        views = b"".join(self._views)
        return _Known(self._begins, self._outside, list(self._inside), states, list(self._packs), self._rows, views)


def _state(path: str) -> State | None:
    try:
        return told_state(os.lstat(path))
    except (OSError, ValueError):
        return None


def _note(place: str, known: _Known) -> None:
    beside = f"{place}.{os.getpid()}"
    try:
        content = _encode(known)
    except (UnicodeEncodeError, msgspec.EncodeError, TypeError):  # a name that is no text
        return
    try:
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(zlib.crc32(content).to_bytes(4, "little") + content)
        os.replace(beside, place)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
