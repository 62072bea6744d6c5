"""`interlock parse`: a command of the command language as JSON. It runs nothing and needs no project."""

import os
from typing import Any

from interlock.assembly.locations import root_of, user_folder, user_settings
from interlock.assembly.settings.load import load_settings
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, wrong_usage
from interlock.cli.terminal.output import say_json
from interlock.domain.reading.command_language import CommandLine, Operator, parse_command
from interlock.domain.reading.gate_clause import AnyGate, Criteria, LibraryGate
from interlock.domain.values.gates import Gate, GateDefaults, limits
from interlock.errors import Rejected
from interlock.library.gate_ids import GateIds
from interlock.library.library import Library


class ParseArgs(CommandArgs, frozen=True):
    command: str


def parse(args: ParseArgs) -> int:
    root = root_of(args.project)
    try:
        line = parse_command(args.command)
    except Rejected as error:
        return wrong_usage(f"parse: {error}", as_json=args.json)
    gates = load_settings(user_settings(), root / "interlock.toml").gates
    defaults = GateDefaults(gates.max_attempts, gates.timeout_s)
    say_json(as_plain(line, Library(root, user_folder()), defaults, GateIds(os.urandom(6).hex())))
    return DONE


def as_plain(line: CommandLine, library: Library, defaults: GateDefaults, ids: GateIds) -> dict[str, Any]:
    """Effective values; every name has a flag: whether the library has it."""
    operators = [_operator(operator, library, defaults, ids) for operator in line.operators]
    steps = [
        {
            "step": number,
            "prompt": step.prompt,
            **({} if step.prompt is None else {"known": library.has("prompts", step.prompt)}),
            "args": step.args,
            "column": step.column,
            "repeat": step.repeat,
            "delegate": step.delegated,
            "gates": [each["gate_id"] for each in operators if each["type"] == "gate" and each["step"] == number],
        }
        for number, step in enumerate(line.steps, 1)
    ]
    return {
        "has_operators": bool(operators),
        "operator_types": list(dict.fromkeys(each["type"] for each in operators)),
        "operators": operators,
        "steps": steps,
    }


def _operator(operator: Operator, library: Library, defaults: GateDefaults, ids: GateIds) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": operator.type, "column": operator.column}
    value = operator.value
    if operator.type in ("gate", "chain", "delegate", "repeat"):
        shown["step"] = operator.step
    if isinstance(value, AnyGate):
        return shown | _gate(value, library, defaults, ids)
    match operator.type:
        case "modifier":
            return shown | {"name": value}
        case "framework":
            return shown | {"name": value, "known": library.has("frameworks", str(value))}
        case "style":
            return shown | {"name": value, "known": library.has("styles", str(value))}
        case "repeat":
            return shown | {"count": value}
        case _:
            return shown


def _gate(gate: AnyGate, library: Library, defaults: GateDefaults, ids: GateIds) -> dict[str, Any]:
    match gate:
        case LibraryGate(name):
            return {"gate_id": name, "known": library.has("gates", name)}
        case Criteria(text, name):
            return {"gate_id": name or ids.criteria(), "criteria": text}
        case Gate():
            effective = limits(gate, defaults)
            return {
                "gate_id": ids.shell(),
                "shell_verify": {
                    "command": gate.command,
                    "preset": gate.preset,
                    "max_attempts": effective.max_attempts,
                    "timeout_ms": round(effective.timeout_s * 1000),
                    "loop": gate.loop,
                },
            }
