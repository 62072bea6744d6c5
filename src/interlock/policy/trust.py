"""The trust store: digests of exact content that the user trusts, outside any project."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from interlock.errors import Misconfigured


class TrustStore:
    """An entry is a digest, a blank, and the name of the content."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self._root = str(root.resolve())

    def trusts(self, digest: str) -> bool:
        return any(entry.partition(" ")[0] == digest for entry in self._read().get(self._root, []))

    def ever_trusted(self, name: str) -> bool:
        """True if any content of this name was ever trusted."""
        return any(entry.partition(" ")[2] == name for entry in self._read().get(self._root, []))

    def add(self, things: Iterable[tuple[str, str]]) -> None:
        """Digests and names."""
        known = self._read()
        entries = {f"{digest} {name}" for digest, name in things}
        known[self._root] = sorted({*known.get(self._root, []), *entries})
        part = self.path.with_suffix(f".{os.getpid()}")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_bytes(msgspec.json.encode(known))
        part.chmod(0o600)
        part.rename(self.path)

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, list[str]])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            raise Misconfigured(f"{self.path} cannot be read: {error}; remove it to trust anew") from error
