"""Tools that read a file: the exact text, in pieces if it is long."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Root
from interlock.views.display import counted

MOST_CHARACTERS = 40_000
_ROOM = MOST_CHARACTERS - 500  # characters reserved for notes

_Path = Annotated[str, Meta(description="Path of the file, relative to the worktree.")]
_Line = Annotated[int, Meta(ge=1)]


class ReadFile(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path


class GetFileSlice(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    start_line: Annotated[_Line, Meta(description="First line, counted from 1.")]
    end_line: Annotated[_Line, Meta(description="Last line, included.")]


def read_file(root: Root, args: ReadFile) -> str:
    content, text = _text_of(root, args.path)
    if not text.text:
        return f"[{content.path} is empty]"
    return _piece(content, text, 1, None)


def get_file_slice(root: Root, args: GetFileSlice) -> str:
    if args.end_line < args.start_line:
        raise ToolFailure(f"end_line {args.end_line} is before start_line {args.start_line}.")
    content, text = _text_of(root, args.path)
    return _piece(content, text, args.start_line, args.end_line)


def _text_of(root: Root, path: str) -> tuple[files.Content, texts.Text]:
    content = files.read(root, path)
    text = texts.decode(content.data, cut=content.size > len(content.data))
    if text is None:
        raise ToolFailure(f"{content.path} is a binary file of {content.size:,} bytes; it is not shown as text.")
    return content, text


def whole_text(root: Root, path: str) -> tuple[files.Content, texts.Text]:
    """For tools that need the whole file."""
    content, text = _text_of(root, path)
    if content.size > len(content.data):
        raise ToolFailure(f"{content.path} has {content.size:,} bytes; files over {files.MOST_BYTES:,} are not parsed.")
    return content, text


def _piece(content: files.Content, text: texts.Text, first: int, last: int | None) -> str:
    whole = text.text
    total = whole.count("\n") + (not whole.endswith("\n") and whole != "")
    if first > total:
        raise ToolFailure(f"{content.path} has only {counted(total, 'line')}{_truncation_note(content)}.")
    start = _start_of_line(whole, 0, first - 1)
    end = len(whole) if last is None or last >= total else _start_of_line(whole, start, last - first + 1)
    notes = [] if text.is_plain else [f"[{text.name} text]\n"]
    if end - start <= _ROOM and not (last is None and content.size > len(content.data)):
        after = [] if last is None or last <= total else [_note(whole, end, f"the file ends at line {total:,}")]
        return "".join((*notes, whole[start:end], *after))
    end = min(end, start + _ROOM)
    at_line_end = whole.rfind("\n", start, end) + 1
    cut = at_line_end or end
    shown_to = first + whole.count("\n", start, cut) - (1 if at_line_end else 0)
    note = f"cut here: lines {first:,}–{shown_to:,} of {total:,}{_truncation_note(content)}; "
    if at_line_end:
        note += f"read on with get_file_slice from line {shown_to + 1:,}"
    else:
        note += f"line {shown_to:,} is longer than can be shown"
    return "".join((*notes, whole[start:cut], _note(whole, cut, note)))


def _truncation_note(content: files.Content) -> str:
    if content.size <= len(content.data):
        return ""
    return f" in its first {len(content.data):,} of {content.size:,} bytes, which are all that these tools read"


def _note(whole: str, end: int, note: str) -> str:
    """The note on its own line."""
    return f"[… {note}]" if whole[end - 1 : end] in ("\n", "") else f"\n[… {note}]"


def _start_of_line(text: str, at: int, lines: int) -> int:
    """The start of the line that is this many lines after the one at `at`."""
    for _ in range(lines):
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        at = newline + 1
    return at
