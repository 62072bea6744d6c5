"""A command as it is typed: `[modifiers] [@framework] [#style] >>prompt args [:: gate]…`, steps joined by `-->`.

The parser looks nothing up: the caller checks whether a prompt or gate of that name exists. Text that could be meant
as an operator and is not a valid one is rejected with its column.
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
    """One operator as it stands in the text; `step` counts from 1; 0 means all steps."""

    type: OperatorType
    column: int
    step: int
    value: str | int | AnyGate | None = None


class CommandStep(Struct, frozen=True):
    """One prompt with its arguments. `prompt` is None if the text itself is the prompt."""

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
    """The parsed command. Raises Rejected with a message that ends in the column."""
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
        named = {operator.type: str(operator.value) for operator in self._operators}
        return CommandLine(
            steps=tuple(steps),
            modifiers=tuple(str(operator.value) for operator in self._operators if operator.type == "modifier"),
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
                if any(operator.type == kind for operator in self._operators):
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
        others = [str(operator.value) for operator in self._operators if operator.type == "modifier"]
        if name in others:
            reject(column, f"%{name} is given twice")
        if name != "judge" and (other := next((modifier for modifier in others if modifier != "judge"), None)):
            reject(column, f"%{other} and %{name} contradict each other")

    def _joined(self, step: int, *kinds: Literal["chain", "delegate"]) -> bool:
        """Reads the operator before a step; True if it delegates the step to a sub-agent."""
        token = self._reader.operator()
        if token is None or token.kind not in kinds:
            return False
        self._reader.at = token.end
        self._operators.append(Operator(token.kind, token.column, step))
        return token.kind == "delegate"

    def _step(self, number: int, delegated: bool) -> CommandStep:
        reader = self._reader
        reader.skip_space()
        column = reader.column
        prompt = self._prompt(number, delegated)
        args = reader.prose()
        gates: list[AnyGate] = []
        repeat: int | None = None
        while (token := self._supported(reader.operator())) and token.kind not in ("chain", "delegate"):
            reader.at = token.end
            if token.kind == "gate":
                reader.skip_space()
                gates.append(read_gate(reader))
                self._operators.append(Operator("gate", token.column, number, gates[-1]))
            elif token.kind == "repeat":
                repeat = self._repeat(token, prompt, again=repeat is not None)
                self._operators.append(Operator("repeat", token.column, number, repeat))
            else:
                reject(token.column, f"a second prompt, >>{token.text}: steps are joined by -->; quotes make it a text")
        return CommandStep(prompt, args, column, tuple(gates), repeat or 1, delegated)

    def _prompt(self, number: int, delegated: bool) -> str | None:
        reader = self._reader
        if not reader.text.strip():
            reject(1, "the command is empty; write words, or >>name of a prompt")
        if reader.at_end:
            reject(reader.column, _MISSING)
        token = self._supported(reader.operator())
        if token is not None:
            if token.kind != "prompt":
                reject(token.column, _MISSING)
            if not is_id(token.text):
                reject(token.column + 2, _NO_NAME.format(repr(token.text)))
            reader.at = token.end
            return token.text
        if reader.text.startswith(">>", reader.at):
            reject(reader.column + 2, _NO_NAME.format("''"))
        if number > 1 and reader.text[reader.at] in _HEADS:
            reject(
                reader.column, "modifiers, @framework and #style stand at the beginning of the command, for all steps"
            )
        if number > 1 or delegated:
            reject(reader.column, "each step of a chain starts with >>prompt; quotes make --> a text")
        return None

    def _repeat(self, token: OperatorToken, prompt: str | None, *, again: bool) -> int:
        if prompt is None:
            reject(token.column, f"* {token.text} repeats a step, which starts with >>prompt; quotes make it a text")
        if again:
            reject(token.column, "a step is repeated twice")
        if not token.text.isdigit() or len(token.text) > 9 or not 1 <= int(token.text) <= MOST_REPEATS:
            reject(token.column, f"a step is repeated a whole number of times, from 1 to {MOST_REPEATS}")
        self._reader.skip_space()
        if not self._reader.at_end and self._reader.operator() is None:
            reject(token.column, f"* {token.text} repeats a step and stands at its end; quotes make it a text")
        return int(token.text)

    def _supported(self, token: OperatorToken | None) -> OperatorToken | None:
        if token and token.kind == "parallel":
            reject(token.column, "running steps in parallel (+) is not supported; steps are joined by -->")
        if token and token.kind == "condition":
            reject(token.column, 'conditions (? "…" : >>prompt) are not supported')
        return token
