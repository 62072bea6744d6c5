"""Large texts stored beside the journal under their hash; durable when `put` returns."""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from interlock.errors import JournalError, JournalUnwritable


class Blobs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> str:
        name = sha256(content).hexdigest()
        target = self._folder / name
        if target.exists():
            return name
        part = self._folder / f".{name}.{token_hex(4)}"  # several threads may store the same text at once
        try:
            if not self._folder.is_dir():
                self._folder.mkdir(mode=0o700, exist_ok=True)
                sync_folder(self._folder.parent)
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.rename(target)
            sync_folder(self._folder)
        except OSError as error:
            discard(part)
            raise JournalUnwritable(f"cannot store a text of {len(content):,} bytes: {error.strerror}") from error
        return name

    def get(self, name: str) -> bytes:
        if len(name) != 64 or not name.isalnum():
            raise JournalError(f"{name!r} is not a blob's name")
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            raise JournalError(f"the text {name[:12]}… is missing from the blobs") from None


def sync_folder(folder: Path) -> None:
    """Makes new names in the folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def discard(part: Path) -> None:
    """Removes a partly written file if possible; the original error matters more."""
    with suppress(OSError):
        part.unlink()
