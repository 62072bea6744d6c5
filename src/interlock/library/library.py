"""Prompts, gates, frameworks and styles as files: `<kind>/<name>.md` of the project, else of the user.

Each use reads the file again, so a change takes effect immediately.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from msgspec import Struct

from interlock.domain.reading.field_readers import FieldError, one_of, seconds, text, whole_number
from interlock.domain.reading.gate_clause import MOST_ATTEMPTS, Criteria
from interlock.domain.values.gates import PRESETS, Gate
from interlock.errors import Misconfigured, Rejected
from interlock.library.front_matter import Parts, Read, read_parts

MOST = 100_000  # bytes of a file
ARGS = "{{args}}"

Kind = Literal["prompts", "gates", "frameworks", "styles"]


Trusts = Callable[[str, bytes], bool]
"""From a path in the project and its content: whether the user trusts exactly this content."""


class Entry(Struct, frozen=True):
    """A prompt, a framework or a style."""

    name: str
    text: str
    title: str
    description: str
    file: Path


class GateEntry(Struct, frozen=True):
    """A gate. `by_user`: it is the user's own, not a part of the project."""

    name: str
    gate: Gate | Criteria
    title: str
    description: str
    file: Path
    by_user: bool


class Library:
    def __init__(self, project: Path | None, user: Path, trusts: Trusts | None = None) -> None:
        """The folders that hold `prompts/`, `gates/` …; the project's files come first, if `trusts` accepts them."""
        self._trusts = trusts
        self._folders = ([] if project is None else [(project, False)]) + [(user, True)]

    def has(self, kind: Kind, name: str) -> bool:
        return any((folder / kind / f"{name}.md").is_file() for folder, _ in self._folders)

    def prompt(self, name: str) -> Entry:
        return self._text("prompts", name)

    def prompts(self) -> tuple[Entry, ...]:
        """All prompts that can be used now; files that are wrong or not trusted are left out."""
        names = sorted({file.stem for folder, _ in self._folders for file in (folder / "prompts").glob("*.md")})
        usable: list[Entry] = []
        for name in names:
            with suppress(Misconfigured):
                usable.append(self.prompt(name))
        return tuple(usable)

    def framework(self, name: str) -> Entry:
        return self._text("frameworks", name)

    def style(self, name: str) -> Entry:
        return self._text("styles", name)

    def gate(self, name: str) -> GateEntry:
        file, by_user, parts = self._read("gates", name, _GATE)
        return GateEntry(name, _gate(name, file, parts), *_titles(name, parts.values), file, by_user)

    def _text(self, kind: Kind, name: str) -> Entry:
        file, _, parts = self._read(kind, name, _TITLES)
        if not parts.body:
            raise Misconfigured(f"{file}: the file has no text")
        return Entry(name, parts.body, *_titles(name, parts.values), file)

    def _read(self, kind: Kind, name: str, fields: Mapping[str, Read]) -> tuple[Path, bool, Parts]:
        for folder, by_user in self._folders:
            file = folder / kind / f"{name}.md"
            content = _content(file, follow=by_user)
            if content is not None:
                if not by_user and self._trusts is not None and not self._trusts(f"{kind}/{name}.md", content):
                    raise Misconfigured(
                        f"{file} is a file of the project, and you do not trust its current content:"
                        " read it, then run 'interlock trust'"
                    )
                return file, by_user, read_parts(_decoded(file, content), str(file), fields)
        known = sorted({file.stem for folder, _ in self._folders for file in (folder / kind).glob("*.md")})
        near = get_close_matches(name, known, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise Rejected(f"there is no {kind[:-1]} {name!r}{hint} (make {self._folders[0][0] / kind / name}.md)")


def project_files(project: Path) -> Iterator[tuple[str, bytes]]:
    """Every prompt, gate, framework and style of a project with its content; unusable files are left out."""
    for kind in ("prompts", "gates", "frameworks", "styles"):
        for file in sorted((project / kind).glob("*.md")):
            try:
                content = _content(file, follow=False)
            except Misconfigured:
                continue
            if content is not None:
                yield f"{kind}/{file.name}", content


def with_args(prompt: Entry, words: str) -> str:
    """The prompt's text with the words in place of `{{args}}`, or appended if it has no such place."""
    if ARGS in prompt.text:
        return prompt.text.replace(ARGS, words)
    return f"{prompt.text}\n\n{words}".strip()


def _gate(name: str, file: Path, parts: Parts) -> Gate | Criteria:
    values, lines = parts.values, parts.lines
    if "command" in values:
        if "criteria" in values:
            raise Misconfigured(f"{file}:{lines['criteria']}: a gate has a 'command' or 'criteria', not both")
        return Gate(**{key: values[key] for key in ("command", *_LIMITS) if key in values})  # pyright: ignore[reportArgumentType]
    for key in _LIMITS:
        if key in values:
            raise Misconfigured(f"{file}:{lines[key]}: {key!r} is for gates with a 'command'")
    criteria = str(values.get("criteria", "")) or parts.body
    if not criteria:
        raise Misconfigured(f"{file}: a gate needs a 'command', or 'criteria', or criteria as its text")
    return Criteria(criteria, name)


def _titles(name: str, values: Mapping[str, object]) -> tuple[str, str]:
    return str(values.get("title", name)), str(values.get("description", ""))


def _content(file: Path, *, follow: bool) -> bytes | None:
    """The file's content; None if it does not exist. In a project, links are not followed: they may lead anywhere."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(file, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Misconfigured(f"{file} is not a regular file")
        with open(descriptor, "rb", closefd=False) as opened:
            content = opened.read(MOST + 1)
    finally:
        os.close(descriptor)
    if len(content) > MOST:
        raise Misconfigured(f"{file} is longer than {MOST:,} bytes")
    return content


def _decoded(file: Path, content: bytes) -> str:
    try:
        text, bad = content.decode(), content.find(b"\0")
    except UnicodeDecodeError as error:
        text, bad = "", error.start
    if bad >= 0:
        raise Misconfigured(f"{file}:{content[:bad].count(10) + 1}: not UTF-8 text")
    return text


# ── the keys of the front matter ─────────────────────────────────────────────────────────


def _as(read: Read) -> Read:
    def convert(value: str) -> object:
        try:
            return read(value)
        except FieldError as wrong:
            raise ValueError(wrong) from None

    return convert


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def _number(value: str) -> object:
    try:
        return int(value) if value.isascii() and value.isdigit() else float(value)
    except ValueError:
        return value  # the caller reports that it is no number


_LIMITS: dict[str, Read] = {
    "preset": _as(one_of(tuple(PRESETS))),
    "max_attempts": _as(lambda value: whole_number(1, MOST_ATTEMPTS)(_number(value))),
    "timeout_s": _as(lambda value: seconds(_number(value))),
    "judges": lambda value: tuple(value.split()),
    "loop": _as(lambda value: one_of(("true", "false"))(value) == "true"),
    "flaky": _as(lambda value: one_of(("true", "false"))(value) == "true"),
}
_TITLES: dict[str, Read] = {"title": _as(text), "description": _as(text)}
_GATE: dict[str, Read] = {**_TITLES, "command": _filled, "criteria": _filled, **_LIMITS}
