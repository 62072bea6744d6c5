"""The port to models: messages, requests, replies, and the protocol of a provider."""

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from interlock.domain.values.budgets import Micros, Usage
from interlock.ports.tools import ToolSpec


class ToolCall(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    args: dict[str, Any]
    unread: str = ""  # the raw arguments, if they are not a JSON object


class ShownFile(Struct, frozen=True, omit_defaults=True):
    """A file version that a session has seen: its content hash, empty if there was no file."""

    path: str
    sha256: str
    kept: bool = True  # its content is stored as a blob, for a later diff


class Picture(Struct, frozen=True):
    """An image of a message. Its bytes are a blob under their hash."""

    media_type: str
    sha256: str


class Message(Struct, frozen=True, omit_defaults=True):
    """One message of a session. A tool result names its call."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    updates: str = ""  # changes of shown files after a round; sent only while it is new
    seen: tuple[ShownFile, ...] = ()  # never sent
    session: str = ""  # of an assistant message: the provider's own session to continue
    reasoning: str = ""  # of an assistant message: its reasoning; shown, never sent
    images: tuple[Picture, ...] = ()


class ModelRequest(Struct, frozen=True):
    tier: str
    ticket: str | None
    model: str | None
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    context: str = ""  # sent after `system`; changes less often than the messages
    withdrawn: tuple[ToolSpec, ...] = ()  # offered before, not callable now; some vendors need them listed
    pictures: dict[str, bytes] = {}  # image bytes by hash

    @property
    def system_text(self) -> str:
        """System prompt and context as one text."""
        return "\n\n".join(part for part in (self.system, self.context) if part.strip())


Stop = Literal["end", "tools", "length", "refusal", "other"]
"""Why an answer ended. After "length" its tool calls are incomplete and `unread`."""


class Reply(Struct, frozen=True):
    message: Message
    usage: Usage
    model: str
    stop: Stop = "end"


OnText = Callable[[str], None]
"""Receives the pieces of an answer as they arrive, for display only."""


def ignore_text(piece: str) -> None:
    pass


def model_name(model: "Model") -> str:
    """The model name for requests without one: the model's default, else its provider's name."""
    return getattr(model, "usual", "") or model.name


class Model(Protocol):
    """A provider. Raises Unavailable for temporary errors, Misconfigured for permanent ones."""

    @property
    def name(self) -> str: ...

    def quote(self, request: ModelRequest) -> Micros | None:
        """The most this request can cost, reserved before the call; None means unknown."""
        ...

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply: ...


@runtime_checkable
class Closing(Protocol):
    """A model that holds resources at its provider and releases them on close."""

    async def close(self) -> None: ...


@runtime_checkable
class FixingHistory(Protocol):
    """A provider with models that require every message exactly as it was sent first."""

    def fixes_history(self, model: str | None) -> bool: ...


def fixes_history(model: Model, name: str | None) -> bool:
    """Whether messages that were sent once must not change: not shortened, no block removed."""
    return isinstance(model, FixingHistory) and model.fixes_history(name)


async def close_model(model: Model) -> None:
    if isinstance(model, Closing):
        await model.close()
