"""Copies of git's configuration for the sandbox: enough for git to work, without addresses, keys and helpers.

The address of a remote often contains a token, and so do extra headers. Reading history needs neither.
"""

import os
import re
from collections.abc import Iterator

_HARMLESS = {"core", "extensions", "user", "init", "index", "i18n", "status", "diff", "merge", "color", "column", "tag"}
_HEADER = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"(?:\\.|[^"\\])*")?\s*\](.*)', re.DOTALL)
_SECRET = re.compile(
    rb"(?<!ssh)://[^/\s\"]*@|extraheader|password|token|secret|authorization|apikey|api_key", re.IGNORECASE
)
_LARGEST = 1 << 20
_MOST = 40
_NAMES = ("config", "config.worktree")


def safe_config(config: bytes) -> bytes:
    """Only sections without addresses. Lines that cannot be parsed are left out."""
    kept: list[str] = []
    keep = goes_on = False
    for line in config.decode("utf-8", "surrogateescape").splitlines(keepends=True):
        if not goes_on:
            if header := _HEADER.match(line):
                keep = header[1].partition(".")[0].lower() in _HARMLESS
            elif line.lstrip().startswith(("#", ";")):
                continue
        if keep:
            kept.append(line)
        goes_on = line.rstrip("\r\n").endswith("\\")
    return "".join(kept).encode("utf-8", "surrogateescape")


def may_hold_a_secret(config: bytes) -> bool:
    """True if a configuration contains a secret, for levels that cannot show a copy. A user name in an address may be a
    token, except with ssh, where it is an account."""
    return _SECRET.search(config) is not None


def configs_in(folder: str) -> list[str]:
    """The configuration files of a repository that is this folder or its `.git`, with worktrees and submodules."""
    return [
        path for place in (folder, os.path.join(folder, ".git")) if is_repository(place) for path in _configs(place)
    ]


def _configs(folder: str) -> Iterator[str]:
    for name in _NAMES:
        if os.path.isfile(path := os.path.join(folder, name)) and not os.path.islink(path):
            yield path
    for inner in ("worktrees", "modules"):
        for place, folders, files in os.walk(os.path.join(folder, inner)):
            folders[:] = [name for name in folders if name not in ("objects", "refs", "logs", "hooks")]
            yield from (os.path.join(place, name) for name in _NAMES if name in files)


def copies(folders: list[str]) -> tuple[list[tuple[str, bytes]], list[str]]:
    """(path, replacement) for each configuration in these folders, and the paths beyond the limit of copies."""
    configs = list(dict.fromkeys(path for folder in folders for path in configs_in(folder)))
    return [(path, safe_config(read(path))) for path in configs[:_MOST]], configs[_MOST:]


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


def is_repository(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects"))
