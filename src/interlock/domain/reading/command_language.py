"""A command as it is typed: `[modifiers] [@framework] [#style] >>prompt args [:: gate]…`, steps joined by `-->`.

Reading looks nothing up: whether a prompt or a gate of that name exists is the business of whoever runs it.
Whatever could be meant as an operator and cannot be one is refused, with its column; nothing is guessed.
"""

from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from interlock.domain.reading.command_tokens import OperatorToken, Reader, reject
from interlock.domain.reading.gate_clause import AnyGate, read_gate
from interlock.domain.values.ids import is_id

MOST_REPEATS = 100
MODIFIERS = {
    "clean": "no framework, no style, no gates",
    "lean": "gates only",
    "framework": "the framework only",
    "judge": "shows the choices and runs nothing",
}

OperatorType = Literal["gate", "chain", "delegate", "repeat", "framework", "style", "modifier"]


class Operator(Struct, frozen=True):
    """One operator as it stands in the text; `step` counts from 1, and is 0 for what concerns all steps."""

    type: OperatorType
    column: int
    step: int
    value: str | int | AnyGate | None = None


class CommandStep(Struct, frozen=True):
    """One prompt with its words; `prompt` is None where the words themselves are the prompt."""

    prompt: str | None
    args: str
    column: int
    gates: tuple[AnyGate, ...] = ()
    repeat: int = 1
    delegated: bool = False


class CommandLine(Struct, frozen=True):
    steps: tuple[CommandStep, ...]
    modifiers: tuple[str, ...] = ()
    framework: str | None = None
    style: str | None = None
    operators: tuple[Operator, ...] = ()


def parse_command(text: str) -> CommandLine:
    """What was typed; raises Rejected with a sentence that ends in the column."""
    return _Parser(text).command()


_HEADS: dict[str, OperatorType] = {"%": "modifier", "@": "framework", "#": "style"}
_MISSING = "a prompt is missing here: >>name"
_NO_NAME = "{} is no name of a prompt; after >> comes one, such as >>review"


class _Parser:
    def __init__(self, text: str) -> None:
        self._reader = Reader(text)
        self._operators: list[Operator] = []

    def command(self) -> CommandLine:
        self._head()
        steps = [self._step(1, self._joined(1, "delegate"))]
        while not self._reader.at_end:
            number = len(steps) + 1
            steps.append(self._step(number, self._joined(number, "chain", "delegate")))
        if len(steps) > 1 and steps[0].prompt is None:
            reject(steps[0].column, "each step of a chain starts with >>prompt; quotes make --> a text")
        named = {found.type: str(found.value) for found in self._operators}
        return CommandLine(
            steps=tuple(steps),
            modifiers=tuple(str(found.value) for found in self._operators if found.type == "modifier"),
            framework=named.get("framework"),
            style=named.get("style"),
            operators=tuple(self._operators),
        )

    def _head(self) -> None:
        reader = self._reader
        reader.skip_space()
        while not reader.at_end and (kind := _HEADS.get(reader.text[reader.at])):
            column, name = reader.column, reader.word()[1:]
            if kind == "modifier":
                self._check_modifier(column, name)
            else:
                if not is_id(name):
                    reject(column, f"{name!r} is no name of a {kind}")
                if any(found.type == kind for found in self._operators):
                    reject(column, f"a {kind} is given twice")
            self._operators.append(Operator(kind, column, 0, name))
            reader.skip_space()

    def _check_modifier(self, column: int, name: str) -> None:
        if name not in MODIFIERS:
            close = get_close_matches(name, MODIFIERS, n=1)
            reject(
                column,
                f"no modifier %{name}"
                + (f"; did you mean %{close[0]}?" if close else f"; there are %{', %'.join(MODIFIERS)}"),
            )
        others = [str(found.value) for found in self._operators if found.type == "modifier"]
        if name in others:
            reject(column, f"%{name} is given twice")
        if name != "judge" and (other := next((one for one in others if one != "judge"), None)):
            reject(column, f"%{other} and %{name} contradict each other")

    def _joined(self, step: int, *kinds: Literal["chain", "delegate"]) -> bool:
        """Read what stands before a step; True if it hands the step to a sub-agent."""
        found = self._reader.operator()
        if found is None or found.kind not in kinds:
            return False
        self._reader.at = found.end
        self._operators.append(Operator(found.kind, found.column, step))
        return found.kind == "delegate"

    def _step(self, number: int, delegated: bool) -> CommandStep:
        reader = self._reader
        reader.skip_space()
        column = reader.column
        prompt = self._prompt(number, delegated)
        args = reader.prose()
        gates: list[AnyGate] = []
        repeat: int | None = None
        while (found := self._supported(reader.operator())) and found.kind not in ("chain", "delegate"):
            reader.at = found.end
            if found.kind == "gate":
                reader.skip_space()
                gates.append(read_gate(reader))
                self._operators.append(Operator("gate", found.column, number, gates[-1]))
            elif found.kind == "repeat":
                repeat = self._repeat(found, prompt, again=repeat is not None)
                self._operators.append(Operator("repeat", found.column, number, repeat))
            else:
                reject(found.column, f"a second prompt, >>{found.text}: steps are joined by -->; quotes make it a text")
        return CommandStep(prompt, args, column, tuple(gates), repeat or 1, delegated)

    def _prompt(self, number: int, delegated: bool) -> str | None:
        reader = self._reader
        if not reader.text.strip():
            reject(1, "the command is empty; write words, or >>name of a prompt")
        if reader.at_end:
            reject(reader.column, _MISSING)
        found = self._supported(reader.operator())
        if found is not None:
            if found.kind != "prompt":
                reject(found.column, _MISSING)
            if not is_id(found.text):
                reject(found.column + 2, _NO_NAME.format(repr(found.text)))
            reader.at = found.end
            return found.text
        if reader.text.startswith(">>", reader.at):
            reject(reader.column + 2, _NO_NAME.format("''"))
        if number > 1 and reader.text[reader.at] in _HEADS:
            reject(
                reader.column, "modifiers, @framework and #style stand at the beginning of the command, for all steps"
            )
        if number > 1 or delegated:
            reject(reader.column, "each step of a chain starts with >>prompt; quotes make --> a text")
        return None

    def _repeat(self, found: OperatorToken, prompt: str | None, *, again: bool) -> int:
        if prompt is None:
            reject(found.column, f"* {found.text} repeats a step, which starts with >>prompt; quotes make it a text")
        if again:
            reject(found.column, "a step is repeated twice")
        if not found.text.isdigit() or len(found.text) > 9 or not 1 <= int(found.text) <= MOST_REPEATS:
            reject(found.column, f"a step is repeated a whole number of times, from 1 to {MOST_REPEATS}")
        self._reader.skip_space()
        if not self._reader.at_end and self._reader.operator() is None:
            reject(found.column, f"* {found.text} repeats a step and stands at its end; quotes make it a text")
        return int(found.text)

    def _supported(self, found: OperatorToken | None) -> OperatorToken | None:
        if found and found.kind == "parallel":
            reject(found.column, "running steps in parallel (+) is not supported; steps are joined by -->")
        if found and found.kind == "condition":
            reject(found.column, 'conditions (? "…" : >>prompt) are not supported')
        return found
