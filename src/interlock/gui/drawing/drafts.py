"""The text of an input while edits travel between the window and the desk."""

_MOST_SENT = 200  # unconfirmed edits of one input


class Draft:
    """`text` is shown; `seen` is the desk's last value; `sent` are edits that the desk has not confirmed yet."""

    __slots__ = ("seen", "sent", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.seen: str | None = text
        self.sent: list[str] = []

    def edit(self, text: str) -> None:
        self.text = text
        self.sent.append(text)
        del self.sent[:-_MOST_SENT]

    def reload(self) -> None:
        """Show the desk's value from the next frame on: an edit made here did not become true."""
        self.seen = None
        self.sent.clear()

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
