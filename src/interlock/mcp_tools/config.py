"""The configuration of MCP servers: the project's `.mcp.json`, and rights that only the user's settings give."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from interlock.errors import Misconfigured

MOST_SERVERS = 50
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KNOWN = {"type", "transport", "command", "args", "env", "url", "headers", "description", "disabled"}


class ServerConfig(Struct, frozen=True):
    """An MCP server: a command, or an address. The rights come from the user's settings alone."""

    name: str
    source: Literal["user", "project"]
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    network: bool = False  # of a command
    write: bool = False  # it may change files of the folder that it works in
    readable: tuple[str, ...] = ()  # further folders that it may read
    trust_annotations: bool = False  # its word that a tool only reads counts
    timeout_s: int = 60

    @property
    def kind(self) -> Literal["stdio", "http"]:
        return "http" if self.url else "stdio"

    @property
    def digest(self) -> str:
        """Names exactly what would be started or contacted; rights do not count."""
        exact = (self.name, self.command, self.args, self.env, self.url, self.headers)
        return sha256(msgspec.json.encode(exact)).hexdigest()

    @property
    def shown(self) -> str:
        return self.url or " ".join((self.command, *self.args))


def read_project_servers(content: bytes, place: str) -> tuple[ServerConfig, ...]:
    """The servers of a `.mcp.json`. Raises Misconfigured with a sentence that names the place."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Misconfigured(f"{place} is not JSON: {error}") from None
    servers: Any = cast("dict[str, Any]", data).get("mcpServers", {}) if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise Misconfigured(f"{place} needs an object 'mcpServers'")
    named = cast("dict[str, Any]", servers)
    if len(named) > MOST_SERVERS:
        raise Misconfigured(f"{place} has more than {MOST_SERVERS} servers")
    made = [_server(name, entry, f"{place}: the server {name!r}") for name, entry in named.items()]
    return tuple(server for server in made if server is not None)


def _server(name: str, entry: Any, place: str) -> ServerConfig | None:
    check_name(name, place)
    if not isinstance(entry, dict):
        raise Misconfigured(f"{place} is not an object")
    fields = cast("dict[str, Any]", entry)
    if unknown := sorted(set(fields) - _KNOWN):
        raise Misconfigured(f"{place} has the unknown key {unknown[0]!r}; known are {', '.join(sorted(_KNOWN))}")
    if fields.get("disabled") is True:
        return None
    if (fields.get("type") or fields.get("transport")) == "sse":
        raise Misconfigured(f"{place} uses the old transport 'sse'; stdio and streamable HTTP are supported")
    command, url = _text(fields, "command", place), _text(fields, "url", place)
    if bool(command) == bool(url):
        raise Misconfigured(f"{place} needs either a 'command' or a 'url'")
    check_url(url, place)
    return ServerConfig(
        name,
        "project",
        command,
        _texts(fields.get("args", []), f"{place}, 'args'"),
        _pairs(fields.get("env", {}), f"{place}, 'env'"),
        url,
        _pairs(fields.get("headers", {}), f"{place}, 'headers'"),
    )


def check_name(name: str, place: str) -> None:
    if not _NAME.fullmatch(name) or "__" in name:
        raise Misconfigured(
            f"{place}: a name has at most 40 of a-z A-Z 0-9 _ -, begins with a letter or digit, and has no '__'"
        )


def check_url(url: str, place: str) -> None:
    if url and not re.fullmatch(r"https?://[^\s/$]\S*", url):
        raise Misconfigured(f"{place}: the address must begin with http:// or https://")


def expanded(text: str, env: Mapping[str, str], place: str) -> str:
    """The text with `${NAME}` and `${NAME:-default}` replaced by variables of the user's environment."""

    def value(match: re.Match[str]) -> str:
        groups: tuple[str, str | None] = match[1], match[2]
        found = env.get(groups[0], groups[1])
        if found is None:
            raise Misconfigured(f"{place} uses the variable {match[1]}, which is not set")
        return found

    return _VARIABLE.sub(value, text)


def _text(fields: dict[str, Any], key: str, place: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise Misconfigured(f"{place}: {key!r} is not a text")
    return value


def _texts(value: Any, place: str) -> tuple[str, ...]:
    items = cast("list[Any]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise Misconfigured(f"{place} is not a list of texts")
    return tuple(items)


def _pairs(value: Any, place: str) -> tuple[tuple[str, str], ...]:
    pairs = cast("dict[str, Any]", value) if isinstance(value, dict) else None
    if pairs is None or not all(isinstance(item, str) for item in pairs.values()):
        raise Misconfigured(f"{place} is not an object of texts")
    return tuple(pairs.items())
