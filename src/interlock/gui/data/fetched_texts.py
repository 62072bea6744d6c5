"""A cache of fetched texts: texts of the last frame stay, older ones up to a limit."""

ALL = 8_000_000  # characters
MANY = 2_000  # texts


class FetchedTexts:
    def __init__(self) -> None:
        self._texts: dict[str, str] = {}  # least recently used first
        self._used: dict[str, int] = {}  # the frame of the last use
        self._frame = 0
        self._size = 0

    def next_frame(self) -> None:
        self._frame += 1

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def __len__(self) -> int:
        return len(self._texts)

    def use(self, name: str) -> str:
        """The text; empty if it is not cached."""
        text = self._texts.pop(name, None)
        if text is None:
            return ""
        self._texts[name] = text
        self._used[name] = self._frame
        return text

    def put(self, name: str, text: str) -> None:
        self.forget(name)
        self._texts[name] = text
        self._used[name] = self._frame
        self._size += len(text)
        for oldest in list(self._texts):
            # Texts drawn in this frame or the one before are needed again in the next.
            if (self._size <= ALL and len(self._texts) <= MANY) or self._used[oldest] >= self._frame - 1:
                break
            self.forget(oldest)

    def forget(self, name: str) -> None:
        text = self._texts.pop(name, None)
        if text is not None:
            del self._used[name]
            self._size -= len(text)
