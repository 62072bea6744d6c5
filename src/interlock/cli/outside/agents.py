"""`interlock agents list|test`: the CLI agents that can work on tickets."""

import asyncio

import msgspec

from interlock.assembly.cli_agents import AgentState, agent_states, try_agent
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import BLOCKED, DONE
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import folder_of
from interlock.views.display import one_line, safe

_ASKS = {"hook": "by its hook", "acp": "by ACP", "none": "nothing"}


class TestArgs(CommandArgs, frozen=True):
    name: str
    no_call: bool


def list_(args: CommandArgs) -> int:
    states = asyncio.run(agent_states(folder_of(args)))
    if args.json:
        say_json([msgspec.to_builtins(state) for state in states])
        return DONE
    table(("AGENT", "", "INSTALLED", "LOGIN", "ASKS"), [_row(state) for state in states])
    say(paint('interlock agents test NAME starts one; assigned_to: "NAME" on a ticket, or run --agent NAME', "dim"))
    return DONE


def test(args: TestArgs) -> int:
    """Exit code 3 if the agent cannot be used."""
    state = asyncio.run(try_agent(folder_of(args), args.name, call=not args.no_call))
    if args.json:
        say_json(msgspec.to_builtins(state))
        return BLOCKED if state.problem else DONE
    say(f"{state.title}: {state.program or 'not installed'}")
    if state.version:
        say(f"version: {one_line(state.version, 100)}")
    say(f"login: {', '.join(state.login) or 'none found'}")
    say(f"asks about its tool calls: {_ASKS[state.permissions]}")
    if state.answer:
        say(f"answered: {one_line(state.answer, 200)}")
    if state.problem:
        say(paint(safe(state.problem), "bad"))
    return BLOCKED if state.problem else DONE


def _row(state: AgentState) -> tuple[str, ...]:
    installed = state.program and one_line(state.program, 50)
    return (state.name, state.title, installed or "no", ", ".join(state.login) or "none", _ASKS[state.permissions])
