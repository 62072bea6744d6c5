"""The MCP server: tools, prompts and resources of a project for other agents and editors."""

import re
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError, NoBackChannelError

from interlock.errors import InterlockError
from interlock.mcp_server import work_tools
from interlock.mcp_server.calls import ClientCalls, Progress
from interlock.mcp_server.resources import Resources
from interlock.ports.front import ProgramAccess
from interlock.ports.tools import ToolSpec

Context = ServerRequestContext[Any]

MOST_ARGUMENTS = 2_000_000
"""Characters of the arguments of one call."""

INSTRUCTIONS = """\
Interlock guards this project. Reading tools answer at once. A call that changes something waits until a person has
answered its approval in Interlock, unless a rule of the person allows it; the call can take as long as the person
needs. A rejected call returns the person's message. You cannot answer approvals. For larger work use plan_epic and
wait_for."""


class InterlockServer:
    """The handlers of all MCP clients of one project. `make` gives the SDK's server, for any transport."""

    def __init__(self, access: ProgramAccess, version: str) -> None:
        self._access = access
        self._version = version
        self._resources = Resources(access)
        self._calls: dict[str, ClientCalls] = {}

    def make(self) -> Server[Any]:
        return Server(
            "interlock",
            version=self._version,
            title="Interlock",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._resources.list_resources,
            on_list_resource_templates=self._resources.list_templates,
            on_read_resource=self._resources.read,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._resources.complete,
        )

    # ── tools ────────────────────────────────────────────────────────────────────────────

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(spec) for spec in (*self._access.offered(), *work_tools.specs())])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        args = params.arguments or {}
        if len(str(args)) > MOST_ARGUMENTS:
            return _result(f"The arguments have more than {MOST_ARGUMENTS:,} characters.", failed=True)
        calls, progress = self._calls_of(ctx), _progress(ctx)
        try:
            if params.name in work_tools.TOOLS:
                tools = work_tools.WorkTools(self._access, calls.actor)
                text = await tools.run(params.name, args, progress, lambda ask, of: _choose(ctx, ask, of))
                return _result(text, failed=False)
            if all(params.name != spec.name for spec in self._access.offered()):
                raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
            outcome = await calls.call(params.name, args, progress)
        except InterlockError as error:
            return _result(str(error), failed=True)
        return _result(outcome.text, failed=outcome.failed)

    def _calls_of(self, ctx: Context) -> ClientCalls:
        """The calls of one session. A client without sessions, as in newer versions of MCP, is known by its name."""
        client, session = client_name(ctx), ""
        if ctx.request is not None:
            session = ctx.request.headers.get("mcp-session-id", "")
        return self._calls.setdefault(f"{session} {client}", ClientCalls(self._access, client))

    # ── prompts ──────────────────────────────────────────────────────────────────────────

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=entry.name,
                    title=entry.title,
                    description=entry.description or entry.title,
                    arguments=[types.PromptArgument(name="args", description="Words for the prompt", required=False)],
                )
                for entry in await self._access.prompts()
            ]
        )

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = await self._access.prompt(params.name, (params.arguments or {}).get("args", ""))
        except InterlockError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def client_name(ctx: Context) -> str:
    """The client's name as it gives it, cut to what an actor may hold."""
    params = ctx.session.client_params
    name = re.sub(r"[^A-Za-z0-9._@-]+", "-", params.client_info.name if params else "").strip("-")
    return name[:60] or "mcp-client"


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not spec.changes, destructive_hint=spec.changes, open_world_hint=False
        ),
    )


def _result(text: str, *, failed: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


def _progress(ctx: Context) -> Progress:
    count = 0

    async def report(message: str) -> None:
        nonlocal count
        count += 1
        await ctx.session.report_progress(count, None, message)

    return report


async def _choose(ctx: Context, ask: str, names: Sequence[str]) -> str:
    """Asks the client's user a harmless question. Approvals are never asked here: an agent must not answer itself."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None or not ctx.session.can_send_request:
        return ""
    schema = {
        "type": "object",
        "properties": {"choice": {"type": "string", "enum": list(names)}},
        "required": ["choice"],
    }
    try:
        answer = await ctx.session.elicit_form(ask, schema, ctx.request_id)
    except (NoBackChannelError, MCPError):
        return ""
    chosen = (answer.content or {}).get("choice") if answer.action == "accept" else None
    return chosen if isinstance(chosen, str) and chosen in names else ""
