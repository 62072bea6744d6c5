"""Tools as the user has accepted them: name, description and schema, exactly.

A model sees only these texts, never what a server says later. A server whose tools differ from them is not used.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from interlock.ports.tools import OUTSIDE, ToolSpec
from interlock.views.display import safe

MOST_TOOLS = 200
MOST_DESCRIPTION = 4_000
MOST_SCHEMA = 50_000
_LONGEST_NAME = 64  # the limit of the strictest vendor
CHARACTERS_PER_TOKEN = 4


class AcceptedTool(Struct, frozen=True, omit_defaults=True):
    """A tool as its server describes it."""

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool = False  # by the server's own word

    @property
    def digest(self) -> str:
        return sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


class AcceptedServer(Struct, frozen=True):
    """The tools of one server. `config` is the digest of its configuration: another one needs a new acceptance."""

    config: str
    tools: tuple[AcceptedTool, ...]


class Difference(Struct, frozen=True):
    """What a server offers now against what was accepted."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)

    @property
    def words(self) -> str:
        parts = (("new", self.new), ("changed", self.changed), ("gone", self.gone))
        return "; ".join(f"{word}: {', '.join(map(safe, names[:10]))}" for word, names in parts if names)


def difference(accepted: Iterable[AcceptedTool], offered: Iterable[AcceptedTool]) -> Difference:
    before = {tool.name: tool.digest for tool in accepted}
    now = {tool.name: tool.digest for tool in offered}
    return Difference(
        tuple(name for name in now if name not in before),
        tuple(name for name in now if name in before and now[name] != before[name]),
        tuple(name for name in before if name not in now),
    )


def full_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, of characters and a length that every vendor takes."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool) or "tool"
    name = f"{OUTSIDE}{server}__{plain}"
    if len(name) <= _LONGEST_NAME and plain == tool:
        return name
    return f"{name[: _LONGEST_NAME - 9]}_{sha256(tool.encode()).hexdigest()[:8]}"


def specs(server: str, tools: Sequence[AcceptedTool], *, trust_annotations: bool) -> dict[str, tuple[str, ToolSpec]]:
    """By full name: the server's own name of the tool, and the tool as a model sees it."""
    made: dict[str, tuple[str, ToolSpec]] = {}
    for tool in tools:
        about = f"[MCP server {server}] {safe(tool.description)}"
        changes = not (tool.read_only and trust_annotations)
        name = full_name(server, tool.name)
        made.setdefault(name, (tool.name, ToolSpec(name, about, tool.schema, changes, outside=changes)))
    return made


def tokens(offered: Iterable[ToolSpec]) -> int:
    """An estimate of the tokens of these tools in a request."""
    texts = (spec.name + spec.description + msgspec.json.encode(spec.schema).decode() for spec in offered)
    return sum(len(text) for text in texts) // CHARACTERS_PER_TOKEN
