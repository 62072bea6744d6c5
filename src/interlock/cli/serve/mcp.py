"""`interlock mcp`: the project's tools for other agents and editors, by the Model Context Protocol."""

import asyncio
import sys

from interlock.assembly.build import conducting
from interlock.assembly.mcp.service import address_file, serve_mcp
from interlock.assembly.model_choice import first_provider
from interlock.assembly.service import ModelSelection, chosen
from interlock.cli.arguments import ModelArgs
from interlock.cli.terminal.exits import DONE, wrong_usage
from interlock.cli.terminal.model_choices import note_unused_settings, with_agent, with_tool_rounds
from interlock.cli.terminal.output import say
from interlock.cli.terminal.sessions import project_of
from interlock.errors import Misconfigured

DEFAULT_PORT = 9011


class McpArgs(ModelArgs, frozen=True):
    http: bool
    port: int | None


def mcp(args: McpArgs) -> int:
    if args.port is not None and not args.http:
        return wrong_usage("--port goes with --http", as_json=False)
    project = with_agent(with_tool_rounds(project_of(args), args.max_tool_rounds), args)
    note_unused_settings(project)
    if args.script and args.provider != "scripted":
        raise Misconfigured("--script goes with --provider scripted")
    settings = project.settings.provider
    provider = args.provider or first_provider(settings.name) or ""
    choice = ModelSelection(provider, args.model or settings.model or "", args.script or "")
    model = chosen(project, choice, provider, choice.model, "", lambda: None)
    conduct = conducting(project, auto_queue=False, approve_all=False, workers=None)
    listening = None
    if args.http:
        from interlock.api.server import bind

        listening = bind(DEFAULT_PORT if args.port is None else args.port)

    def ready(address: str, holds: bool) -> None:
        """On stderr: standard output belongs to the protocol."""
        how = "this process holds the project" if holds else "through the process that holds the project"
        say(f"interlock mcp: {project.root}; {how}", sys.stderr)
        if address:
            say(f"  {address}; the token is in {address_file(project)}; Ctrl-C stops the server", sys.stderr)
        say("  answer approvals in another terminal: interlock approvals list", sys.stderr)

    asyncio.run(serve_mcp(project, conduct, model, listening, ready))
    return DONE
