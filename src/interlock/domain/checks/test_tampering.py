"""Finds changes of a worker to what verifies its work: tests, files that gates run, settings of test runners."""

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from posixpath import dirname, join, normpath, relpath
from typing import Literal

from msgspec import Struct

from interlock.domain.checks.judging_files import (
    decides_differently,
    is_helper_script,
    is_runner_file,
    is_test,
    is_tracked_library,
    mixed_part,
    shadows_runner,
)
from interlock.domain.values.gates import Gate

SHOWN = 20
_MOST_READ = 40


class ChangedFile(Struct, frozen=True, gc=False):
    """A file that differs between two commits; `blob` is its new content's hash, empty if it is deleted."""

    how: Literal["added", "changed", "deleted"]
    path: str  # from the project's folder
    blob: str


class Texts(Struct, frozen=True):
    """Contents of files that decide whether a change is tampering. A missing file has no content."""

    before: Mapping[str, str] = {}  # at the attempt's base
    after: Mapping[str, str] = {}


NO_TEXTS = Texts()


def tampered_files(
    changes: Sequence[ChangedFile],
    gates: Sequence[Gate],
    test_paths: Sequence[str],
    target: str | None = None,
    texts: Texts = NO_TEXTS,
    library: Collection[str] = (),
) -> tuple[str, ...]:
    """`path@content` of each file by which the worker changed how its work is verified.

    A new test is fine. A new file counts if it configures a test runner or takes the place of one of its modules. The
    ticket's own target file is ignored where only a gate names or declares it. `library`: Python's standard modules.
    """
    commands = [_GateCommand(gate.command, gate.cwd) for gate in gates if gate.command]
    scripts = [_GateCommand(text, dirname(path)) for path, text in texts.before.items() if mixed_part(path) is None]
    own = normpath(target) if target else None
    declared = [pattern for gate in gates for pattern in gate.judges]

    def configures(change: ChangedFile) -> bool:
        path = change.path
        if (part := mixed_part(path)) is not None:
            return decides_differently(part, texts.before.get(path), texts.after.get(path))
        return is_runner_file(path)

    def judges(change: ChangedFile) -> bool:
        path = change.path
        if commands and configures(change):
            return True
        if change.how == "added":
            return bool(commands) and (shadows_runner(path, gates, library) or is_tracked_library(path))
        if is_test(path) or _fits(path, test_paths):
            return True
        if any(command.names(path) for command in commands) or _fits(path, declared):
            return path != own
        return is_helper_script(path) and any(script.names(path) for script in scripts)

    return tuple(f"{change.path}@{change.blob[:12] or 'deleted'}" for change in changes if judges(change))


def wanted_texts(changes: Sequence[ChangedFile], gates: Sequence[Gate]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths whose content `tampered_files` needs: at the base, and in the work.

    These are changed files of which a part decides, and files that a gate's command may name or that its program reads.
    """
    mixed = [change.path for change in changes if mixed_part(change.path) is not None]
    named = [path for gate in gates if gate.command for path in _GateCommand(gate.command, gate.cwd).candidates()]
    return tuple(dict.fromkeys((*mixed, *named[:_MOST_READ]))), tuple(mixed)


def tampering_question(files: Sequence[str]) -> str:
    """The question for a person."""
    lines = [f"- {file}" for file in files[:SHOWN]]
    if len(files) > SHOWN:
        lines.append(f"- and {len(files) - SHOWN} more")
    return "\n".join(
        [
            "## Existing Tests Were Changed",
            "",
            "The worker has changed how its work is verified. It changed or deleted a test or a file that a gate runs,",
            "or it changed or added a setting or a module of the test runner:",
            "",
            *lines,
            "",
            "gate_action: `retry` (the changes are fine: verify with them), `skip` (go on, unverified) or `abort`.",
        ]
    )


class _GateCommand:
    """Finds file names in a gate's command; when in doubt, a file counts as named."""

    def __init__(self, command: str, cwd: str | None) -> None:
        text = _UNQUOTED.sub("", command)
        text = _VARIABLE.sub("", text)  # $PWD/x becomes x
        text = _SAME_FOLDER.sub("/", text)
        text = _BEGINNING.sub("", text)
        while (shorter := _UP_AGAIN.sub("", text)) != text:
            text = shorter
        self._text = text
        start = normpath(join("/", cwd or ""))
        self._folders = {"/", start, *(normpath(join(start, folder)) for folder in _ENTERED.findall(text))}

    def candidates(self) -> list[str]:
        """Paths from the project's folder that the command may read: its words, and the usual files of its programs."""
        words = list(dict.fromkeys(_WORD.findall(self._text)))
        usual = [name for word in words for name in _USUAL_FILES.get(word, ())]
        paths = (normpath(join(folder, word)) for word in (*usual, *words) for folder in sorted(self._folders))
        return [path.lstrip("/") for path in dict.fromkeys(paths) if path != "/"]

    def names(self, path: str) -> bool:
        return any(self._has(relpath(f"/{path}", folder)) for folder in self._folders)

    def _has(self, name: str) -> bool:
        return name in self._text and bool(re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", self._text))


_WORD = re.compile(r"[\w./-]*\w")
_USUAL_FILES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
    "task": ("Taskfile.yml",),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "rake": ("Rakefile",),
}
_UNQUOTED = re.compile(r"[\\'\"]")
_VARIABLE = re.compile(r"(?:\$\w+|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`)/")
_SAME_FOLDER = re.compile(r"/(?:\.?/)+")
_BEGINNING = re.compile(r"(?<![\w./-])(?:\./)+")
_UP_AGAIN = re.compile(r"(?<![\w./-])(?!\.\./)[\w.-]+/\.\./")
_ENTERED = re.compile(r"(?:\bcd|\bpushd|-C|--prefix|--cwd|--directory)[\s=]+(?:--\s+)?([^\s;&|)]+)")


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return any(_matches(path, pattern) for pattern in patterns)


def _matches(path: str, pattern: str) -> bool:
    """A pattern without a slash matches the file name alone; `**` matches any number of folders."""
    if "/" not in pattern:
        return _compiled(pattern).match(path.rpartition("/")[2]) is not None
    return _compiled(pattern).match(path) is not None


@lru_cache(256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("**/", "*").replace("/**", "/*")))
