"""Large texts stored beside the journal under their hash; durable when `put` returns."""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from interlock.errors import JournalCorrupt, JournalError, JournalUnwritable
from interlock.identity.careful import read_plain, sync_folder, write_new

MOST_BYTES = 1 << 32
"""A blob larger than this is not ours."""


class Blobs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> str:
        name = sha256(content).hexdigest()
        target = self._folder / name
        try:
            if self.get(name) == content:
                return name
        except JournalError:
            pass  # it is missing, or not what its name says: written (again) below
        part = self._folder / f".{name}.{token_hex(4)}"  # several threads may store the same text at once
        try:
            if not self._folder.is_dir():
                self._folder.mkdir(mode=0o700, exist_ok=True)
                sync_folder(self._folder.parent)
            write_new(part, content)
            part.rename(target)
            sync_folder(self._folder)
        except OSError as error:
            discard(part)
            raise JournalUnwritable(f"cannot store a text of {len(content):,} bytes: {error.strerror}") from error
        return name

    def get(self, name: str) -> bytes:
        """The text of this name. Raises JournalError if it is missing, JournalCorrupt if it is not the stored text."""
        if len(name) != 64 or not name.isalnum():
            raise JournalError(f"{name!r} is not a blob's name")
        try:
            content = read_plain(self._folder / name, MOST_BYTES)
        except FileNotFoundError:
            raise JournalError(f"the text {name[:12]}… is missing from the blobs") from None
        except OSError as error:
            raise JournalCorrupt(f"the text {name[:12]}… cannot be read: {error.strerror}") from error
        if sha256(content).hexdigest() != name:
            raise JournalCorrupt(
                f"the text {name[:12]}… was altered: its content does not have the hash that the journal names"
            )
        return content


def discard(part: Path) -> None:
    """Removes a partly written file if possible; the original error matters more."""
    with suppress(OSError):
        part.unlink()
