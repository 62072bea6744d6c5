"""All tools of a worker by name: schemas, previews, results."""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.ports.processes import Sandbox
from interlock.ports.services import Services
from interlock.ports.tools import Preview, Structure, ToolOutcome, ToolPlace, ToolSpec
from interlock.tools.catalogue import Tool, UiFigures, Web, all_tools
from interlock.tools.edits import applying
from interlock.tools.edits.editing import Edit
from interlock.tools.files.paths import Root
from interlock.tools.files.snapshots import texts_of
from interlock.tools.reads.git_diff import GitDiff
from interlock.tools.reads.reading import MOST_CHARACTERS
from interlock.tools.reads.searching import Searching
from interlock.tools.shell import RunShell, Shell, no_explanation, problem_with, with_services
from interlock.tools.web.fetching import Fetching

_T = TypeVar("_T")


class WorkerTools:
    """Implements the port `Tools`. Commands run in the sandbox with exactly this environment."""

    def __init__(
        self,
        sandbox: Sandbox,
        env: Mapping[str, str],
        structure: Structure,
        names: ClosedNames,
        before_script: Callable[[str], None] = lambda _: None,
        off: Collection[str] = (),
        services: Services | None = None,
        explain: Callable[[str, str], str] = no_explanation,
        web: Web | None = None,
        figures: Callable[[], UiFigures] = UiFigures,
    ) -> None:
        """`off`: tools that the settings switch off; they are neither offered nor run.

        `explain` says what the sandbox has to do with a failed script. `figures` are those of the window now.
        """
        self._names = names
        shell = Shell(sandbox, env, before_script, services, explain)
        web = web or Web(Fetching())
        searching = Searching(sandbox, env, names)
        tools = all_tools(searching, shell, GitDiff(sandbox, env, names), structure, web, figures)
        self._tools = {name: tool for name, tool in tools.items() if name not in off}
        self._off = dict.fromkeys(off, "it is switched off by the settings of this project")
        if "web_search" not in tools:
            self._off.setdefault("web_search", web.no_search)
        self._specs = tuple(
            ToolSpec(name, tool.description, _schema(tool.arguments), tool.changes, tool.contacts is not None)
            for name, tool in self._tools.items()
        )

    def why_off(self, name: str) -> str:
        return self._off.get(name, "")

    @property
    def off(self) -> tuple[str, ...]:
        """The tools that exist but are not offered."""
        return tuple(self._off)

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        return tuple(spec for spec in self._specs if changing or not spec.changes)

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        tool, given = self._call(name, args)
        if isinstance(given, RunShell):
            if problem := problem_with(given.script):
                raise ToolFailure(problem)
            return Preview("Run a shell script", script=given.script, services=with_services(given))
        if tool.contacts is not None:
            contact = tool.contacts(given)
            return Preview(contact.title, hosts=contact.hosts)
        if tool.edits is None:
            return Preview(name)
        return await _in_thread_uncancelled(lambda: applying.preview(self._edits(place, tool, given)))

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        return await _in_thread_uncancelled(lambda: texts_of(place.root, self._names, paths))

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
                text = await _in_thread_uncancelled(lambda: self._work(place, tool, given, hunks))
        except ToolFailure as failure:
            return ToolOutcome(_cut(str(failure)), failed=True)
        return ToolOutcome(_cut(text))

    def problem(self, name: str, args: dict[str, Any]) -> str | None:
        """Why this tool does not take these arguments; None if it does."""
        try:
            tool, given = self._call(name, args)
            if tool.contacts is not None:
                tool.contacts(given)
        except ToolFailure as failure:
            return str(failure)
        return problem_with(given.script) if isinstance(given, RunShell) else None

    def _call(self, name: str, args: dict[str, Any]) -> tuple[Tool, Struct]:
        tool = self._tools.get(name)
        if tool is None and name in self._off:
            raise ToolFailure(f"The tool {name!r} cannot be used: {self._off[name]}.")
        if tool is None:
            near = get_close_matches(name, self._tools, n=3, cutoff=0.4) or list(self._tools)
            raise ToolFailure(f"There is no tool {name!r}. The nearest: {', '.join(near)}.")
        return tool, _arguments(name, tool, args)

    def _work(self, place: ToolPlace, tool: Tool, given: Struct, hunks: tuple[int, ...] | None) -> str:
        if tool.edits is not None:
            return applying.write(place.root, self._names, self._edits(place, tool, given), hunks)
        assert tool.reads is not None
        with Root(place.root, self._names) as root:
            return tool.reads(root, given)

    def _edits(self, place: ToolPlace, tool: Tool, given: Struct) -> tuple[Edit, ...]:
        assert tool.edits is not None
        with Root(place.root, self._names) as root:
            edits = tool.edits(root, given)
        return edits if isinstance(edits, tuple) else (edits,)


def _cut(text: str) -> str:
    """A final limit. The tools themselves cut earlier, at better places."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 100]}\n[… cut here]"


# ── arguments ────────────────────────────────────────────────────────────────────────────


def _schema(arguments: type[Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([arguments])
    schema = components[arguments.__name__]
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _arguments(name: str, tool: Tool, args: dict[str, Any]) -> Struct:
    fields = {field.name: field for field in msgspec.structs.fields(tool.arguments)}
    for given in args:
        if given not in fields:
            near = get_close_matches(str(given), fields, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(fields)}."
            raise ToolFailure(f"{name} has no argument {given!r}; {meant}")
    for field in fields.values():
        if field.required and args.get(field.name) is None:
            raise ToolFailure(f"{name} needs the argument {field.name!r}.")
    # null for an optional argument means absent; models also write "10" for 10.
    given = {key: value for key, value in args.items() if value is not None}
    try:
        return msgspec.convert(given, tool.arguments, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise ToolFailure(f"{name}: the argument {where.rstrip('`')!r} is wrong: {_lower(what)}.") from None


def _lower(sentence: str) -> str:
    return re.sub("^[A-Z]", lambda first: first[0].lower(), sentence)


async def _in_thread_uncancelled(work: Callable[[], _T]) -> _T:
    """Runs in a thread. A cancellation waits for its end, so that nothing is written later."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
