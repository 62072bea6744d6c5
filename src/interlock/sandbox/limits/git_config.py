"""git's configuration as a command may see it: enough for git to work, without addresses, keys and helpers.

The address of a remote often holds a token, and so do extra headers; neither is needed to look at history.
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


def harmless(config: bytes) -> bytes:
    """Only the sections that hold no addresses. What cannot be understood is left out."""
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
    """For where no copy can be shown. A name before the host may be one, except for ssh, where it is an account."""
    return _SECRET.search(config) is not None


def configs_in(folder: str) -> list[str]:
    """Where a repository is this folder, or is in it as `.git`: its configuration, its worktrees', its submodules'."""
    return [
        path for place in (folder, os.path.join(folder, ".git")) if _is_repository(place) for path in _configs(place)
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
    """(path, what to show instead of it) of each configuration in these, and those beyond the most that are copied."""
    found = list(dict.fromkeys(path for folder in folders for path in configs_in(folder)))
    return [(path, harmless(read(path))) for path in found[:_MOST]], found[_MOST:]


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


def _is_repository(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects"))
