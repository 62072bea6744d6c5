"""`interlock tools list`: the tools of workers and discussions."""

import asyncio
from typing import Any

from interlock.assembly.tools.own_tools import listed_tools
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.model_choices import note_unused_settings
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import folder_of
from interlock.ports.tools import ToolSpec
from interlock.tools.registry import WorkerTools
from interlock.views.display import one_line


class ListArgs(CommandArgs, frozen=True):
    schema: bool


def list_(args: ListArgs) -> int:
    project = folder_of(args)
    note_unused_settings(project)
    tools = asyncio.run(listed_tools(project))
    rows = [*(_on(spec, schema=args.schema) for spec in tools.offered(changing=True)), *_off(tools)]
    if args.json:
        say_json(rows)
        return DONE
    for row in rows if args.schema else ():
        say(paint(f"==> {row['name']} <==", "bold"))
        say_json({key: row.get(key) for key in ("description", "schema")})
    table(
        ("TOOL", "KIND", "STATE", "DOES"),
        [
            (row["name"], row["kind"] or "", "on" if row["on"] else "off", one_line(row["description"], 70))
            for row in rows
        ],
    )
    for row in rows:
        if not row["on"]:
            say(f"{row['name']} is off: {row['why']}")
    say(paint("reads: at once; changes and network: after an approval, or by a rule (docs/policy.md)", "dim"))
    return DONE


def _on(spec: ToolSpec, *, schema: bool) -> dict[str, Any]:
    kind = "network" if spec.outside else "changes" if spec.changes else "reads"
    row = {"name": spec.name, "kind": kind, "on": True, "why": None, "description": spec.description}
    return {**row, "schema": spec.schema} if schema else row


def _off(tools: WorkerTools) -> list[dict[str, Any]]:
    return [
        {"name": name, "kind": None, "on": False, "why": tools.why_off(name), "description": ""} for name in tools.off
    ]
