"""Makes tickets from a parsed command: looks up every name, and makes one ticket for each step."""

from pathlib import Path

from msgspec import Struct

from interlock.domain.reading.command_language import CommandLine, CommandStep
from interlock.domain.reading.gate_clause import Criteria, as_gate
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected
from interlock.library.library import Library, with_args
from interlock.views.display import counted

MOST_TICKETS = 100
NAME = "do"

# The parts that each modifier keeps in use.
_USES = {"clean": (), "lean": ("gates",), "framework": ("framework",)}
_ALL = ("framework", "style", "gates")


class Prepared(Struct, frozen=True):
    tickets: tuple[TicketSpec, ...]
    framework: Path | None
    style: Path | None
    runs: bool  # False: the choices are only shown
    unseen: tuple[Path, ...]  # project files whose commands would run as gates although the user did not type them


def prepare(line: CommandLine, library: Library) -> Prepared:
    """Raises Rejected, with a column if known, for names that do not exist and commands that cannot run."""
    used = next((_USES[name] for name in line.modifiers if name in _USES), _ALL)
    framework = library.framework(line.framework) if line.framework and "framework" in used else None
    style = library.style(line.style) if line.style and "style" in used else None
    texts = [entry.text for entry in (framework, style) if entry is not None]
    unseen: list[Path] = []
    steps: list[tuple[str, tuple[Gate, ...]]] = []
    for step in line.steps:
        gates = _gates(step, library, unseen) if "gates" in used else ()
        # A sub-agent gets only its own step and the answer of the step before, without framework and style.
        steps += [(_description(step, library, [] if step.delegated else texts), gates)] * step.repeat
    if len(steps) > MOST_TICKETS:
        raise Rejected(f"the command has {counted(len(steps), 'step')}; at most {MOST_TICKETS} are allowed")
    return Prepared(
        _tickets(steps),
        framework.file if framework else None,
        style.file if style else None,
        "judge" not in line.modifiers,
        tuple(dict.fromkeys(unseen)),
    )


def _tickets(steps: list[tuple[str, tuple[Gate, ...]]]) -> tuple[TicketSpec, ...]:
    if len(steps) == 1:
        return (TicketSpec(id=NAME, description=steps[0][0], verify=steps[0][1], returns=True),)
    return tuple(
        TicketSpec(
            id=f"{NAME}-{number}",
            description=text,
            verify=gates,
            depends_on=(f"{NAME}-{number - 1}",) if number > 1 else (),
            with_answers=number > 1,
            returns=True,
        )
        for number, (text, gates) in enumerate(steps, 1)
    )


def _gates(step: CommandStep, library: Library, unseen: list[Path]) -> tuple[Gate, ...]:
    gates: list[Gate] = []
    for gate in step.gates:
        if isinstance(gate, Gate):
            gates.append(gate)
        elif isinstance(gate, Criteria):
            gates.append(as_gate(gate))
        else:
            entry = library.gate(gate.name)
            gates.append(entry.gate if isinstance(entry.gate, Gate) else as_gate(entry.gate))
            if not entry.by_user:
                unseen.append(entry.file)
    return tuple(gates)


def _description(step: CommandStep, library: Library, texts: list[str]) -> str:
    """The ticket's description; its first line becomes the subject of the commit."""
    if step.prompt is None:
        if not texts:
            return step.args
        head, text = step.args, step.args
    else:
        prompt = library.prompt(step.prompt)
        head = f"{prompt.title}: {step.args}" if step.args else prompt.title
        text = with_args(prompt, step.args)
    return "\n\n".join([head.split("\n", 1)[0][:100], *texts, text])
