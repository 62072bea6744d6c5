"""The client of the private socket: submits commands to the process that holds the project.

The state is not sent: the client reads the journal and applies the events that it follows.
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from io import BufferedRWPair
from pathlib import Path
from typing import Any

import msgspec

from interlock import errors, wire
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.ports.front import Receipt
from interlock.ports.model import ToolCall

SILENCE_S = 10.0
"""Seconds without a sign of life after which the process that holds the project counts as not answering."""

_KNOWN = (errors.Rejected, errors.Misconfigured, errors.JournalUnwritable, errors.JournalCorrupt, errors.Unavailable)


class ControlClient:
    """Blocking; one request at a time. Raises NoAnswer after `silence_s` seconds without a sign of life."""

    def __init__(self, path: Path, silence_s: float = SILENCE_S) -> None:
        self._path = path
        self._silence_s = silence_s
        self._socket = _connect(path, silence_s)
        self._file = self._socket.makefile("rwb")

    def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        """A repeated `submission` changes nothing: it gets the first answer."""
        request = {"do": "submit", "actor": actor, "command": wire.to_plain(command)}
        return self._receipt({**request, "id": submission} if submission else request)

    def ask_landing(self, actor: Actor, track: str) -> Receipt:
        """Waits for the gates that verify what would be landed."""
        return self._receipt({"do": "land", "actor": actor, "track": track})

    def say(self, actor: Actor, discussion: str, text: str) -> Receipt:
        return self._receipt({"do": "say", "actor": actor, "discussion": discussion, "text": text})

    def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt:
        plain = wire.to_plain(call)
        return self._receipt({"do": "call", "actor": actor, "discussion": discussion, "call": plain})

    def stop(self) -> None:
        self._ask({"do": "stop"})

    def follow(
        self, after: int, *, works: bool = False, heard: Callable[[str, str], None] | None = None
    ) -> Iterator[Sequence[Recorded]]:
        """Every event after a version, in whole batches, as it happens, until the server ends.

        `works`: the server's process stays open for the work of this client. `heard` gets the text that models stream,
        with its key.

        A batch may be empty: a sign of life. Of a batch that the server could not finish nothing is returned.
        """
        connection = _connect(self._path, self._silence_s)
        batch: list[Recorded] = []
        with connection, connection.makefile("rwb") as lines:
            request = {"do": "follow", "after": after, "works": works, "streams": heard is not None}
            lines.write(wire.encode(request) + b"\n")
            lines.flush()
            while line := self._whole_line(lines):
                if line.startswith(b'{"at"'):
                    yield batch
                    batch = []
                elif line.startswith(b'{"stream"'):
                    if heard is not None:
                        text = msgspec.json.decode(line)
                        heard(text["stream"], text["piece"])
                elif not line.startswith(b'{"busy"'):
                    batch.append(wire.decode_recorded(line))

    def close(self) -> None:
        with contextlib.suppress(OSError):  # unsent data is lost
            self._file.close()
        self._socket.close()

    def _receipt(self, request: dict[str, Any]) -> Receipt:
        return msgspec.convert(self._ask(request), Receipt)

    def _ask(self, request: dict[str, Any]) -> Any:
        until = time.monotonic() + self._silence_s
        try:
            self._file.write(wire.encode({**request, "until": until}) + b"\n")
            self._file.flush()
            line = self._file.readline()
            while line.startswith(b'{"busy"'):
                line = self._file.readline()
        except TimeoutError:
            raise errors.NoAnswer(_silent(self._silence_s)) from None
        except OSError as error:
            raise errors.Unavailable(f"the connection to the workbench was lost: {error.strerror}") from error
        if not line.endswith(b"\n"):
            raise errors.Unavailable("the workbench closed the connection; it may be ending")
        answer = msgspec.json.decode(line)
        if "error" in answer:
            kind = getattr(errors, answer.get("kind", ""), errors.Rejected)
            if kind in _KNOWN:
                raise kind(answer["error"])
            raise errors.Rejected(answer["error"])
        return answer["ok"]

    def _whole_line(self, lines: BufferedRWPair) -> bytes:
        """The next line; empty at the end, even if the server died in the middle of a line."""
        try:
            line = lines.readline()
        except TimeoutError:
            raise errors.NoAnswer(_silent(self._silence_s)) from None
        except OSError:
            return b""
        return line if line.endswith(b"\n") else b""


def _silent(silence_s: float) -> str:
    return f"the workbench that holds this project has not answered for {silence_s:g} s"


def _connect(path: Path, silence_s: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(silence_s)
    try:
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            connection.connect(f"/proc/self/fd/{fd}/{path.name}")
        finally:
            os.close(fd)
    except TimeoutError:
        connection.close()
        raise errors.NoAnswer(_silent(silence_s)) from None
    except OSError as error:
        connection.close()
        raise errors.Unavailable(f"the workbench that holds this project does not answer: {error.strerror}") from error
    return connection
