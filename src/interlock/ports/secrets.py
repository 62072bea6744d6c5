"""The port to the store of secrets that are in texts which run."""

from typing import Protocol


class Vault(Protocol):
    """Replaces secrets in a text by marks, and restores exactly that text where it runs."""

    def detects(self, text: str) -> bool:
        """Whether the text contains a secret. Stores nothing."""
        ...

    def redact(self, text: str) -> str:
        """The text without its secrets. Stores nothing."""
        ...

    def conceal(self, text: str) -> str:
        """The text with a mark for each secret; the text itself if it has none. Its exact form is stored."""
        ...

    def conceal_answer(self, text: str) -> str:
        """The same for a text of a person, who may keep the marks of what was shown in an edit."""
        ...

    def reveal(self, text: str) -> str:
        """The exact text of a concealed text; other texts unchanged. Raises Rejected if it is no longer stored."""
        ...


class NoVault:
    """Stores nothing: texts stay as they are."""

    def detects(self, text: str) -> bool:
        return False

    def redact(self, text: str) -> str:
        return text

    def conceal_answer(self, text: str) -> str:
        return text

    def conceal(self, text: str) -> str:
        return text

    def reveal(self, text: str) -> str:
        return text
