"""Locations on disk: the project around a folder, the user's configuration, Interlock's own state."""

import os
from pathlib import Path

from interlock.assembly.settings.load import user_settings_file
from interlock.errors import Misconfigured
from interlock.identity.careful import read_plain
from interlock.identity.standing import FOLDER, user_state_folder


def current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise Misconfigured(f"the current folder cannot be used: {error.strerror}; use another, or -C") from error


def root_of(named: str | None) -> Path:
    """The named project folder, or the project around the current folder."""
    if named is None:
        return find_root(current_folder())
    if not Path(named).is_dir():
        raise Misconfigured(f"{named} is not a folder")
    return Path(named).resolve()


def find_root(start: Path) -> Path:
    """The nearest parent folder that is a project, else the nearest git repository, else `start`."""
    candidates = (start, *start.parents)
    for mark in (FOLDER, ".git"):
        for folder in candidates:
            if os.path.lexists(folder / mark) and folder != Path(folder.anchor):
                return folder
    return start


def user_settings() -> Path:
    return user_settings_file(os.environ, Path.home())


def user_folder() -> Path:
    """The user's configuration: settings, and `prompts/`, `gates/`, `frameworks/`, `styles/`."""
    return user_settings().parent


def state_folder() -> Path:
    return user_state_folder()


MCP_FILE = ".mcp.json"
_MOST_SERVERS = 1_000_000


def mcp_servers_content(root: Path) -> bytes | None:
    """The project's MCP servers; None without a plain file of that name."""
    try:
        return read_plain(root / MCP_FILE, _MOST_SERVERS)
    except OSError:
        return None
