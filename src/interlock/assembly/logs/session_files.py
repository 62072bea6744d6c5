"""The files of one session's logs, in `.interlock/logs/sessions/<YYYYMMDD_HHMMSS>/`.

A thread of its own writes them; sizes and queue are bounded. An entry that cannot be written is dropped, with one
warning per session.
"""

import contextlib
import os
import queue
import shutil
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from interlock.identity.careful import open_beneath

LARGEST = 10_000_000  # bytes of one file before it is rotated
FILES = 3  # files of one log: the current one and rotated ones
WAITING = 10_000  # entries in the queue
_SESSIONS, _SCRIPTS = ("logs", "sessions"), ("scripts", "generated")
_PATIENCE_S = 1  # seconds to wait at the end for the queue and for the thread

Now = Callable[[], str]
"""RFC 3339 in UTC."""


class SessionFiles:
    def __init__(self, folder: Path, now: Now, keep_days: int = 30) -> None:
        """`folder` is the project's `.interlock`; subfolders are created with the first entry."""
        self._folder = folder
        self.now = now
        self._keep_days = keep_days
        self._entries: queue.Queue[tuple[str, Callable[[], str]] | None] = queue.Queue(WAITING)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._place: int | None = None  # descriptor of this session's folder: links are never followed
        self._count = 0
        self.warnings: tuple[str, ...] = ()

    def append(self, name: str, text: Callable[[], str]) -> None:
        """Queues an entry for a file. The writing thread calls `text` to format it."""
        with self._starting:
            if self._closed:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, name="session logs", daemon=True)
                self._thread.start()
        try:
            self._entries.put_nowait((name, text))
        except queue.Full:
            self._lost("entries arrive faster than the disk can write them")

    def script(self, text: str) -> None:
        """Writes a script to `.interlock/scripts/generated/<YYYYMMDD_HHMMSS>_<number>.sh`."""
        at = stamp(self.now())
        try:
            scripts = self._open(_SCRIPTS)
        except OSError as error:
            self._lost(str(error.strerror or error))
            return
        try:
            for _ in range(WAITING):
                self._count += 1
                name = f"{at}_{self._count:04d}.sh"
                with contextlib.suppress(FileExistsError):  # of a session in the same second
                    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=scripts)
                    with open(fd, "w", encoding="utf-8", errors="replace") as file:
                        file.write(text if text.endswith("\n") else f"{text}\n")
                    return
        except OSError as error:
            self._lost(str(error.strerror or error))
        finally:
            os.close(scripts)

    def close(self) -> None:
        """Waits at most a second for each step: a disk may hang."""
        with self._starting:
            self._closed = True
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._entries.put(None, timeout=_PATIENCE_S)
            self._thread.join(timeout=_PATIENCE_S)

    def _write_all(self) -> None:
        while (entry := self._entries.get()) is not None:
            name, text = entry
            try:
                if self._place is None:
                    self._place = self._begin()
                self._write(self._place, name, text())
            except OSError as error:
                self._lost(str(error.strerror or error))
        if self._place is not None:
            os.close(self._place)

    def _write(self, place: int, name: str, text: str) -> None:
        fd = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=place)
        with open(fd, "a", encoding="utf-8", errors="replace") as out:
            out.write(text)
            size = out.tell()
        if size > LARGEST:
            for number in range(FILES - 1, 0, -1):
                newer = f"{name}.{number - 1}" if number > 1 else name
                with contextlib.suppress(FileNotFoundError):
                    os.replace(newer, f"{name}.{number}", src_dir_fd=place, dst_dir_fd=place)

    def _open(self, parts: tuple[str, ...]) -> int:
        """A descriptor of a folder in `.interlock`, made if it is missing."""
        return open_beneath(self._folder.parent, (self._folder.name, *parts), make=True)

    def _begin(self) -> int:
        """Creates this session's folder, and removes folders and scripts older than `keep_days`."""
        at = stamp(self.now())
        oldest = datetime.strptime(at, "%Y%m%d_%H%M%S") - timedelta(days=self._keep_days)
        limit = oldest.strftime("%Y%m%d_%H%M%S")
        sessions = self._open(_SESSIONS)
        try:
            for old in os.listdir(sessions):
                if old < limit:
                    shutil.rmtree(old, ignore_errors=True, dir_fd=sessions)  # it unlinks links
        finally:
            os.close(sessions)
        with contextlib.suppress(OSError):
            scripts = self._open(_SCRIPTS)
            try:
                for old in os.listdir(scripts):
                    if old < limit:
                        os.unlink(old, dir_fd=scripts)
            finally:
                os.close(scripts)
        return self._open((*_SESSIONS, at))

    def _lost(self, why: str) -> None:
        if not self.warnings:
            self.warnings = (f"some entries could not be written to the logs: {why}",)


def stamp(at: str) -> str:
    """Converts 2026-01-31T12:00:00.000000Z to 20260131_120000."""
    return f"{at[:10].replace('-', '')}_{at[11:19].replace(':', '')}"
