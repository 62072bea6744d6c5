"""The seam to a model: what a session says to it, what it answers, and the role that a provider plays."""

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from interlock.domain.values.budgets import Micros, Usage
from interlock.ports.tools import ToolSpec


class ToolCall(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    args: dict[str, Any]
    unread: str = ""  # the arguments as they came, where they are no JSON object


class ShownFile(Struct, frozen=True, omit_defaults=True):
    """A file as a session was last shown it: named by its content, empty where there was none."""

    path: str
    sha256: str
    kept: bool = True  # beside the journal, to be compared with


class Picture(Struct, frozen=True):
    """An image that a message shows. Its bytes are kept beside the journal, named by their content."""

    media_type: str
    sha256: str


class Message(Struct, frozen=True, omit_defaults=True):
    """One message of a session. A tool's answer names its call."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    updates: str = ""  # what is told after a round about files that have changed; only as long as it is new
    seen: tuple[ShownFile, ...] = ()  # never sent
    session: str = ""  # of an assistant's: where its provider goes on from; means nothing to any other
    reasoning: str = ""  # of an assistant's: what it thought aloud; shown, never sent
    images: tuple[Picture, ...] = ()


class ModelRequest(Struct, frozen=True):
    tier: str
    ticket: str | None
    model: str | None
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    context: str = ""  # what the session is about: stays the same longer than the messages, goes after `system`
    withdrawn: tuple[ToolSpec, ...] = ()  # offered before, not to be called now: some vendors must be told of them
    pictures: dict[str, bytes] = {}  # what the messages' images show, by their names

    @property
    def told(self) -> str:
        """System prompt and context, for whom they are one text."""
        return "\n\n".join(part for part in (self.system, self.context) if part.strip())


Stop = Literal["end", "tools", "length", "refusal", "other"]
"""Why an answer ended. One that ended at the limit of its length calls no tools: its calls are `unread`."""


class Reply(Struct, frozen=True):
    message: Message
    usage: Usage
    model: str
    stop: Stop = "end"


OnText = Callable[[str], None]
"""Takes the pieces of an answer as they come; they are shown, never kept."""


def ignore_text(piece: str) -> None:
    pass


def model_name(model: "Model") -> str:
    """Under which name a model is asked where a request has none; its provider's where it has no other."""
    return getattr(model, "usual", "") or model.name


class Model(Protocol):
    """A provider. Raises Unavailable for what may pass, Misconfigured for what will not."""

    @property
    def name(self) -> str: ...

    def quote(self, request: ModelRequest) -> Micros | None:
        """The most this request can cost, set aside before it is made; None: nobody knows."""
        ...

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply: ...


@runtime_checkable
class Closing(Protocol):
    """A model that leaves something behind at its provider's, and takes it away when nobody asks any more."""

    async def close(self) -> None: ...


async def close_model(model: Model) -> None:
    if isinstance(model, Closing):
        await model.close()
