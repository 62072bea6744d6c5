"""Read-only git: settings under which git runs no program of a repository or a user.

They are passed in the environment, which overrides every file. Drivers (filters, text conversions, external diffs) have
arbitrary names and cannot be disabled this way: a repository with a driver is asked about.
"""

import os
import re
from functools import cache

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "core.editor": "false",
    "core.attributesFile": "/dev/null",
    "core.alternateRefsCommand": "false",
    "core.untrackedCache": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "log.showSignature": "false",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "diff.ignoreSubmodules": "all",
    "submodule.recurse": "false",
    "safe.bareRepository": "explicit",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
# Sections that start no program, or are disabled above.
_HARMLESS = frozenset(
    (
        *("core", "remote", "branch", "user", "init", "extensions", "pull", "push", "fetch", "color", "advice", "gc"),
        *("maintenance", "receive", "commit", "alias", "rebase", "status", "log", "merge", "rerere", "tag"),
        *("http", "url", "protocol", "credential", "column", "format", "i18n", "pack", "index", "author", "committer"),
    )
)
_MOST = 200_000
_SECTION = re.compile(r"^\s*\[\s*([^\s\]\"]+)", re.MULTILINE)
_SEVERAL_IN_A_LINE = re.compile(r"^\s*\[[^\n]*\][ \t\r]*\[", re.MULTILINE)
_WORKTREE = re.compile(r"^\s*(\[\s*core\s*\]\s*)?worktree\s*=", re.MULTILINE | re.IGNORECASE)


@cache
def safe_environment() -> tuple[tuple[str, str], ...]:
    settings = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    for number, (name, value) in enumerate(_SETTINGS.items()):
        settings[f"GIT_CONFIG_KEY_{number}"], settings[f"GIT_CONFIG_VALUE_{number}"] = name, value
    return tuple(sorted(settings.items()))


def objection(folder: str) -> str | None:
    """The reason why git may still run a program here; None if it cannot."""
    repository = _repository(folder)
    if repository is None:
        return None
    top, git, common = repository
    if os.path.lexists(os.path.join(top, ".gitmodules")):
        return "the repository has submodules, and their own settings would count in them"
    for file in {os.path.join(common, "config"), os.path.join(git, "config.worktree")}:
        try:
            with open(file, encoding="utf-8-sig", errors="replace") as opened:
                text = opened.read(_MOST + 1)
        except FileNotFoundError:
            continue
        except OSError:
            return "git's configuration cannot be read"
        if len(text) > _MOST:
            return "git's configuration is too long to be looked through"
        text = text.replace("\\\n", "")
        if _SEVERAL_IN_A_LINE.search(text):
            return "git's configuration has several sections in one line"
        for section in _SECTION.findall(text):
            if section.lower().split(".")[0] not in _HARMLESS:
                return f"the repository's configuration has a section [{section}], which may start programs"
        if _WORKTREE.search(text):
            return "the repository's configuration says that its files are elsewhere"
    return None


def _repository(folder: str) -> tuple[str, str, str] | None:
    """The repository that git uses from here: work tree, git folder, and common git folder."""
    here = folder
    while True:
        git = os.path.join(here, ".git")
        if os.path.isfile(git):
            git = _pointer_target(git, "gitdir:", here)
        if git and os.path.isdir(git):
            common = os.path.join(git, "commondir")
            return here, git, (_pointer_target(common, "", git) or git) if os.path.isfile(common) else git
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def _pointer_target(file: str, prefix: str, folder: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            text = opened.read(10_000)
    except OSError:
        return ""
    return (
        os.path.normpath(os.path.join(folder, text.strip().removeprefix(prefix).strip()))
        if text.startswith(prefix)
        else ""
    )
