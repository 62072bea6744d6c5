"""Reads and writes the agents' files, and records what an installation added, so that it can be taken back exactly."""

import hashlib
import os
import tempfile
from pathlib import Path

import msgspec
from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.hooks.installing import Change

_MOST = 4 * 1024 * 1024


class Record(Struct, frozen=True):
    """One installation: the added piece, the hook that was trusted in Codex, and whether its input was closed there."""

    piece: str = ""
    trusted_key: str = ""
    closed_input: bool = False


class Records(Struct, frozen=True):
    """The records in the user's state folder, one file per agent's file."""

    folder: Path

    def read(self, agent: str, file: Path) -> Record:
        try:
            return msgspec.json.decode(self._place(agent, file).read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError):
            return Record()

    def write(self, agent: str, file: Path, record: Record) -> None:
        place = self._place(agent, file)
        if record == Record():
            place.unlink(missing_ok=True)
            return
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(place, msgspec.json.encode(record), 0o600)

    def _place(self, agent: str, file: Path) -> Path:
        return self.folder / f"{agent}-{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}.json"


def read_text(file: Path, root: Path | None) -> str | None:
    """The file's text; None if there is none. In a project (`root`) no link is followed."""
    try:
        if root is not None:
            for part in (file, *file.parents):
                if part == root:
                    break
                if part.is_symlink():
                    raise Misconfigured(
                        f"{part} is a link: Interlock writes no agent's settings through links of a project"
                    )
        if file.stat().st_size > _MOST:
            raise Misconfigured(f"{file} is larger than {_MOST} bytes")
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from error


def apply(file: Path, change: Change, root: Path | None) -> None:
    """Writes the change in one step. Raises Misconfigured if the file is not what was shown any more."""
    if read_text(file, root) != change.before:
        raise Misconfigured(f"{file} was changed meanwhile: nothing was written; try again")
    try:
        if change.after is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        real = Path(os.path.realpath(file))
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
        _replace(real, change.after.encode(), mode)
    except OSError as error:
        raise Misconfigured(f"{file} cannot be written: {error.strerror}") from error


def _replace(file: Path, content: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as new:
            new.write(content)
            new.flush()
            os.fchmod(new.fileno(), mode)
            os.fsync(new.fileno())
        os.replace(name, file)
    except OSError:
        os.unlink(name)
        raise
