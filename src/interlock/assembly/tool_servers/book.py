"""Which MCP servers may be used in a project: configured, trusted by content, with tools that the user has accepted."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.assembly.locations import MCP_FILE, mcp_servers_content
from interlock.assembly.project import (
    Project,
    TrustItem,
    is_trusted,
    project_key,
)
from interlock.assembly.settings.mcp_settings import McpServerSettings
from interlock.errors import Misconfigured
from interlock.identity.careful import read_plain
from interlock.mcp_tools.accepted import AcceptedServer, AcceptedTool
from interlock.mcp_tools.config import ServerConfig, check_name, check_url, expanded, read_project_servers
from interlock.ports.processes import Job
from interlock.ports.tools import ToolPlace

_MOST_STORED = 50_000_000
_BASE = ("PATH", "HOME", "LANG", "TMPDIR")
"""Variables that every server gets; the rest is named in its configuration."""


class Listed(Struct, frozen=True):
    """A configured server. `trusted`: it may be started; `accepted`: its tools, if they were accepted."""

    server: ServerConfig
    trusted: bool
    accepted: tuple[AcceptedTool, ...] | None


class ProjectServers:
    """Implements `ServerBook`. `env` is the environment of commands, `environ` the user's own."""

    def __init__(self, project: Project, env: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> None:
        self._project = project
        self._env = env
        self._environ = environ

    def listed(self) -> tuple[Listed, ...]:
        """All configured servers. Raises Misconfigured for a wrong configuration."""
        content = mcp_servers_content(self._project.root)
        trusted = content is not None and is_trusted(self._project, TrustItem(MCP_FILE, content))
        place = str(self._project.root / MCP_FILE)
        of_project = {one.name: one for one in read_project_servers(content, place)} if content is not None else {}
        stored = self._stored()
        found: dict[str, tuple[ServerConfig, bool]] = {name: (one, trusted) for name, one in of_project.items()}
        for name, settings in self._project.settings.mcp.servers.items():
            if (server := _of_user(name, settings, of_project.get(name))) is not None:
                found[name] = server, server.source == "user" or trusted
        return tuple(
            Listed(server, known, _accepted(stored.get(name), server)) for name, (server, known) in found.items()
        )

    def named(self, name: str) -> Listed:
        servers = {one.server.name: one for one in self.listed()}
        if name not in servers:
            known = f"known are {', '.join(servers)}" if servers else f"write it into {MCP_FILE} or your settings"
            raise Misconfigured(f"there is no MCP server {name!r}; {known}")
        return servers[name]

    def servers(self) -> tuple[tuple[ServerConfig, tuple[AcceptedTool, ...]], ...]:
        """Fails closed: with a wrong configuration no server is used."""
        try:
            return tuple((one.server, one.accepted) for one in self.listed() if one.trusted and one.accepted)
        except Misconfigured:
            return ()

    def accept(self, server: ServerConfig, tools: tuple[AcceptedTool, ...]) -> None:
        """Stores exactly these tools as seen and accepted, outside of the project."""
        stored = {**self._stored(), server.name: AcceptedServer(server.digest, tools)}
        path = self._path
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(msgspec.json.encode(stored))
            part.rename(path)
        except OSError as error:
            raise Misconfigured(f"cannot write {path}: {error.strerror}") from error

    def job(self, server: ServerConfig, place: ToolPlace) -> Job:
        about = f"the MCP server {server.name}"
        env = {name: self._env[name] for name in _BASE if name in self._env}
        env |= {name: expanded(value, self._environ, about) for name, value in server.env}
        command = expanded(server.command, self._environ, about)
        path = command if "/" in command else shutil.which(command, path=env.get("PATH", os.defpath))
        if path is None or not os.path.isabs(path):
            raise Misconfigured(f"{about}: the program {command!r} is not in PATH; give an absolute path")
        for folder in server.readable:
            if not os.path.isabs(folder) or not os.path.exists(folder):
                raise Misconfigured(f"{about}: there is no folder {folder!r} to read; give an absolute path")
        writable = (place.root,) if server.write else ()
        readable = (*place.read_only(), *map(os.path.normpath, server.readable))
        return Job(
            argv=(path, *(expanded(arg, self._environ, about) for arg in server.args)),
            cwd=place.root,
            env=env,
            writable=writable,
            readable=readable if server.write else (place.root, *readable),
            programs=(path,),
            network=server.network,
        )

    def address(self, server: ServerConfig) -> tuple[str, Mapping[str, str]]:
        about = f"the MCP server {server.name}"
        url = expanded(server.url, self._environ, about)
        check_url(url, about)
        return url, {name: expanded(value, self._environ, about) for name, value in server.headers}

    @property
    def _path(self) -> Path:
        return self._project.state_dir / "mcp_tools" / f"{project_key(self._project)}.json"

    def _stored(self) -> dict[str, AcceptedServer]:
        try:
            return msgspec.json.decode(read_plain(self._path, _MOST_STORED), type=dict[str, AcceptedServer])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            raise Misconfigured(f"{self._path} cannot be read: {error}; remove it to accept tools anew") from error


def _accepted(stored: AcceptedServer | None, server: ServerConfig) -> tuple[AcceptedTool, ...] | None:
    return stored.tools if stored is not None and stored.config == server.digest else None


def _of_user(name: str, settings: McpServerSettings, of_project: ServerConfig | None) -> ServerConfig | None:
    """The user's server; or the project's, with the rights that the user gives it."""
    place = f"[mcp.servers.{name}]"
    check_name(name, place)
    rights = {
        "network": settings.network,
        "write": settings.write,
        "readable": settings.readable,
        "trust_annotations": settings.trust_annotations,
        "timeout_s": settings.timeout_s,
    }
    if settings.command and settings.url:
        raise Misconfigured(f"{place} has a command and a url; a server has one of them")
    if settings.command or settings.url:
        own = ServerConfig(
            name,
            "user",
            settings.command,
            settings.args,
            tuple(settings.env.items()),
            settings.url,
            tuple(settings.headers.items()),
        )
        return replace(own, **rights)
    return None if of_project is None else replace(of_project, **rights)
