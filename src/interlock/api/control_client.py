"""The client of the private socket: submits commands to the process that holds the project.

The state is not sent: the client reads the journal and applies the events that it follows.
"""

import contextlib
import os
import socket
from collections.abc import Iterator
from io import BufferedRWPair
from pathlib import Path
from typing import Any

import msgspec

from interlock import errors, wire
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.ports.front import Receipt

GATES_S = 3_600
"""How long the gates of a track may take before its landing is asked."""


class ControlClient:
    """Blocking; one request at a time."""

    def __init__(self, path: Path, timeout_s: float = 30) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._socket = _connect(path, timeout_s)
        self._file = self._socket.makefile("rwb")

    def submit(self, actor: Actor, command: Command) -> Receipt:
        return self._receipt({"do": "submit", "actor": actor, "command": wire.to_plain(command)})

    def ask_landing(self, actor: Actor, track: str) -> Receipt:
        """Waits for the gates that verify what would be landed."""
        self._socket.settimeout(GATES_S)
        try:
            return self._receipt({"do": "land", "actor": actor, "track": track})
        finally:
            self._socket.settimeout(self._timeout_s)

    def say(self, actor: Actor, discussion: str, text: str) -> Receipt:
        return self._receipt({"do": "say", "actor": actor, "discussion": discussion, "text": text})

    def stop(self) -> None:
        self._ask({"do": "stop"})

    def follow(self, after: int) -> Iterator[Recorded]:
        """Every event after a version, as it happens, until the server ends."""
        connection = _connect(self._path, None)
        with connection, connection.makefile("rwb") as lines:
            lines.write(wire.encode({"do": "follow", "after": after}) + b"\n")
            lines.flush()
            while line := _whole_line(lines):
                yield wire.decode_recorded(line)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # unsent data is lost
            self._file.close()
        self._socket.close()

    def _receipt(self, request: dict[str, Any]) -> Receipt:
        return msgspec.convert(self._ask(request), Receipt)

    def _ask(self, request: dict[str, Any]) -> Any:
        try:
            self._file.write(wire.encode(request) + b"\n")
            self._file.flush()
            line = self._file.readline()
        except TimeoutError:
            raise errors.Unavailable(f"the workbench did not answer within {self._timeout_s:g} s") from None
        except OSError as error:
            raise errors.Unavailable(f"the connection to the workbench was lost: {error.strerror}") from error
        if not line:
            raise errors.Unavailable("the workbench closed the connection; it may be ending")
        answer = msgspec.json.decode(line)
        if "error" in answer:
            kind = getattr(errors, answer.get("kind", ""), errors.Rejected)
            if kind in (errors.Rejected, errors.Misconfigured, errors.JournalUnwritable, errors.JournalCorrupt):
                raise kind(answer["error"])
            raise errors.Rejected(answer["error"])
        return answer["ok"]


def _whole_line(lines: BufferedRWPair) -> bytes:
    """The next line; empty at the end, even if the server died in the middle of a line."""
    try:
        line = lines.readline()
    except OSError:
        return b""
    return line if line.endswith(b"\n") else b""


def _connect(path: Path, timeout_s: float | None) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout_s)
    try:
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            connection.connect(f"/proc/self/fd/{fd}/{path.name}")
        finally:
            os.close(fd)
    except OSError as error:
        connection.close()
        raise errors.Unavailable(f"the workbench that holds this project does not answer: {error.strerror}") from error
    return connection
