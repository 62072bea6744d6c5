"""The port of rules from experience: what the journal suggests, and the user's own rules."""

from collections.abc import Coroutine
from typing import Any, Protocol

from interlock.views.rules.learned_rules import KeptRule, Suggestions


class LearnedRules(Protocol):
    """Reads and writes the user's rule files. Called on the engine's loop; the work is done in a thread."""

    def suggestions(self, least: int) -> Coroutine[Any, Any, Suggestions]:
        """The rules that would have answered at least so many questions."""
        ...

    def accept(self, rule: str, *, everywhere: bool, least: int) -> Coroutine[Any, Any, str]:
        """Stores a suggested rule, which must be suggested still; returns it as it is stored."""
        ...

    def kept(self) -> Coroutine[Any, Any, tuple[KeptRule, ...]]: ...

    def forget(self, name: str) -> Coroutine[Any, Any, KeptRule]:
        """Removes the rule with this name or number."""
        ...
