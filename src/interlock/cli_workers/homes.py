"""The folder of an agent's ticket: a home of its own with only the agent's login, and what the agent may not write.

    home/    HOME in the sandbox: the agent's sessions and caches; gone with the ticket
    fixed/   read-only in the sandbox: the shim, its socket, the settings with the hook

Settings that the agent reads from its home are mounted read-only at their place.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.cli_workers.profile import Profile
from interlock.errors import Misconfigured, Unavailable

SHIM = "shim.py"
_MOST_LOGIN = 1_000_000  # bytes of a login file


class AgentFolder(Struct, frozen=True):
    path: Path

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def fixed(self) -> Path:
        return self.path / "fixed"

    def make(self, shim: bytes) -> None:
        try:
            for folder in (self.path, self.home, self.fixed):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(self.fixed / SHIM, shim)
        except OSError as error:
            raise Misconfigured(f"cannot make {self.path}: {error.strerror}") from error

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def write(path: Path, content: bytes) -> None:
    """Only our own user reads it: it may be a login. A link at its place is replaced, not followed."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}; make room, then retry the ticket") from error


def copy_login(profile: Profile, folder: AgentFolder, home: str) -> tuple[str, ...]:
    """Copies the login files of the user that exist; returns their names. Nothing is ever copied back."""
    copied: list[str] = []
    for name in profile.login_files:
        source = Path(home) / name
        try:
            content = source.read_bytes() if source.is_file() and source.stat().st_size <= _MOST_LOGIN else None
        except OSError:
            content = None
        if content is not None:
            write(folder.home / name, content)
            copied.append(name)
    return tuple(copied)


def hook_settings(kind: str, folder: AgentFolder, command: str, home: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Writes the settings that make the agent ask before each tool; gives its variables and the read-only files."""
    match kind:
        case "claude":
            file = folder.home / ".claude" / "settings.json"
            write(file, _json({"hooks": {"PreToolUse": [_entry(command, 86_400)]}}))
            return {"CLAUDE_CONFIG_DIR": str(file.parent)}, (str(file),)
        case "codex":
            file = folder.home / ".codex" / "hooks.json"
            write(file, _json({"hooks": {"PreToolUse": [_entry(command, 86_400)]}}))
            return {"CODEX_HOME": str(file.parent)}, (str(file),)
        case "gemini":
            file = folder.fixed / "gemini.json"
            settings: dict[str, Any] = {
                "hooks": {"BeforeTool": [_entry(command, 86_400_000)]},
                "hooksConfig": {"enabled": True},
                "security": {"auth": {"selectedType": _gemini_login(home)}, "folderTrust": {"enabled": False}},
            }
            write(file, _json(settings))
            return {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(file)}, ()
        case _:
            raise Misconfigured(f"there is no hook for the output format {kind!r}")


def _entry(command: str, timeout: int) -> dict[str, Any]:
    return {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def _gemini_login(home: str) -> str:
    """The kind of login that the user chose in Gemini CLI."""
    try:
        chosen: Any = json.loads((Path(home) / ".gemini" / "settings.json").read_bytes())
        return str(chosen["security"]["auth"]["selectedType"])
    except (OSError, ValueError, LookupError, TypeError):
        oauth = (Path(home) / ".gemini" / "oauth_creds.json").exists()
        return "oauth-personal" if oauth else "gemini-api-key"


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, indent=2).encode()
