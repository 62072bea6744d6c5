"""What the user has read and trusts: digests of exact content, kept outside any project."""

import os
from pathlib import Path

import msgspec

from interlock.errors import Misconfigured


class TrustStore:
    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self._root = str(root.resolve())

    def trusts(self, digest: str) -> bool:
        return digest in self._read().get(self._root, [])

    def add(self, digest: str) -> None:
        known = self._read()
        known[self._root] = sorted({*known.get(self._root, []), digest})
        part = self._path.with_suffix(f".{os.getpid()}")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_bytes(msgspec.json.encode(known))
        part.chmod(0o600)
        part.rename(self._path)

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, list[str]])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            raise Misconfigured(f"{self._path} cannot be read: {error}; remove it to trust anew") from error
