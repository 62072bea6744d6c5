"""Stored texts: texts too large for an event are stored beside the journal under the hash of their content."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from interlock.domain.values.gates import Blob
from interlock.ports.model import Message

INLINE = 4_000

Keep = Callable[[bytes], Awaitable[str]]
Fetch = Callable[[str], bytes]

_message = msgspec.json.Decoder(Message)


class KeptTexts:
    def __init__(self, keep: Keep, fetch: Fetch) -> None:
        self._keep = keep
        self._fetch = fetch

    async def message(self, message: Message) -> Blob:
        content = msgspec.json.encode(message)
        return Blob(await self._keep(content), len(content))

    async def read_message(self, blob: Blob) -> Message:
        return _message.decode(await asyncio.to_thread(self._fetch, blob.sha256))

    async def keep(self, text: str) -> str:
        return await self._keep(text.encode(errors="replace"))

    async def read(self, name: str) -> str:
        return (await asyncio.to_thread(self._fetch, name)).decode()

    async def shortened(self, text: str) -> tuple[str, Blob | None]:
        """The part that fits into an event, and a blob with the whole text if it is longer."""
        if len(text) <= INLINE:
            return text, None
        content = text.encode(errors="replace")
        return text[:INLINE], Blob(await self._keep(content), len(content))
