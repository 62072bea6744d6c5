"""JSON objects as lines over byte streams, each bounded in size: the framing of the Agent Client Protocol.

Implements the `Transport` of the protocol's SDK. The SDK's own framing joins a line of any length in memory.
"""

import asyncio
import json
from typing import Any

PIECE = 65_536
"""Bytes read at once."""

MOST_GARBAGE = 100
"""Lines that are no JSON object, after which the peer counts as broken."""


class JsonLines:
    """The messages of one peer. `problem` says why reading ended early, if it did."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        most_bytes: int,
        *,
        answer_garbage: bool = False,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._most = most_bytes
        self._answers = answer_garbage
        self._buffer = bytearray()
        self._searched = 0  # bytes of the buffer without a line break
        self._garbage = 0
        self.problem = ""

    async def send(self, message: dict[str, Any]) -> None:
        """Raises ConnectionError for a request that cannot be sent. An answer that nobody reads is dropped."""
        try:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await self._writer.drain()
        except (OSError, RuntimeError) as error:  # RuntimeError: the transport is closed
            if "method" in message:
                raise ConnectionError(f"the other side does not read: {error}") from error

    async def receive(self) -> dict[str, Any] | None:
        """The next JSON object; None at the end. Other lines are skipped, up to a limit."""
        while (line := await self._line()) is not None:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict):
                return message  # pyright: ignore[reportUnknownVariableType]  # a JSON object has text keys
            self._garbage += 1
            if self._garbage > MOST_GARBAGE:
                self.problem = f"more than {MOST_GARBAGE} lines were no JSON objects"
                return None
            if self._answers:
                await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
        return None

    async def close(self) -> None:
        self._writer.close()

    async def _line(self) -> bytes | None:
        while (end := self._buffer.find(b"\n", self._searched)) < 0:
            self._searched = len(self._buffer)
            if self._searched > self._most:
                self.problem = f"a line has more than {self._most:,} bytes"
                return None
            try:
                piece = await self._reader.read(PIECE)
            except (OSError, ValueError) as error:
                self.problem = f"reading failed: {error}"
                return None
            if not piece:
                return None
            self._buffer += piece
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line
