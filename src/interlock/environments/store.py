"""The environments of all projects, in the user's state folder: found by key, listed, removed by age and size."""

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from interlock.environments.manifest import Manifest
from interlock.environments.placing import FILES, HOME, PLACED, remove, sweep

MAKING = "making"
_MANIFEST = "manifest"
_USED = "used"


class Stored(Struct, frozen=True):
    manifest: Manifest
    used_at: float  # seconds since 1970


class EnvironmentStore:
    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))

    def get(self, key: str) -> Manifest | None:
        """The environment, if it is complete. It counts as used now."""
        manifest = self._read(self.folder / key)
        if manifest is not None:
            with contextlib.suppress(OSError):
                (self.folder / key / _USED).touch()
        return manifest

    def new_folder(self) -> Path:
        """A folder to make an environment in, on the file system of the store."""
        self.clean()
        making = self.folder / MAKING / f"{os.getpid()}-{secrets.token_hex(6)}"
        making.mkdir(parents=True)
        return making

    def keep(self, making: Path, manifest: Manifest) -> Manifest:
        """Adds a finished environment. If another process has added the same one first, that one counts."""
        (making / _MANIFEST).write_bytes(msgspec.msgpack.encode(manifest))
        if (found := self.get(manifest.key)) is None:
            self.remove(manifest.key)  # a folder with an unreadable manifest is no environment
            with contextlib.suppress(OSError):
                making.rename(self.folder / manifest.key)
            found = self.get(manifest.key)
        remove(making)
        if found is None:
            raise OSError(errno.EIO, "the environment could not be added", str(self.folder / manifest.key))
        return found

    def listed(self) -> list[Stored]:
        """All environments, the last used first."""
        found: list[Stored] = []
        with contextlib.suppress(OSError):
            for folder in sorted(self.folder.iterdir()):
                if folder.name not in (MAKING, PLACED) and (manifest := self._read(folder)) is not None:
                    found.append(Stored(manifest, _time_of(folder / _USED) or manifest.made_at))
        return sorted(found, key=lambda stored: -stored.used_at)

    def prune(
        self, *, older_than_days: float | None = None, larger_than_mb: float | None = None, spare_s: float = 0
    ) -> list[Manifest]:
        """Removes environments that were not used for so long, then the least used ones until the rest is so small.

        Those that were used in the last `spare_s` seconds stay: a worktree may still need them.
        """
        self.clean()
        gone: list[Manifest] = []
        kept: list[Stored] = []
        oldest = time.time() - older_than_days * 86_400 if older_than_days is not None else None
        for stored in self.listed():
            if oldest is not None and stored.used_at <= oldest:
                gone.append(stored.manifest)
            else:
                kept.append(stored)
        if larger_than_mb is not None:
            left = larger_than_mb * 1e6
            for stored in kept:
                left -= stored.manifest.size
                if left < 0:
                    gone.append(stored.manifest)
        used = {stored.manifest.key for stored in kept if stored.used_at > time.time() - spare_s}
        gone = [manifest for manifest in gone if manifest.key not in used]
        for manifest in gone:
            self.remove(manifest.key)
        return gone

    def remove(self, key: str) -> None:
        """First renamed: an environment is there as a whole, or not at all."""
        aside = self.folder / MAKING / f"{os.getpid()}-{secrets.token_hex(6)}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            (self.folder / key).rename(aside)
        remove(aside)

    def clean(self) -> None:
        """Removes what killed processes left, and what was made for worktrees that are gone."""
        for left in _entries(self.folder / MAKING):
            pid = left.name.partition("-")[0]
            if not (pid.isdigit() and os.path.exists(f"/proc/{pid}")):
                remove(left)
        sweep(self.folder)

    def _read(self, folder: Path) -> Manifest | None:
        try:
            return msgspec.msgpack.decode((folder / _MANIFEST).read_bytes(), type=Manifest)
        except (OSError, msgspec.DecodeError):
            return None


def _entries(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from list(folder.iterdir())


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0


__all__ = ["FILES", "HOME", "EnvironmentStore", "Stored"]
