"""Tools that change a file. Each returns the new content; the registry shows or writes it."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.tools.edits import places
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Parts, Root, shown
from interlock.views.display import counted

_MOST_COUNTED = 1_000
_MOST_REPLACED = 100_000

_Path = Annotated[str, Meta(description="Path of the file, relative to the worktree.")]


class EditFile(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    old_string: Annotated[str, Meta(description="The text to replace, exactly as it stands in the file.")]
    new_string: Annotated[str, Meta(description="What takes its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every match; otherwise there must be exactly one.")] = False


class WriteFile(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    content: Annotated[str, Meta(description="The whole text of the file.")]


class SetFileSlice(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    start_line: Annotated[int, Meta(ge=1, description="First line to replace, counted from 1.")]
    end_line: Annotated[
        int, Meta(ge=0, description="Last line to replace, included; start_line - 1 inserts before start_line.")
    ]
    content: Annotated[str, Meta(description="The lines that take their place; empty to delete them.")]


class Edit(Struct, frozen=True):
    """The old and the new content of a file. `was` is None for a new file; `gone` marks a deletion."""

    parts: Parts
    was: texts.Text | None
    text: str
    gone: bool = False

    @property
    def path(self) -> str:
        return shown(self.parts)

    @property
    def old(self) -> str:
        return self.was.text if self.was else ""

    def encoded(self, text: str) -> bytes:
        return texts.encode(text, self.was or texts.Text(""))


def edit_file(root: Root, args: EditFile) -> Edit:
    content, was = existing(root, args.path)
    if not args.old_string:
        raise ToolFailure("old_string is empty; to make or replace a whole file use write_file.")
    most = _MOST_REPLACED if args.replace_all else _MOST_COUNTED
    matches = places.find(was.text, args.old_string, overlapping=not args.replace_all, most=most)
    if not matches:
        raise ToolFailure(f"old_string is not in {content.path}.{places.nearest(was.text, args.old_string)}")
    if len(matches) > 1 and not args.replace_all:
        times = f"more than {most:,}" if len(matches) > most else f"{len(matches)}"
        raise ToolFailure(
            f"old_string is in {content.path} {times} times, at lines {places.line_numbers(was.text, matches)}. "
            "Give more of the text around the one you mean, or set replace_all."
        )
    if len(matches) > most:
        raise ToolFailure(f"old_string is in {content.path} more than {most:,} times, the most that are replaced.")
    text = places.replace(was.text, matches, args.new_string)
    if text == was.text:
        raise ToolFailure("old_string and new_string are the same, so nothing would change.")
    return changed(content.parts, was, text)


def write_file(root: Root, args: WriteFile) -> Edit:
    content = files.read_if_exists(root, args.path)
    if content is None:
        return changed(root.plain(args.path), None, args.content)
    was = _text(content)
    text = texts.with_crlf(args.content) if texts.has_crlf_only(was.text) else args.content
    if text == was.text:
        raise ToolFailure(f"{content.path} already holds exactly this text; nothing would change.")
    return changed(content.parts, was, text)


def set_file_slice(root: Root, args: SetFileSlice) -> Edit:
    content, was = existing(root, args.path)
    lines = texts.lines(was.text)
    first, last = args.start_line - 1, args.end_line
    if last < first:
        raise ToolFailure(f"end_line {args.end_line} is before start_line {args.start_line} - 1.")
    if first > len(lines) or last > len(lines):
        raise ToolFailure(f"{content.path} has only {counted(len(lines), 'line')}.")
    crlf = texts.has_crlf_only(was.text)
    piece = texts.with_crlf(args.content) if crlf else args.content
    end = "\r\n" if crlf else "\n"
    before, after = "".join(lines[:first]), "".join(lines[last:])
    if piece and before and not before.endswith("\n"):
        before += end
    # The last line may have no line break if it had none before.
    if piece and not piece.endswith("\n") and (after or was.text.endswith("\n")):
        piece += end
    text = f"{before}{piece}{after}"
    if text == was.text:
        raise ToolFailure("Those lines already have this text; nothing would change.")
    return changed(content.parts, was, text)


def existing(root: Root, path: str) -> tuple[files.Content, texts.Text]:
    content = files.read(root, path)
    return content, _text(content)


def _text(content: files.Content) -> texts.Text:
    if content.size > len(content.data):
        raise ToolFailure(f"{content.path} has {content.size:,} bytes; files over {files.MOST_BYTES:,} are not edited.")
    text = texts.decode(content.data)
    if text is None:
        raise ToolFailure(f"{content.path} is a binary file; it is not edited as text.")
    return text


def changed(parts: Parts, was: texts.Text | None, text: str) -> Edit:
    """Checks that the path is writable before an approval is requested."""
    edit = Edit(parts, was, text)
    if len(edit.encoded(text)) > files.MOST_BYTES:
        raise ToolFailure(f"The text has more than {files.MOST_BYTES:,} bytes, the most these tools write.")
    return edit
