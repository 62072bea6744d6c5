"""Finds changes of a worker to the files that verify its work: existing tests and files that its gates run."""

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache
from posixpath import join, normpath, relpath
from typing import Literal

from msgspec import Struct

from interlock.domain.values.gates import Gate

SHOWN = 20


class ChangedFile(Struct, frozen=True, gc=False):
    """A file that differs between two commits; `blob` is its new content's hash, empty if it is deleted."""

    how: Literal["added", "changed", "deleted"]
    path: str  # from the project's folder
    blob: str


def tampered_files(
    changes: Sequence[ChangedFile], gates: Sequence[Gate], test_paths: Sequence[str], target: str | None = None
) -> tuple[str, ...]:
    """`path@content` of each changed or deleted file that verifies the work.

    Added files are ignored: no gate could depend on them before this attempt. The ticket's own target file is ignored
    where only a gate names it.
    """
    commands = [_GateCommand(gate) for gate in gates if gate.command]
    own = normpath(target) if target else None

    def judges(path: str) -> bool:
        named = path != own and any(command.names(path) for command in commands)
        return named or any(_matches(path, pattern) for pattern in test_paths)

    return tuple(
        f"{change.path}@{change.blob[:12] or 'deleted'}"
        for change in changes
        if change.how != "added" and judges(change.path)
    )


def tampering_question(files: Sequence[str]) -> str:
    """The question for a person."""
    lines = [f"- {file}" for file in files[:SHOWN]]
    if len(files) > SHOWN:
        lines.append(f"- and {len(files) - SHOWN} more")
    return "\n".join(
        [
            "## Existing Tests Were Changed",
            "",
            "The worker has changed or deleted files that its work is verified with, and that were there before it:",
            "",
            *lines,
            "",
            "gate_action: `retry` (the changes are fine: verify with them), `skip` (go on, unverified) or `abort`.",
        ]
    )


class _GateCommand:
    """Finds file names in a gate's command; when in doubt, a file counts as named."""

    def __init__(self, gate: Gate) -> None:
        text = _UNQUOTED.sub("", gate.command)
        text = _VARIABLE.sub("", text)  # $PWD/x becomes x
        text = _SAME_FOLDER.sub("/", text)
        text = _BEGINNING.sub("", text)
        while (shorter := _UP_AGAIN.sub("", text)) != text:
            text = shorter
        self._text = text
        start = normpath(join("/", gate.cwd or ""))
        self._folders = {"/", start, *(normpath(join(start, folder)) for folder in _ENTERED.findall(text))}

    def names(self, path: str) -> bool:
        return any(self._has(relpath(f"/{path}", folder)) for folder in self._folders)

    def _has(self, name: str) -> bool:
        return name in self._text and bool(re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", self._text))


_UNQUOTED = re.compile(r"[\\'\"]")
_VARIABLE = re.compile(r"(?:\$\w+|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`)/")
_SAME_FOLDER = re.compile(r"/(?:\.?/)+")
_BEGINNING = re.compile(r"(?<![\w./-])(?:\./)+")
_UP_AGAIN = re.compile(r"(?<![\w./-])(?!\.\./)[\w.-]+/\.\./")
_ENTERED = re.compile(r"(?:\bcd|\bpushd|-C|--prefix|--cwd|--directory)[\s=]+(?:--\s+)?([^\s;&|)]+)")


def _matches(path: str, pattern: str) -> bool:
    """A pattern without a slash matches the file name alone; `**` matches any number of folders."""
    if "/" not in pattern:
        return _compiled(pattern).match(path.rpartition("/")[2]) is not None
    return _compiled(pattern).match(path) is not None


@lru_cache(256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("**/", "*").replace("/**", "/*")))
