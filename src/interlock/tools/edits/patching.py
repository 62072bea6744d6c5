"""`apply_patch`: applies a unified diff to one or more files, all or nothing."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.tools.edits.editing import Edit, changed, existing
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Parts, Root

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOWHERE = "/dev/null"
_MOST_FILES = 200
_MOST_NAMED = 20
_NOT_DONE = {
    "rename from ": "it renames a file: write the new one and delete the old one",
    "copy from ": "it copies a file: write the new one",
    "GIT binary patch": "it holds a binary file",
    "Binary files ": "it holds a binary file",
    "new mode ": "it changes a file's permissions",
}


class ApplyPatch(Struct, forbid_unknown_fields=True, frozen=True):
    patch: Annotated[
        str,
        Meta(
            description="A unified diff of one or more files: --- a/path, +++ b/path, @@ -1,3 +1,4 @@, lines with "
            "' ', '-' or '+'. /dev/null stands for a file that is not there before or after."
        ),
    ]


class _PatchHunk(Struct, frozen=True):
    number: int
    start: int  # line in the old file, from 1
    lines: tuple[tuple[str, str], ...]  # each mark (' ', '-' or '+') and its line without the line break
    bare: bool  # the last new line has no line break

    @property
    def old(self) -> list[str]:
        return [line for mark, line in self.lines if mark != "+"]

    @property
    def expected(self) -> int:
        return self.start - 1 if any(mark != "+" for mark, _ in self.lines) else self.start


class _File(Struct, frozen=True):
    old: str | None
    new: str | None
    hunks: tuple[_PatchHunk, ...]


def apply_patch(root: Root, args: ApplyPatch) -> tuple[Edit, ...]:
    edits: dict[Parts, Edit] = {}
    for file in _files(args.patch.replace("\r\n", "\n").removesuffix("\n").split("\n")):
        edit = _edit(root, file)
        if edit.parts in edits:
            raise ToolFailure(f"The patch names {edit.path} twice; give all its hunks under one heading.")
        edits[edit.parts] = edit
    return tuple(edits.values())


def _edit(root: Root, file: _File) -> Edit:
    if file.old is None:
        assert file.new is not None
        if files.read_if_exists(root, file.new) is not None:
            raise ToolFailure(f"The patch makes {file.new!r}, which is there already.")
        return changed(root.plain(file.new), None, _patched(file.new, "", file.hunks))
    if file.new is not None and file.new != file.old:
        raise ToolFailure(f"The patch renames {file.old!r} to {file.new!r}: write the new one and delete the old one.")
    content, was = existing(root, file.old)
    text = _patched(content.path, was.text, file.hunks)
    if file.new is not None:
        return changed(content.parts, was, text)
    if text:
        raise ToolFailure(f"The patch deletes {content.path}, but some of its lines are not in the patch.")
    return Edit(content.parts, was, "", gone=True)


# ── applying ────────────────────────────────────────────────────────────────────────────


def _patched(path: str, text: str, hunks: Sequence[_PatchHunk]) -> str:
    lines = texts.lines(text)
    bare = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    newline = "\r\n" if texts.has_crlf_only(text) else "\n"
    out: list[str] = []
    done = moved = 0
    for hunk in hunks:
        at = _place(path, bare, hunk, done, moved)
        moved = at - hunk.expected
        out += lines[done:at]
        done = at
        for mark, line in hunk.lines:
            if mark == "+":
                out.append(line + newline)
            else:
                out += lines[done : done + 1] if mark == " " else []  # with its line break
                done += 1
        if done == len(lines) and hunk.bare and out:
            out[-1] = out[-1].removesuffix("\n").removesuffix("\r")
    out += lines[done:]
    # Only the last line may have no line break.
    return "".join(
        line if line.endswith("\n") or number == len(out) else line + newline for number, line in enumerate(out, 1)
    )


def _place(path: str, lines: Sequence[str], hunk: _PatchHunk, done: int, moved: int) -> int:
    """The position of the old lines: the one in the patch, else the only match."""
    old = hunk.old
    expected = hunk.expected + moved
    if not old:
        if lines and expected > len(lines):
            raise ToolFailure(f"Hunk {hunk.number} of {path} adds lines after line {expected}; it has {len(lines)}.")
        return max(done, min(expected, len(lines)))
    if expected >= done and lines[expected : expected + len(old)] == old:
        return expected
    every = (at for at in range(done, len(lines) - len(old) + 1) if lines[at] == old[0])
    matches = list(islice((at for at in every if lines[at : at + len(old)] == old), _MOST_NAMED))
    if len(matches) == 1:
        return matches[0]
    if matches:
        where = ", ".join(str(at + 1) for at in matches)
        raise ToolFailure(
            f"Hunk {hunk.number} of {path} fits at lines {where}, but not at line {hunk.start} as the patch states. "
            "Give more lines around it. Nothing was changed."
        )
    wrong = _first_mismatch(lines, old, expected)
    raise ToolFailure(f"Hunk {hunk.number} of {path} does not fit: {wrong} Nothing was changed.")


def _first_mismatch(lines: Sequence[str], old: Sequence[str], expected: int) -> str:
    for number, line in enumerate(old):
        at = expected + number
        present = lines[at] if 0 <= at < len(lines) else None
        if present != line:
            actual = "the file ends before" if present is None else f"the file has {present[:200]!r}"
            return f"at line {at + 1} it expects {line[:200]!r}, {actual}."
    return "its lines overlap with those of the hunk before."


# ── parsing ────────────────────────────────────────────────────────────────────────────


def _files(lines: Sequence[str]) -> Iterator[_File]:
    at = count = 0
    while at < len(lines):
        line = lines[at]
        for mark, why in _NOT_DONE.items():
            if line.startswith(mark):
                raise ToolFailure(f"This patch cannot be applied: {why}.")
        if not (line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")):
            if _HUNK.match(line):
                raise ToolFailure(f"Line {at + 1} of the patch is a hunk without --- and +++ lines before it.")
            at += 1
            continue
        old, new = _path(line[4:], "a/"), _path(lines[at + 1][4:], "b/")
        if old is None and new is None:
            raise ToolFailure(f"Line {at + 1} of the patch names no file.")
        hunks: list[_PatchHunk] = []
        at += 2
        while at < len(lines) and (head := _HUNK.match(lines[at])):
            hunk, at = _hunk(lines, at, head, len(hunks) + 1)
            hunks.append(hunk)
        if not hunks:
            raise ToolFailure(f"The patch has no hunk for {new or old!r}.")
        count += 1
        if count > _MOST_FILES:
            raise ToolFailure(f"The patch has more than {_MOST_FILES} files.")
        yield _File(old, new, tuple(hunks))
    if not count:
        raise ToolFailure("There is no file in this patch: it needs --- a/path and +++ b/path lines before each @@.")


def _path(header: str, prefix: str) -> str | None:
    name = header.split("\t", 1)[0].rstrip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        raise ToolFailure(f"Write the path {name} without quotes.")
    return None if name == _NOWHERE else name.removeprefix(prefix)


def _hunk(lines: Sequence[str], at: int, head: re.Match[str], number: int) -> tuple[_PatchHunk, int]:
    """Parses a hunk by the counts of its heading. Extra and missing lines are reported."""
    old_left, new_left = (int(head[group]) if head[group] is not None else 1 for group in (2, 4))
    marked: list[tuple[str, str]] = []
    first, bare = at + 1, False
    at += 1
    while old_left > 0 or new_left > 0:
        line = lines[at] if at < len(lines) else None
        if line is None or line[:1] not in (" ", "-", "+", ""):
            raise ToolFailure(f"The hunk at line {first} of the patch has fewer lines than its heading says.")
        mark = line[:1] or " "  # an empty context line without its blank
        marked.append((mark, line[1:]))
        bare = bare and mark == "-"  # the note about the old last line does not apply to the new one
        old_left -= mark != "+"
        new_left -= mark != "-"
        at += 1
        if at < len(lines) and lines[at].startswith("\\"):
            bare |= mark != "-"
            at += 1
    after = lines[at] if at < len(lines) else ""
    if old_left or new_left or (after[:1] in tuple(" +-") and not after.startswith("--- ") and after != "-- "):
        raise ToolFailure(f"The hunk at line {first} of the patch has other lines than its heading says.")
    return _PatchHunk(number, int(head[1]), tuple(marked), bare), at
