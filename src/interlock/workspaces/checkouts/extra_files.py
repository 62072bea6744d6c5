"""The digest of a worktree's files that are not in git: their names, kinds, modes and whole content.

Only files that Interlock copied or that the setup made are there when a gate starts (clean_checkout.py).
"""

import hashlib
import os
import stat
from collections.abc import Collection, Sequence

_MOST_FILES = 50_000
_MOST_BYTES = 256 << 20
_PIECE = 1 << 20


def extras_digest(folder: str, paths: Collection[bytes], packages: Sequence[str]) -> str | None:
    """None if they are too many or too large. `packages` are folders outside: a link to one is named by its number."""
    if len(paths) > _MOST_FILES:
        return None
    root, digest, left = os.fsencode(folder), hashlib.sha256(), _MOST_BYTES
    outside = [os.fsencode(path) for path in packages]
    for path in sorted(paths):
        full = os.path.join(root, path)
        try:
            status = os.lstat(full)
            digest.update(b"%d %o " % (len(path), status.st_mode) + path)
            if stat.S_ISLNK(status.st_mode):
                digest.update(_target(os.readlink(full), root, outside))
            elif stat.S_ISREG(status.st_mode):
                left -= status.st_size
                if left < 0:
                    return None
                digest.update(b"%d " % status.st_size + _content(full))
        except OSError:
            return None
    return digest.hexdigest()


def _target(target: bytes, root: bytes, packages: Sequence[bytes]) -> bytes:
    """The target of a link, without the place of this worktree."""
    for number, folder in enumerate(packages):
        if target == folder or target.startswith(folder + b"/"):
            target = b"packages %d" % number + target[len(folder) :]
            break
    return b"-> %d " % len(target) + target.replace(root, b"{worktree}")


def _content(path: bytes) -> bytes:
    digest = hashlib.sha256()
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.digest()
