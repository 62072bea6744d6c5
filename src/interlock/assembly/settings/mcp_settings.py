"""The settings of MCP servers: `[mcp]` and `[mcp.servers.NAME]`."""

from typing import Annotated

import msgspec
from msgspec import Meta

Texts = tuple[str, ...]


class McpServerSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server of the user's own; without command and url, the rights of the project's server of this name."""

    command: Annotated[str, Meta(description="The program that speaks MCP on its standard input and output")] = ""
    args: Annotated[Texts, Meta(description="Its arguments")] = ()
    env: Annotated[
        dict[str, str],
        Meta(
            description="Its variables, beside PATH, HOME and LANG; `${NAME}` is a variable of yours",
            extra={"allowed": 'a table of texts such as { LANG = "C" }'},
        ),
    ] = {}
    url: Annotated[
        str,
        Meta(
            pattern=r"^(https?://\S+)?$",
            description="The address of a server that speaks streamable HTTP, instead of a command",
            extra={"allowed": "an address that begins with http:// or https://"},
        ),
    ] = ""
    headers: Annotated[
        dict[str, str],
        Meta(
            description="Headers of each request to the address; `${NAME}` is a variable of yours",
            extra={"allowed": 'a table of texts such as { Authorization = "Bearer ${TOKEN}" }'},
        ),
    ] = {}
    network: Annotated[bool, Meta(description="The command has network access")] = False
    write: Annotated[bool, Meta(description="The command may change files of the project or worktree")] = False
    readable: Annotated[Texts, Meta(description="Further folders that the command may read")] = ()
    trust_annotations: Annotated[
        bool, Meta(description="Tools that the server calls read-only run without an approval")
    ] = False
    timeout_s: Annotated[int, Meta(ge=1, le=3600, description="Seconds of one call")] = 60


class McpSettings(msgspec.Struct, frozen=True):
    tool_budget: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Tokens of the tools of MCP servers in a request; beyond it one search tool is offered",
        ),
    ] = 4000
    servers: Annotated[
        dict[str, McpServerSettings],
        Meta(
            description="MCP servers of yours, and rights of the project's; only in the user's file",
            extra={
                "allowed": "tables such as [mcp.servers.time] with command, args, env, url, headers, network, write,"
                " readable, trust_annotations, timeout_s"
            },
        ),
    ] = {}
