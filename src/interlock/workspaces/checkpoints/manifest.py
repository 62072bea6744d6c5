"""What a git tree does not hold: the permissions of files and folders, and folders without files."""

import os
import stat

from msgspec import Struct

Modes = dict[bytes, int]
_PERMISSIONS = 0o777  # no set-user-id: a file that comes back gains no rights


class Manifest(Struct, frozen=True):
    files: Modes
    folders: Modes
    links: Modes  # their permissions have no meaning

    def encode(self) -> bytes:
        kinds = ((b"f", self.files), (b"d", self.folders), (b"l", self.links))
        return b"".join(b"%s %o %s\0" % (kind, modes[path], path) for kind, modes in kinds for path in sorted(modes))


def decode(stored: bytes) -> Manifest:
    manifest = Manifest({}, {}, {})
    for entry in stored.split(b"\0")[:-1]:
        kind, mode, path = entry.split(b" ", 2)
        {b"f": manifest.files, b"d": manifest.folders, b"l": manifest.links}[kind][path] = int(mode, 8)
    return manifest


def read_modes(project: str, executable: dict[bytes, bool], folders: list[bytes]) -> Manifest:
    """`executable` has the stored files: their execute bit is as git stored it, whatever happens meanwhile."""
    top, manifest = os.fsencode(project), Manifest({}, {}, {})
    for path, runs in executable.items():
        status = _status(os.path.join(top, path))
        if status is not None and stat.S_ISLNK(status.st_mode):
            manifest.links[path] = 0
            continue
        mode = status.st_mode & _PERMISSIONS if status is not None else 0o644
        manifest.files[path] = mode | stat.S_IXUSR if runs else mode & ~stat.S_IXUSR
    for path in folders:
        if (status := _status(os.path.join(top, path))) is not None:
            manifest.folders[path] = status.st_mode & _PERMISSIONS
    return manifest


def _status(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
