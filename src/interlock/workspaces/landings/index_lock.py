"""The lock of the user's index during a landing, and the record by which a later process knows it as ours.

The record is in the user's state folder. It is written before the lock is taken and removed after it is released. The
lock contains the token of its record: a lock with another content belongs to somebody else and is never removed.
"""

import contextlib
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from interlock.errors import Rejected
from interlock.identity.careful import read_plain, sync_folder

_SIGNATURE = b"interlock is landing\n"  # up to 0.6 the whole content
_MOST = 10_000


class LandingRecord(msgspec.Struct, frozen=True):
    """A landing that has begun.

    From `placing` on the user's files change; `returning`: they are being put back, because the landing failed.
    """

    token: str
    branch: str
    before: str
    after: str
    phase: Literal["staging", "placing", "returning"] = "staging"
    folder: str = ""  # where the files of this run are: a git of a killed run may still write into an earlier one


def new_token() -> str:
    return secrets.token_hex(8)


def read_record(file: Path) -> LandingRecord | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=LandingRecord)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write_record(file: Path, record: LandingRecord) -> None:
    draft = file.with_name(f"{file.name}.{record.token}")
    with open(draft, "wb") as opened:
        opened.write(msgspec.json.encode(record))
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
    sync_folder(file.parent)  # the user's files may be on another disk: the record must be there before they change


class IndexLock:
    def __init__(self, index: Path, project: str) -> None:
        self._lock = Path(f"{index}.lock")
        self._project = project

    @contextmanager
    def held(self, token: str) -> Generator[None]:
        """Holds the lock. One that a killed landing with this token left is taken over."""
        content = b"%stoken %s\nproject %s\nprocess %d\n" % (
            _SIGNATURE,
            token.encode(),
            os.fsencode(self._project),
            os.getpid(),
        )
        if not self._create(content, token):
            found = self._content()
            if not is_ours(found, token):
                raise Rejected(self._whose(found))
        status = os.lstat(self._lock)
        mine = (status.st_dev, status.st_ino)
        try:
            yield
        finally:
            if self._identity() == mine:
                self._lock.unlink(missing_ok=True)

    def is_held(self, token: str) -> bool:
        return is_ours(self._content(), token)

    def remove(self, token: str) -> None:
        """Removes the lock of a landing that is over."""
        if self.is_held(token):
            self._lock.unlink(missing_ok=True)

    def _create(self, content: bytes, token: str) -> bool:
        """False if the lock exists. It never exists with half of its content."""
        draft = self._lock.with_name(f"{self._lock.name}.interlock-{token}")
        draft.write_bytes(content)
        try:
            os.link(draft, self._lock)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            try:
                with open(self._lock, "xb") as file:
                    file.write(content)
            except FileExistsError:
                return False
        finally:
            draft.unlink(missing_ok=True)
        return True

    def _content(self) -> bytes:
        with contextlib.suppress(OSError):
            return read_plain(self._lock, _MOST)
        return b""

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.lstat(self._lock)
        except FileNotFoundError:
            return None
        return (status.st_dev, status.st_ino)

    def _whose(self, found: bytes) -> str:
        if not found.startswith(_SIGNATURE):
            return f"another git command is running ({self._lock} exists); try again when it has ended"
        lines = dict(line.split(b" ", 1) for line in found.splitlines()[1:] if b" " in line)
        project = lines.get(b"project", b"an unknown project").decode("utf-8", "backslashreplace")
        process = lines.get(b"process", b"?").decode("ascii", "replace")
        return (
            f"a landing of the project {project} (process {process}) holds {self._lock}; try again when it has ended,"
            f" or run 'interlock resume' there"
        )


def is_ours(content: bytes, token: str) -> bool:
    return content == _SIGNATURE or content.startswith(b"%stoken %s\n" % (_SIGNATURE, token.encode()))
