"""Tool results in requests: whole in their own round, shortened later, and readable again by a handle."""

from hashlib import sha256
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from interlock.ports.model import Message
from interlock.ports.tools import ToolOutcome, ToolSpec

NEWEST, OLDER = 40_000, 8_000  # characters of a result: in its own round, and later
COMPACTED_AT = 200_000  # characters to save before a model with a fixed history gets its past shortened
REQUEST_BYTES = 500_000  # of all results since the last user message; beyond it results are cut to LEAST
LEAST = 2_000  # characters of a result that is cut, with a warning
PIECE = 39_000  # characters that one call of read_tool_output returns at most

WARNING = (
    f"[WARNING: the tool results of this request exceed {REQUEST_BYTES:,} bytes; from here on each result is cut to"
    f" {LEAST:,} characters. Read less, or finish with what you have.]"
)


class ReadToolOutput(Struct, frozen=True, forbid_unknown_fields=True):
    handle: Annotated[str, Meta(description="As a shortened result names it.")]
    start: Annotated[int, Meta(ge=0, description="The first character, counted from 0.")] = 0
    count: Annotated[int, Meta(ge=1, le=PIECE, description=f"How many characters, {PIECE:,} at most.")] = 20_000


READ_TOOL_OUTPUT = ToolSpec(
    "read_tool_output",
    "A piece of an earlier result of this conversation that was shortened.",
    {
        key: value
        for key, value in msgspec.json.schema_components([ReadToolOutput])[1]["ReadToolOutput"].items()
        if key != "title"
    },
    changes=False,
)


def with_reading(offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """The tools as they are sent, with the one that reads shortened results."""
    return (*offered, READ_TOOL_OUTPUT)


def handle_of(message: Message) -> str:
    """The beginning of the name under which the message is stored."""
    return sha256(msgspec.json.encode(message)).hexdigest()[:12]


def shortened(message: Message, most: int) -> str:
    text = message.text
    if len(text) <= most:
        return text
    return (
        f"{text[:most]}\n[… {len(text) - most:,} of {len(text):,} characters left out;"
        f' read them with read_tool_output, handle "{handle_of(message)}", start {most}]'
    )


def read_tool_output(messages: list[Message], args: dict[str, Any]) -> ToolOutcome:
    """Reads only results of this conversation."""
    try:
        wanted = msgspec.convert(args, ReadToolOutput, strict=False)
    except msgspec.ValidationError as error:
        return ToolOutcome(f"read_tool_output: {error}.", failed=True)
    for message in messages:
        if message.role == "tool" and handle_of(message) == wanted.handle:
            break
    else:
        return ToolOutcome(f"No result of this conversation has the handle {wanted.handle[:100]!r}.", failed=True)
    size, end = len(message.text), wanted.start + wanted.count
    if wanted.start >= size:
        return ToolOutcome(f"That result has only {size:,} characters.", failed=True)
    piece = message.text[wanted.start : end]
    return ToolOutcome(f"[characters {wanted.start:,} to {min(end, size):,} of {size:,}]\n{piece}")
