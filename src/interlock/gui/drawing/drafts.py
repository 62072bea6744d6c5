"""The text of an input while edits travel between the window and the desk."""


class Draft:
    """`text` is shown; `seen` is the desk's last value; `sent` are edits that the desk has not confirmed yet."""

    __slots__ = ("seen", "sent", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.seen = text
        self.sent: list[str] = []

    def sync(self, value: str) -> bool:
        """Take the desk's value; True if another client changed it, so that the input must reload its text."""
        if value == self.seen:
            return False
        self.seen = value
        if value in self.sent:  # confirmation of an edit made here
            del self.sent[: self.sent.index(value) + 1]
            return False
        self.sent.clear()
        changed = self.text != value
        self.text = value
        return changed
