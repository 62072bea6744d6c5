"""The text that models stream now: in memory, by key, never in the journal."""

from collections.abc import Callable, Mapping

MOST = 200_000  # characters kept of one stream, from its end
KEYS = 256  # streams kept: the latest
ALL = 2_000_000  # characters of all streams
_PIECE = 4_096  # characters: shorter pieces are joined, because models stream a few letters at a time

THINKING, ANSWERING = "[thinking]\n", "\n[/thinking]\n\n"

Listener = Callable[[str, str], None]


class Streams:
    """Bounded texts by key such as `Tier 3 (Worker): T-001`; listeners receive each piece immediately."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0  # characters of all streams
        self._listeners: list[Listener] = []
        self._clears: list[Callable[[], None]] = []

    def add(self, key: str, piece: str) -> None:
        if not piece:
            return
        pieces = self._texts.pop(key, [])
        if pieces and len(pieces[-1]) + len(piece) <= _PIECE:
            pieces[-1] += piece
        else:
            pieces.append(piece)
        size = self._sizes.pop(key, 0) + len(piece)
        self._size += len(piece)
        if size > 2 * MOST:
            pieces = ["".join(pieces)[-MOST:]]
            self._size -= size - MOST
            size = MOST
        self._texts[key] = pieces  # reinserted last: the least recently used streams are dropped first
        self._sizes[key] = size
        while len(self._texts) > KEYS or (self._size > ALL and len(self._texts) > 1):
            oldest = next(iter(self._texts))
            del self._texts[oldest]
            self._size -= self._sizes.pop(oldest)
        for listener in self._listeners:
            listener(key, piece)

    def part(self, key: str) -> None:
        """Separates the next message from the one before."""
        if key in self._texts:
            self.add(key, "\n\n")

    def text(self, key: str) -> str:
        return "".join(self._texts.get(key, ()))[-MOST:]

    def all(self) -> Mapping[str, str]:
        return {key: self.text(key) for key in self._texts}

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Returns a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_clear(self, cleared: Callable[[], None]) -> None:
        self._clears.append(cleared)

    def clear(self) -> None:
        self._texts.clear()
        self._sizes.clear()
        self._size = 0
        for cleared in self._clears:
            cleared()


class AnswerWriter:
    """Adds one answer to a stream, with its reasoning between markers."""

    def __init__(self, streams: Streams, key: str) -> None:
        self._streams = streams
        self._key = key
        self._thinking = False

    def text(self, piece: str) -> None:
        self._add(piece, thinking=False)

    def reasoning(self, piece: str) -> None:
        self._add(piece, thinking=True)

    def _add(self, piece: str, *, thinking: bool) -> None:
        if piece and thinking != self._thinking:
            self._thinking = thinking
            self._streams.add(self._key, THINKING if thinking else ANSWERING)
        self._streams.add(self._key, piece)
