"""The common dependencies of agents: the journal they read and report to, and their tools."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from interlock.domain.messages.commands.command import Command
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ScriptPayload
from interlock.engine.blobs import KeptTexts
from interlock.ports.effects import Effects
from interlock.ports.front import Receipt
from interlock.ports.model import Message
from interlock.ports.tools import Preview, Tools, ToolSpec
from interlock.ports.work import Policy

Send = Callable[[Command], Awaitable[Receipt]]
"""Submits a report; its receipt is empty if it was not recorded."""

ScriptTerms = Callable[[Preview, str, str], ScriptPayload]
"""From the preview of a script, a directory and a call id: exactly what would run."""


class JournalAccess(Struct, frozen=True):
    """Reads the state and stored texts, and submits reports.

    `redact` removes secrets before a text is stored. `conceal` does so in texts that may run: they can be restored.
    """

    texts: KeptTexts
    send: Send
    state: Callable[[], State]
    redact: Callable[[str], str] = str
    conceal: Callable[[str], str] = str


def no_check() -> None:
    pass


class Toolbox(Struct, frozen=True):
    """An agent's tools and the rules for them. Without a policy every change is asked about.

    `check` is called right before each change; it raises InterlockError if the project does not count any more.
    """

    tools: Tools
    script_terms: ScriptTerms
    policy: Policy | None = None
    check: Callable[[], None] = no_check
    effects: Effects | None = None  # of chats: their scripts are previewed
    found: Callable[[Sequence[Message], bool], tuple[ToolSpec, ...]] = lambda messages, changing: ()
    passed: Callable[[str], None] = lambda _: None  # called with a previewed script when its changes are applied
    reveal: Callable[[dict[str, Any]], dict[str, Any]] = dict  # arguments with the secrets that the journal conceals
