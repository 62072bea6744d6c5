"""A command of the grammar made ready to run: every name looked up, one ticket for each step."""

from pathlib import Path

from msgspec import Struct

from interlock.domain.reading.command_language import CommandLine, CommandStep
from interlock.domain.reading.gate_clause import Criteria, as_gate
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected
from interlock.library.library import Library, with_args

MOST_TICKETS = 100
NAME = "do"

# What each modifier leaves in use.
_USES = {"clean": (), "lean": ("gates",), "framework": ("framework",)}
_ALL = ("framework", "style", "gates")


class Prepared(Struct, frozen=True):
    tickets: tuple[TicketSpec, ...]
    framework: Path | None
    style: Path | None
    runs: bool  # False: only the choices are to be shown
    unseen: tuple[Path, ...]  # files of the project whose commands would run as gates: nobody has typed them


def prepare(line: CommandLine, library: Library) -> Prepared:
    """Raises Rejected for what does not exist or cannot be run, with the column where there is one."""
    used = next((_USES[name] for name in line.modifiers if name in _USES), _ALL)
    framework = library.framework(line.framework) if line.framework and "framework" in used else None
    style = library.style(line.style) if line.style and "style" in used else None
    texts = [entry.text for entry in (framework, style) if entry is not None]
    unseen: list[Path] = []
    made: list[tuple[str, tuple[Gate, ...]]] = []
    for step in line.steps:
        gates = _gates(step, library, unseen) if "gates" in used else ()
        # A sub-agent is told its own step and the answer before it, and nothing of how the others work.
        made += [(_description(step, library, [] if step.delegated else texts), gates)] * step.repeat
    if len(made) > MOST_TICKETS:
        raise Rejected(f"that would be {len(made)} steps; at most {MOST_TICKETS} are run")
    return Prepared(
        _tickets(made),
        framework.file if framework else None,
        style.file if style else None,
        "judge" not in line.modifiers,
        tuple(dict.fromkeys(unseen)),
    )


def _tickets(made: list[tuple[str, tuple[Gate, ...]]]) -> tuple[TicketSpec, ...]:
    if len(made) == 1:
        return (TicketSpec(id=NAME, description=made[0][0], verify=made[0][1], returns=True),)
    return tuple(
        TicketSpec(
            id=f"{NAME}-{number}",
            description=text,
            verify=gates,
            depends_on=(f"{NAME}-{number - 1}",) if number > 1 else (),
            with_answers=number > 1,
            returns=True,
        )
        for number, (text, gates) in enumerate(made, 1)
    )


def _gates(step: CommandStep, library: Library, unseen: list[Path]) -> tuple[Gate, ...]:
    gates: list[Gate] = []
    for gate in step.gates:
        if isinstance(gate, Gate):
            gates.append(gate)
        elif isinstance(gate, Criteria):
            gates.append(as_gate(gate))
        else:
            found = library.gate(gate.name)
            gates.append(found.gate if isinstance(found.gate, Gate) else as_gate(found.gate))
            if not found.by_user:
                unseen.append(found.file)
    return tuple(gates)


def _description(step: CommandStep, library: Library, texts: list[str]) -> str:
    """The first line is what its commit will be called."""
    if step.prompt is None:
        if not texts:
            return step.args
        head, text = step.args, step.args
    else:
        prompt = library.prompt(step.prompt)
        head = f"{prompt.title}: {step.args}" if step.args else prompt.title
        text = with_args(prompt, step.args)
    return "\n\n".join([head.split("\n", 1)[0][:100], *texts, text])
