"""The resources of the MCP server: status, tracks, approvals, journal lines, code views. All are read-only."""

import json
from typing import Any, get_args
from urllib.parse import unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from msgspec import to_builtins

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.state.state import State
from interlock.errors import InterlockError
from interlock.mcp_server.work_tools import approvals_data
from interlock.ports.front import ProgramAccess, ViewKind
from interlock.views.board import tickets_of, track_row, track_rows
from interlock.views.display import safe
from interlock.views.journal_lines import journal_line
from interlock.views.mma_status import mma_status

Context = ServerRequestContext[Any]

SCHEME = "interlock://"
MOST_LINES = 200
MOST_TRACKS = 200
MOST_COMPLETIONS = 100
JSON, TEXT = "application/json", "text/plain"

_FIXED = (
    ("status", "What runs, the tickets of the active track, what waits for a person", JSON),
    ("tracks", "All tracks with their progress", JSON),
    ("approvals", "What waits for a person; read only", JSON),
    ("journal", f"The last {MOST_LINES} lines of the journal", TEXT),
)
_TEMPLATES = (
    ("track", "tracks/{track}", "A track and its tickets", JSON),
    ("journal-after", "journal/{after}", f"Up to {MOST_LINES} lines of the journal after a version", TEXT),
    ("view", "view/{kind}/{+path}", f"A code view of a file; kind is {', '.join(get_args(ViewKind))}", TEXT),
)


class Resources:
    def __init__(self, access: ProgramAccess) -> None:
        self._access = access

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        fixed = [
            types.Resource(name=name, uri=f"{SCHEME}{name}", description=about, mime_type=kind)
            for name, about, kind in _FIXED
        ]
        state = self._access.state
        tracks = [
            types.Resource(
                name=f"track {name}", uri=f"{SCHEME}tracks/{name}", title=state.tracks[name].title, mime_type=JSON
            )
            for name in state.track_order[-MOST_TRACKS:]
        ]
        return types.ListResourcesResult(resources=[*fixed, *tracks])

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(name=name, uri_template=f"{SCHEME}{path}", description=about, mime_type=kind)
            for name, path, about, kind in _TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text, kind = await self._text(unquote(uri.removeprefix(SCHEME)))
        except InterlockError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        if not uri.startswith(SCHEME) or not kind:
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {uri[:200]}", {"uri": uri[:200]})
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Completes the variables of the templates: tracks and kinds of views."""
        known: dict[str, tuple[str, ...]] = {"track": self._access.state.track_order, "kind": get_args(ViewKind)}
        names = known.get(params.argument.name, ()) if isinstance(params.ref, types.ResourceTemplateReference) else ()
        fitting = [name for name in names if name.startswith(params.argument.value)]
        most = fitting[:MOST_COMPLETIONS]
        return types.CompleteResult(
            completion=types.Completion(values=most, total=len(fitting), has_more=len(fitting) > len(most))
        )

    async def _text(self, path: str) -> tuple[str, str]:
        """The text and its type; no type if there is no such resource."""
        state, parts = self._access.state, path.split("/", 2)
        match parts:
            case ["status"]:
                return _json(mma_status(state, {}, None)), JSON
            case ["tracks"]:
                return _json(to_builtins(track_rows(state)[-MOST_TRACKS:])), JSON
            case ["tracks", name]:
                return _json(_track(state, name)), JSON
            case ["approvals"]:
                return _json(approvals_data(state)), JSON
            case ["journal"]:
                return await self._lines(max(state.version - MOST_LINES, 0)), TEXT
            case ["journal", after] if after.isascii() and after.isdigit() and len(after) < 18:
                return await self._lines(int(after)), TEXT
            case ["view", ("skeleton" | "curated" | "summary" | "outline") as kind, name]:
                return await self._access.view(kind, name), TEXT
            case _:
                return "", ""

    async def _lines(self, after: int) -> str:
        records = await self._access.records(after, MOST_LINES)
        return "\n".join(_line(record) for record in records)


def _line(record: Recorded) -> str:
    line = journal_line(record)
    return safe(f"{record.version}  {record.at}  {record.actor}  {line.whose}  {line.text}")


def _track(state: State, name: str) -> dict[str, Any]:
    track = state.track(name)
    return {**to_builtins(track_row(track)), "tickets": [ticket_to_dict(ticket) for ticket in tickets_of(track)]}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
