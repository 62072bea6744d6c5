"""Tracks the files that a model has been shown, and finds those that changed since.

The messages of a conversation name the file contents they showed, and these are stored beside the journal. So a
conversation that continues in another process makes the same comparison.
"""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from posixpath import normpath

from interlock.engine.agents.file_updates import Outline, block
from interlock.engine.blobs import KeptTexts
from interlock.errors import JournalError
from interlock.ports.model import Message, ShownFile, ToolCall
from interlock.ports.tools import ToolPlace, Tools

MOST_FILES = 200
MOST_KEPT = 1_000_000  # characters of a text that is stored for a later diff


def no_outline(path: str, text: str) -> str:
    return ""


class TrackedFiles:
    """The files of one conversation. `start` are the files in its first message."""

    def __init__(
        self,
        tools: Tools,
        place: ToolPlace,
        texts: KeptTexts,
        start: Sequence[str] = (),
        redact: Callable[[str], str] = str,
        outline: Outline = no_outline,
    ) -> None:
        self._tools = tools
        self._place = place
        self._texts = texts
        self._start = tuple(start)
        self._redact = redact
        self._outline = outline

    async def first_shown(self, messages: Sequence[Message], calls: Sequence[ToolCall] = ()) -> tuple[ShownFile, ...]:
        """Files that are shown for the first time: those in `start`, and those that these calls name."""
        known = _last_seen(messages)
        named = [path for call in calls if isinstance(path := call.args.get("path"), str)]
        new = dict.fromkeys(path for name in (*self._start, *named) if (path := self._plain(name)) not in known)
        now = await self._now(list(new)[: max(MOST_FILES - len(known), 0)])
        return tuple([await self._seen(path, text) for path, text in now.items()])

    async def changed(self, messages: Sequence[Message], met: Sequence[ShownFile]) -> tuple[str, tuple[ShownFile, ...]]:
        """A note about files that differ from the version last shown, and their current contents."""
        known = {**_last_seen(messages), **{seen.path: seen for seen in met}}
        current: list[ShownFile] = []
        changes: list[tuple[str, str | None, str | None]] = []
        for path, text in (await self._now(list(known))).items():
            seen = known[path]
            if _name(text) == seen.sha256:
                continue
            current.append(await self._seen(path, text))
            changes.append((path, await self._before(seen), text))
        note = await asyncio.to_thread(block, changes, self._outline) if changes else ""
        return note, tuple(current)

    async def _now(self, paths: list[str]) -> dict[str, str | None]:
        texts = await self._tools.texts(self._place, paths) if paths else {}
        return {path: None if text is None else self._redact(text) for path, text in texts.items()}

    async def _seen(self, path: str, text: str | None) -> ShownFile:
        kept = text is not None and len(text) <= MOST_KEPT
        if text is not None and kept:
            await self._texts.keep(text)
        return ShownFile(path, _name(text), kept)

    async def _before(self, seen: ShownFile) -> str | None:
        if not seen.kept:
            return None
        try:
            return await self._texts.read(seen.sha256)
        except JournalError:
            return None  # the stored text was removed: there is nothing to compare with

    def _plain(self, path: str) -> str:
        return normpath(path.removeprefix(self._place.root.rstrip("/") + "/"))


def _last_seen(messages: Sequence[Message]) -> dict[str, ShownFile]:
    return {seen.path: seen for message in messages for seen in message.seen}


def _name(text: str | None) -> str:
    return "" if text is None else sha256(text.encode(errors="replace")).hexdigest()
