"""All tools of a worker by name: their schemas, their previews, their results."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from interlock.errors import ToolFailure
from interlock.ports import Preview, Sandbox, ToolOutcome, ToolPlace, ToolSpec
from interlock.tools import files
from interlock.tools.editing import Edit, EditFile, SetFileSlice, WriteFile, edit_file, set_file_slice, write_file
from interlock.tools.hunks import Change, compare
from interlock.tools.listing import ListDirectory, SearchFiles, list_directory, search_files
from interlock.tools.paths import Root
from interlock.tools.reading import MOST_CHARACTERS, GetFileSlice, ReadFile, get_file_slice, read_file
from interlock.tools.searching import Grep, Searching
from interlock.tools.shell import RunShell, Shell, problem_with
from interlock.tools.snapshots import texts_of

_T = TypeVar("_T")


class _Tool(Struct, frozen=True):
    """One of `reads`, `edits`, `asks` and `runs` is there: how the tool works."""

    description: str
    arguments: type[Struct]
    reads: Callable[[Root, Any], str] | None = None
    edits: Callable[[Root, Any], Edit] | None = None
    asks: Callable[[ToolPlace, Any], Awaitable[str]] | None = None
    runs: Callable[[ToolPlace, Any], Awaitable[ToolOutcome]] | None = None

    @property
    def changes(self) -> bool:
        return self.edits is not None or self.runs is not None


class WorkerTools:
    """Plays `Tools`. Commands run through the sandbox with exactly this environment."""

    def __init__(self, sandbox: Sandbox, env: Mapping[str, str]) -> None:
        self._tools = _all_tools(Searching(sandbox, env), Shell(sandbox, env))
        self._specs = tuple(
            ToolSpec(name, tool.description, _schema(tool.arguments), tool.changes)
            for name, tool in self._tools.items()
        )

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        return tuple(spec for spec in self._specs if changing or not spec.changes)

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        tool, given = self._call(name, args)
        if isinstance(given, RunShell):
            if problem := problem_with(given.script):
                raise ToolFailure(problem)
            return Preview("Run a shell script", script=given.script)
        if tool.edits is None:
            return Preview(name)
        edit, change = await _to_the_end(lambda: _compared(place, tool, given))
        return Preview(f"{'Edit' if edit.was else 'Create'} {edit.path}", change.hunks())

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        return await _to_the_end(lambda: texts_of(place.root, paths))

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        try:
            tool, given = self._call(name, args)
            if tool.runs is not None:
                return await tool.runs(place, given)
            if tool.asks is not None:
                text = await tool.asks(place, given)
            else:
                text = await _to_the_end(lambda: _work(place, tool, given, hunks))
        except ToolFailure as failure:
            return ToolOutcome(_cut(str(failure)), failed=True)
        return ToolOutcome(_cut(text))

    def _call(self, name: str, args: dict[str, Any]) -> tuple[_Tool, Struct]:
        tool = self._tools.get(name)
        if tool is None:
            near = get_close_matches(name, self._tools, n=3, cutoff=0.4) or list(self._tools)
            raise ToolFailure(f"There is no tool {name!r}. The nearest: {', '.join(near)}.")
        return tool, _arguments(name, tool, args)


def _all_tools(searching: Searching, shell: Shell) -> dict[str, _Tool]:
    return {
        "read_file": _Tool("The text of a file, exactly; long files are cut.", ReadFile, reads=read_file),
        "get_file_slice": _Tool("Some lines of a file, exactly.", GetFileSlice, reads=get_file_slice),
        "list_directory": _Tool("What a folder holds, with sizes.", ListDirectory, reads=list_directory),
        "search_files": _Tool("Paths of files that fit a glob pattern.", SearchFiles, reads=search_files),
        "grep": _Tool("Lines that match a regular expression, as path:line: text.", Grep, asks=searching.grep),
        "edit_file": _Tool(
            "Replace a text in a file. It must occur exactly once, unless replace_all is set. "
            "Encoding and line endings of the file stay.",
            EditFile,
            edits=edit_file,
        ),
        "write_file": _Tool("Make a file, or replace all of its text.", WriteFile, edits=write_file),
        "set_file_slice": _Tool("Replace some lines of a file.", SetFileSlice, edits=set_file_slice),
        "run_shell": _Tool(
            "Run a shell script in the worktree: no network, nothing to type in. Gives exit code, stdout and stderr.",
            RunShell,
            runs=shell.run_shell,
        ),
    }


def _cut(text: str) -> str:
    """The tools keep within it themselves, where there is a better place to cut."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 100]}\n[… cut here]"


# ── arguments ────────────────────────────────────────────────────────────────────────────


def _schema(arguments: type[Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([arguments])
    schema = components[arguments.__name__]
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _arguments(name: str, tool: _Tool, args: dict[str, Any]) -> Struct:
    fields = {field.name: field for field in msgspec.structs.fields(tool.arguments)}
    for given in args:
        if given not in fields:
            near = get_close_matches(str(given), fields, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(fields)}."
            raise ToolFailure(f"{name} has no argument {given!r}; {meant}")
    for field in fields.values():
        if field.required and args.get(field.name) is None:
            raise ToolFailure(f"{name} needs the argument {field.name!r}.")
    # A null for what may be left out means left out; "10" for 10 is what models write.
    given = {key: value for key, value in args.items() if value is not None}
    try:
        return msgspec.convert(given, tool.arguments, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise ToolFailure(f"{name}: the argument {where.rstrip('`')!r} is wrong: {_lower(what)}.") from None


def _lower(sentence: str) -> str:
    return re.sub("^[A-Z]", lambda first: first[0].lower(), sentence)


# ── files ────────────────────────────────────────────────────────────────────────────────


def _work(place: ToolPlace, tool: _Tool, given: Struct, hunks: tuple[int, ...] | None) -> str:
    if tool.edits is not None:
        return _apply(place, tool, given, hunks)
    assert tool.reads is not None
    with Root(place.root) as root:
        return tool.reads(root, given)


def _compared(place: ToolPlace, tool: _Tool, given: Struct) -> tuple[Edit, Change]:
    assert tool.edits is not None
    with Root(place.root) as root:
        edit = tool.edits(root, given)
    return edit, compare(edit.path, edit.old, edit.text)


def _apply(place: ToolPlace, tool: _Tool, given: Struct, hunks: tuple[int, ...] | None) -> str:
    edit, change = _compared(place, tool, given)
    every = change.hunks()
    chosen = {hunk.number for hunk in every} if hunks is None else set(hunks)
    if unknown := sorted(chosen - {hunk.number for hunk in every}):
        raise ToolFailure(f"There is no hunk {', '.join(map(str, unknown))}; the change has {len(every)}.")
    left_out = [hunk for hunk in every if hunk.number not in chosen]
    if every and not chosen:
        return f"Nothing was changed in {edit.path}: none of the {len(every)} hunks was approved."
    text = edit.text if not left_out else change.applied(chosen)
    with Root(place.root) as root:
        files.write(root, "/".join(edit.parts), edit.encoded(text))
    done = f"{'Changed' if edit.was else 'Created'} {edit.path}{_lines_of(change, chosen)}."
    if not left_out:
        return done
    rows = "\n".join(f"{hunk.number}: {hunk.header}\n{hunk.text}" for hunk in left_out)
    return f"{done}\nOf the {len(every)} hunks these were NOT applied, because they were not approved:\n{rows}"


def _lines_of(change: Change, chosen: set[int]) -> str:
    parts = [part for number, piece in enumerate(change.pieces, 1) if number in chosen for part in piece]
    added = sum(part.new_end - part.new for part in parts)
    removed = sum(part.old_end - part.old for part in parts)
    return f": {added} {'line' if added == 1 else 'lines'} added, {removed} removed" if parts else ": no difference"


async def _to_the_end(work: Callable[[], _T]) -> _T:
    """In a thread; when cancelled, only after it has ended, so that nothing is written later."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
