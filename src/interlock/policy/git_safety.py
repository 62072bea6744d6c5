"""Read-only git: settings under which git runs no program of a repository or a user.

They are passed in the environment, which overrides every file. Drivers (filters, text conversions, external diffs) have
arbitrary names and cannot be disabled this way: a repository is asked about unless its configuration is plain and has
no section in which a driver could be named.
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
# Only the plainest form of a configuration is accepted. Git reads many others: continued lines, several sections in one
# line, escapes, quotes. A line that is not one of these is asked about instead of being interpreted.
_LINE = re.compile(
    r"""[ \t]*(?:
        (?:[#;][^\\]*)?
      | \[(?P<section>[A-Za-z][A-Za-z0-9-]*)(?:[ \t]+"[^"\\\]\[]*")?\]
      | (?P<key>[A-Za-z][A-Za-z0-9-]*)(?:[ \t]*=[^\\"]*)?
    )[ \t]*""",
    re.VERBOSE,
)
_QUOTED = re.compile(r'[ \t]*[A-Za-z][A-Za-z0-9-]*[ \t]*=[ \t]*"[^"\\]*"[ \t]*')
_POINTER = re.compile(r"gitdir: (\S(?:[^\r\n]*\S)?)\n?")
_COMMON = re.compile(r"(\S(?:[^\r\n]*\S)?)\n?")


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
    try:
        repository = _repository(folder)
        if repository is None:
            return None
        top, git, common = repository
        if os.path.lexists(os.path.join(top, ".gitmodules")):
            return "the repository has submodules, and their own settings would count in them"
        for file in dict.fromkeys((os.path.join(common, "config"), os.path.join(git, "config"))):
            _check_config(file)
        _check_config(os.path.join(git, "config.worktree"))
        _check_config(os.path.join(common, "config.worktree"))
    except _NotPlain as reason:
        return str(reason)
    return None


def repository_of(folder: str) -> tuple[str, str] | None:
    """The work tree and the git folder that git uses from a folder to which there is no objection."""
    try:
        repository = _repository(folder)
    except _NotPlain:
        return None
    return None if repository is None else repository[:2]


class _NotPlain(Exception):
    """The reason why it is not certain which settings git would use."""


def _check_config(file: str) -> None:
    """Raises _NotPlain unless every line is of the plainest form and every section is harmless."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(_MOST + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _NotPlain("git's configuration cannot be read") from error
    if len(content) > _MOST:
        raise _NotPlain("git's configuration is too long to be looked through")
    section = ""
    for line in content.decode(errors="replace").replace("\r\n", "\n").split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            if _QUOTED.fullmatch(line):
                continue
            raise _NotPlain("git's configuration is written in a form that is not certain to be understood")
        if match["section"]:
            section = match["section"].lower()
            if section not in _HARMLESS:
                raise _NotPlain(f"the repository's configuration has a section [{section}], which may start programs")
        if section == "core" and (match["key"] or "").lower() == "worktree":
            raise _NotPlain("the repository's configuration says that its files are elsewhere")


def _repository(folder: str) -> tuple[str, str, str] | None:
    """The repository that git uses from here: work tree, git folder, and common git folder.

    Raises _NotPlain where git might choose another one: it passes over a `.git` that it does not accept.
    """
    here = folder
    while True:
        if all(os.path.lexists(os.path.join(here, name)) for name in ("HEAD", "objects", "refs")):
            raise _NotPlain(f"{here} may itself be a repository")
        git = os.path.join(here, ".git")
        if os.path.lexists(git):
            if not os.path.isdir(git):
                git = _pointer_target(git, _POINTER, here)
            common_file = os.path.join(git, "commondir")
            common = _pointer_target(common_file, _COMMON, git) if os.path.lexists(common_file) else git
            if not all(os.path.lexists(path) for path in _parts(git, common)):
                raise _NotPlain(f"{os.path.join(here, '.git')} is not a whole repository")
            return here, git, common
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def _parts(git: str, common: str) -> tuple[str, str, str]:
    return os.path.join(git, "HEAD"), os.path.join(common, "objects"), os.path.join(common, "refs")


def _pointer_target(file: str, form: re.Pattern[str], folder: str) -> str:
    try:
        with open(file, "rb") as opened:
            text = opened.read(10_000).decode(errors="surrogateescape")
    except OSError as error:
        raise _NotPlain(f"{file} cannot be read") from error
    match = form.fullmatch(text)
    if match is None:
        raise _NotPlain(f"{file} does not name a folder plainly")
    return os.path.join(folder, match[1])
