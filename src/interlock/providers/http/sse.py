"""A parser of server-sent events, for input in arbitrary pieces.

By the standard: lines end with CR, LF or both; comments and unknown fields are ignored; an event is complete at its
blank line. Data after the last blank line is not an event.
"""

from msgspec import Struct


class Garbled(Exception):
    """The data violates the protocol."""


class BrokenOff(Garbled):
    """The server reports that it cannot continue."""


class SseEvent(Struct, frozen=True):
    name: str
    data: str


class EventReader:
    """Takes pieces, returns events. `longest` bounds the bytes of one event."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []  # an incomplete line
        self._size = 0  # data of the current event
        self._after_cr = False  # a CR ended the line; a following LF belongs to it
        self._started = False
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Raises Garbled for invalid UTF-8 and for an event above the limit."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[SseEvent] = []
        for line in ended:
            self._grow(line)
            whole = b"".join(self._pieces)
            self._pieces = []
            if (event := self._line(whole)) is not None:
                events.append(event)
        self._grow(rest)
        return events

    def _grow(self, piece: bytes) -> None:
        if piece:
            self._size += len(piece)
            if self._size > self._longest:
                raise Garbled(f"an event has more than {self._longest:,} bytes")
            self._pieces.append(piece)

    def _line(self, line: bytes) -> SseEvent | None:
        if not self._started:
            self._started = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._complete()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value
        elif not field and not self._data and not self._name:
            self._size = 0  # comments are keep-alives
        return None

    def _complete(self) -> SseEvent | None:
        name, data = self._name, self._data
        self._name, self._data, self._size = b"", [], 0
        if not data:
            return None
        try:
            return SseEvent(name.decode(), b"\n".join(data).decode())
        except UnicodeDecodeError as error:
            raise Garbled("it is not UTF-8") from error
