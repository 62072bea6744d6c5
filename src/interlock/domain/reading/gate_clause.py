"""Reads and writes a gate clause, the text after `::`: for example `verify:"npm test" :fast max:3`."""

import re
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.reading.command_tokens import Reader, Token, quoted, reject
from interlock.domain.values.gates import PRESETS, Gate
from interlock.domain.values.ids import is_id
from interlock.errors import Rejected

MOST_ATTEMPTS = 1_000


class Criteria(Struct, frozen=True):
    """A gate that a model judges; it may have a name."""

    text: str
    name: str | None = None


class LibraryGate(Struct, frozen=True):
    """The name of a gate that the library defines in a file."""

    name: str


AnyGate = Gate | Criteria | LibraryGate

_CLAUSE = re.compile(r'\s*(?:$|:|"|verify\s*(?:[:"]|$)|[A-Za-z][\w-]*\s*:\s*")')
_WHOLE = re.compile(r"[0-9]{1,9}")
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_OPTIONS = {"loop": "true", "max": "3", "timeout": "60", "stdin": "answer", "flaky": "true"}  # with an example of each


def is_clause(text: str) -> bool:
    """Whether a text is written as a clause; otherwise it is a plain shell command."""
    return _CLAUSE.match(text) is not None


def parse_clause(text: str) -> Gate:
    """A ticket's gate: a shell command or criteria. Raises Rejected with a message that ends in the column."""
    reader = Reader(text)
    reader.skip_space()
    column = reader.column
    gate = read_gate(reader)
    if isinstance(gate, LibraryGate):
        reject(column, f'a ticket names no gate of a file ({gate.name}); write verify:"command", or criteria in quotes')
    if isinstance(gate, Criteria):
        gate = as_gate(gate)
    if not reader.at_end:
        reject(reader.column, "a ticket's gate ends here; each gate is an item of its own")
    return gate


def as_gate(criteria: Criteria) -> Gate:
    return Gate("", criteria=criteria.text, name=criteria.name)


def write_clause(gate: Gate) -> str:
    """The clause of this gate: `parse_clause(write_clause(gate)) == gate`."""
    if gate.cwd is not None or gate.env or gate.judges:
        raise Rejected("a gate with a 'cwd', an 'env' or 'judges' of its own is written as an object, not after '::'")
    if gate.criteria is not None:
        return f"{gate.name}:{quoted(gate.criteria)}" if gate.name else quoted(gate.criteria)
    parts = [f"verify:{quoted(gate.command)}"]
    if gate.preset is not None:
        parts.append(f":{gate.preset}")
    if gate.loop:
        parts.append("loop:true")
    if gate.max_attempts is not None:
        parts.append(f"max:{gate.max_attempts}")
    if gate.timeout_s is not None:
        seconds = int(gate.timeout_s) if gate.timeout_s == int(gate.timeout_s) else gate.timeout_s
        parts.append(f"timeout:{seconds}")
    if gate.stdin is not None:
        parts.append(f"stdin:{gate.stdin}")
    if gate.flaky:
        parts.append("flaky:true")
    return " ".join(parts)


def read_gate(reader: Reader) -> AnyGate:
    """A gate with its own options, up to the next operator or the end."""
    first = reader.token()
    match first.kind:
        case "end":
            reject(first.column, "there is no gate here")
        case "colon":
            reject(first.column, 'a gate starts with verify:"command", not with a colon')
        case "text":
            return _without_options(reader, _criteria(first, None))
        case _:
            pass
    if first.text == "verify":
        if reader.token().kind != "colon":
            reject(first.column, 'verify needs a command in quotes: verify:"command"')
        command = reader.token()
        if command.kind != "text":
            reject(command.column, 'the command of verify stands in quotes: verify:"command"')
        return _options(reader, Gate(command.text))
    if not is_id(first.text):
        reject(first.column, f"{first.text!r} is no name of a gate, and criteria stand in quotes")
    if not reader.text.startswith(":", reader.at):
        return _without_options(reader, LibraryGate(first.text))
    reader.token()
    criteria = reader.token()
    if criteria.kind != "text":
        reject(criteria.column, f'the criteria of {first.text} stand in quotes: {first.text}:"text"')
    return _without_options(reader, _criteria(criteria, first.text))


def _criteria(token: Token, name: str | None) -> Criteria:
    if not token.text.strip():
        reject(token.column, "the criteria are empty")
    return Criteria(token.text, name)


def _without_options(reader: Reader, gate: Criteria | LibraryGate) -> AnyGate:
    """The gate itself. Raises Rejected if options follow: only verify has options."""
    spaced = reader.skip_space()
    if not reader.at_end and not (spaced and reader.operator()):
        reject(
            reader.column, "after this gate comes another (::), the next step (-->) or nothing; only verify has options"
        )
    return gate


def _options(reader: Reader, gate: Gate) -> Gate:
    seen: set[str] = set()
    while True:
        spaced = reader.skip_space()
        if spaced and reader.operator():
            return gate
        token = reader.token()
        if token.kind == "end":
            return gate
        if token.kind == "colon":
            name, changed = "a preset", _preset(reader, gate)
        elif token.kind == "word" and spaced:
            name, changed = f"'{token.text}'", _option(reader, gate, token)
        else:
            reject(token.column, "after the command come options, each after a space, such as max:3 or :fast")
        if name in seen:
            reject(token.column, f"{name} is given twice")
        seen.add(name)
        gate = changed


def _preset(reader: Reader, gate: Gate) -> Gate:
    token = reader.token()
    if token.kind != "word" or token.text not in PRESETS:
        reject(token.column, f"after a colon comes a preset: {', '.join(PRESETS)}")
    return replace(gate, preset=token.text)


def _option(reader: Reader, gate: Gate, name: Token) -> Gate:
    if name.text not in _OPTIONS:
        close = get_close_matches(name.text, _OPTIONS, n=1)
        meant = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(_OPTIONS)}"
        reject(name.column, f"no option {name.text!r}{meant}")
    colon, value = reader.token(), reader.token()
    if colon.kind != "colon":
        reject(colon.column, f"{name.text} needs a value, as in {name.text}:{_OPTIONS[name.text]}")
    content = value.text if value.kind == "word" else ""
    if name.text in ("loop", "flaky"):
        if content not in ("true", "false"):
            reject(value.column, f"{name.text} is true or false")
        return replace(gate, **{name.text: content == "true"})
    if name.text == "stdin":
        if content != "answer":
            reject(value.column, "stdin is answer: the gate reads the worker's last answer")
        return replace(gate, stdin="answer")
    if name.text == "max":
        if not _WHOLE.fullmatch(content) or not 1 <= int(content) <= MOST_ATTEMPTS:
            reject(value.column, f"max is a whole number from 1 to {MOST_ATTEMPTS}")
        return replace(gate, max_attempts=int(content))
    if not _SECONDS.fullmatch(content) or float(content) == float("inf"):
        reject(value.column, "timeout is a number of seconds")
    return replace(gate, timeout_s=float(content))
