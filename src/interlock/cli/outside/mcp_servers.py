"""`interlock mcp-servers …`: the MCP servers whose tools workers and discussions may use."""

import asyncio
import sys
import time
from typing import Any

import msgspec

from interlock.assembly.build import trial_sandbox
from interlock.assembly.environment import stable_env
from interlock.assembly.tool_servers.book import Listed, ProjectServers
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import APPROVAL, DONE, ERROR
from interlock.cli.terminal.output import confirmed, paint, say, say_json, table
from interlock.cli.terminal.sessions import project_of
from interlock.errors import InterlockError, Misconfigured
from interlock.mcp_tools.accepted import AcceptedTool, difference, full_name
from interlock.mcp_tools.tools import connect
from interlock.ports.tools import ToolPlace
from interlock.views.display import counted, one_line, safe


class NamedArgs(CommandArgs, frozen=True):
    name: str


class ToolsArgs(NamedArgs, frozen=True):
    accept: bool


def list_(args: CommandArgs) -> int:
    listed = _book(args).listed()
    if args.json:
        say_json([_row(one) for one in listed])
    elif not listed:
        say("no MCP servers; name them in .mcp.json or in [mcp.servers.NAME] of your settings")
    else:
        rows = [(one.server.name, one.server.kind, _state(one), one_line(one.server.shown, 60)) for one in listed]
        table(("NAME", "KIND", "STATE", "STARTS OR CONTACTS"), rows)
    return DONE


def test(args: NamedArgs) -> int:
    """Starts or contacts the server and lists its tools; accepts nothing."""
    began = time.monotonic()
    try:
        listed, offered, about, level = _looked_at(args)
    except Misconfigured:
        raise
    except InterlockError as error:
        if args.json:
            say_json({"name": args.name, "works": False, "problem": str(error)})
        else:
            say(paint(safe(str(error)), "bad", sys.stderr), sys.stderr)
        return ERROR
    took = round(time.monotonic() - began, 1)
    changed = difference(listed.accepted or (), offered)
    if args.json:
        facts = {"name": args.name, "works": True, "server": about, "tools": len(offered), "sandbox": level}
        say_json({**facts, "seconds": took, "accepted": not changed, "difference": changed.words or None})
        return DONE
    where = "contacted over the network" if listed.server.url else f"sandbox: {level}"
    say(f"{args.name} works: {safe(about)}, {counted(len(offered), 'tool')}, {where}, {took} s")
    if changed:
        say(f"its tools are not accepted ({safe(changed.words)}): interlock mcp-servers tools {args.name}")
    return DONE


def tools(args: ToolsArgs) -> int:
    """Shows what the server says about its tools, and accepts exactly that."""
    listed, offered, _, _ = _looked_at(args)
    changed = difference(listed.accepted or (), offered)
    accepted = args.accept or not changed
    if args.json:
        say_json([_tool_row(listed, tool, changed.changed) for tool in offered])
    else:
        _print_tools(listed, offered)
        if listed.accepted is not None and changed:
            say(paint(f"different from what you accepted: {safe(changed.words)}", "bad"))
        accepted = accepted or confirmed("may models see and call these tools, exactly as shown? [y/N] ")
    if accepted and changed:
        _book(args).accept(listed.server, offered)
    if not args.json and accepted:
        say("accepted; any change to them asks again" if changed else "accepted already, exactly so")
    elif not accepted:
        say(f"not accepted; to accept: interlock mcp-servers tools {args.name} --accept", sys.stderr)
    return DONE if accepted else APPROVAL


def _book(args: CommandArgs) -> ProjectServers:
    return ProjectServers(project_of(args), stable_env())


def _looked_at(args: NamedArgs) -> tuple[Listed, tuple[AcceptedTool, ...], str, str]:
    """The server as listed, its tools now, its own name, and the level of the sandbox."""
    project = project_of(args)
    book = ProjectServers(project, stable_env())
    listed = book.named(args.name)
    if not listed.trusted:
        raise Misconfigured(
            f"the MCP server {args.name} comes with the project, and you do not trust its current .mcp.json:"
            " read it, then run 'interlock trust'"
        )

    async def look() -> tuple[tuple[AcceptedTool, ...], str, str]:
        sandbox = await trial_sandbox(project)
        connection = await connect(listed.server, ToolPlace(str(project.root)), book, sandbox)
        try:
            return connection.tools, connection.about, sandbox.level
        finally:
            await connection.close()

    return listed, *asyncio.run(look())


def _state(one: Listed) -> str:
    if not one.trusted:
        return "not trusted: interlock trust"
    if one.accepted is None:
        return "tools not accepted"
    return counted(len(one.accepted), "tool")


def _row(one: Listed) -> dict[str, Any]:
    server = one.server
    rights = {"network": server.network, "write": server.write, "trust_annotations": server.trust_annotations}
    where = {"url": server.url} if server.url else {"command": [server.command, *server.args]}
    names = [full_name(server.name, tool.name) for tool in one.accepted or ()]
    facts = {"name": server.name, "kind": server.kind, "source": server.source, "trusted": one.trusted}
    return {**facts, **where, **rights, "accepted": one.accepted is not None, "tools": names}


def _tool_row(listed: Listed, tool: AcceptedTool, changed: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": full_name(listed.server.name, tool.name),
        "description": tool.description,
        "schema": tool.schema,
        "read_only": tool.read_only,
        "asks": not (tool.read_only and listed.server.trust_annotations),
        "digest": tool.digest,
        "changed": tool.name in changed,
    }


def _print_tools(listed: Listed, offered: tuple[AcceptedTool, ...]) -> None:
    for tool in offered:
        asks = "reads, no approval" if tool.read_only and listed.server.trust_annotations else "asks for an approval"
        say(f"{paint(safe(full_name(listed.server.name, tool.name)), 'bold')}  ({asks})")
        for line in tool.description.splitlines() or ["(no description)"]:
            say(f"  {safe(line)}")
        say(paint(f"  arguments: {safe(msgspec.json.encode(tool.schema).decode())}", "dim"))
