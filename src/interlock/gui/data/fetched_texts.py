"""Texts that were fetched to be drawn. What is drawn just now stays; of what was drawn before, only so much."""

ALL = 8_000_000  # characters
MANY = 2_000  # texts


class FetchedTexts:
    def __init__(self) -> None:
        self._texts: dict[str, str] = {}  # those used longest ago first
        self._used: dict[str, int] = {}  # in which frame
        self._frame = 0
        self._size = 0

    def next_frame(self) -> None:
        self._frame += 1

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def __len__(self) -> int:
        return len(self._texts)

    def use(self, name: str) -> str:
        """Empty where there is none."""
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
            # Whatever was drawn in this frame or the one before is asked for again in the next.
            if (self._size <= ALL and len(self._texts) <= MANY) or self._used[oldest] >= self._frame - 1:
                break
            self.forget(oldest)

    def forget(self, name: str) -> None:
        text = self._texts.pop(name, None)
        if text is not None:
            del self._used[name]
            self._size -= len(text)
