"""Views on disk, by the hash of what they were made from. Any number of processes may use the folder at once.

Few views are files of their own, many of them together lie in a pack. A file is written beside its place and moved
there, so it is there whole or not at all; its head tells length and checksum of the rest, so that a torn one counts as
missing. Whatever fails here only costs time.
"""

import contextlib
import hashlib
import os
import shutil
import sys
import time
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from interlock.codeviews.folders.packs import Entry, Packs, Where
from interlock.codeviews.folders.seen import Seen
from interlock.codeviews.syntax.detect import CODE
from interlock.codeviews.syntax.trees import table
from interlock.codeviews.views.view import VERSION

KEEP_DAYS = 30
_MOST_ARE_BELOW = 16_384  # bytes of a stored view


def cache_folder(environ: Mapping[str, str]) -> Path:
    """`$XDG_CACHE_HOME/interlock/views`; a relative XDG_CACHE_HOME counts as unset."""
    base = Path(environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "interlock" / "views"


class Cache:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = str(folder / VERSION)
        self.seen = Seen(f"{self.place}/seen")
        self.packs = Packs(f"{self.place}/packs")

    def get(self, key: bytes) -> Entry | None:
        return self._alone(key.hex()) or self.packed(key)

    def packed(self, key: bytes) -> Entry | None:
        where = self.packs.find(key)
        return self.packs.read(where) if where is not None else None

    def _alone(self, name: str) -> Entry | None:
        try:
            head, _, view = _read(f"{self.place}/{name[:2]}/{name[2:]}").partition(b"\n")
            before, after, length, checksum = map(int, head.split())
        except (OSError, ValueError):
            return None
        if len(view) != length or zlib.crc32(view) != checksum:
            return None
        return Entry(view, before, after)

    def keep(self, key: bytes, entry: Entry, *, packed: bool) -> Where | None:
        """`packed`: with many others. Where it lies then."""
        if packed:
            return self.packs.add(key, entry)
        self.put(key, entry)
        return None

    def put(self, key: bytes, entry: Entry) -> None:
        name = key.hex()
        place = f"{self.place}/{name[:2]}/{name[2:]}"
        beside = f"{place}.{os.getpid()}"
        head = f"{entry.before} {entry.after} {len(entry.view)} {zlib.crc32(entry.view)}\n"
        try:
            try:
                _write(beside, head.encode() + entry.view)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
                _write(beside, head.encode() + entry.view)
            os.replace(beside, place)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(beside)

    def save(self) -> None:
        self.packs.close()
        self.seen.save()
        self.prune()

    def prune(self) -> None:
        """At most once a day: views of other versions go, and those not made for a month."""
        mark = self.folder / "pruned"
        now = time.time()
        try:
            if mark.exists() and now - mark.stat().st_mtime < 86_400:
                return
            mark.touch()
            for version in self.folder.iterdir():
                if version.is_dir() and version.name != VERSION:
                    shutil.rmtree(version, ignore_errors=True)
            for path in Path(self.place).glob("*/*"):
                if now - path.stat().st_mtime > KEEP_DAYS * 86_400:
                    path.unlink(missing_ok=True)
        except OSError:
            return


def _read(path: str) -> bytes:
    """Few calls to the kernel: a warm run is little else."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(fd, _MOST_ARE_BELOW)
        if len(content) == _MOST_ARE_BELOW:
            content += os.read(fd, os.fstat(fd).st_size)
        return content
    finally:
        os.close(fd)


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def digest_of(source: bytes) -> bytes:
    return hashlib.blake2b(source, digest_size=20).digest()


def key_of(kind: str, digest: bytes, language: str, title: str | None, tokens: str) -> bytes:
    """Whatever the outcome depends on."""
    known = "\0".join((kind, language, title or "", tokens, _parser_version(language)))
    return hashlib.blake2b(known.encode() + b"\0\0" + digest, digest_size=20).digest()


@cache
def maker_of(kind: str, tokens: str) -> str:
    """The same, of a file that is still what it was: its content and its name are."""
    return f"{kind} {zlib.crc32(f'{tokens} {sorted(_installed().items())}'.encode()):08x}"


@cache
def _parser_version(language: str) -> str:
    if language not in CODE:
        return ""
    known = _installed()
    return " ".join(known.get(name, "?") for name in ("tree_sitter", table(language).module))


@cache
def _installed() -> Mapping[str, str]:
    """Versions of the parser and of the grammars, by the names of folders: to read in them takes far longer."""
    found: dict[str, str] = {}
    for place in reversed(sys.path):  # what comes first is what is imported
        with contextlib.suppress(OSError):
            for name in os.listdir(place or "."):
                if name.startswith("tree_sitter") and name.endswith((".dist-info", ".egg-info")):
                    package, _, version = name.rpartition(".")[0].partition("-")
                    found[package] = version
    return found
