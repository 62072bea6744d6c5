r"""One gate as it is written after `::`, for example `verify:"npm test" :fast max:3`.

Inside the quotes every character stands for itself, backslashes too, with one exception: in backslashes directly
before a quote of the enclosing kind, `\\` is one backslash and `\"` is the quote. So any text can be written, and
`\n`, `'\''` or a regular expression arrive as they stand.
"""

import re
from difflib import get_close_matches
from typing import Literal, NamedTuple, NoReturn, cast

from msgspec.structs import replace

from interlock.domain.gates import PRESETS, Gate
from interlock.errors import Rejected

MOST_ATTEMPTS = 1_000

Kind = Literal["word", "text", "colon", "space"]


class Token(NamedTuple):
    kind: Kind
    text: str  # of a quoted text: what it stands for
    column: int  # from 1


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<colon>:)
      | (?P<word>[^\s:"']+)
      | "(?P<double>(?:[^"\\]|\\.)*+)"
      | '(?P<single>(?:[^'\\]|\\.)*+)'
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {quote: re.compile(rf"(\\*)\\{quote}") for quote in ('"', "'")}
_BACKSLASHES_AT_END = re.compile(r"\\*\Z")
_WHOLE = re.compile(r"[0-9]{1,9}")
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_OPTIONS = {"loop": "true", "max": "3", "timeout": "60"}  # with an example of each


def tokens(text: str) -> list[Token]:
    """Words, quoted texts, colons and the space between; raises Rejected at a quote that is never closed."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            _reject(at + 1, f"the quote {text[at]} is never closed")
        kind = str(match.lastgroup)
        body = match[kind]
        if kind in ("double", "single"):
            found.append(Token("text", _unescaped(body, text[at]), at + 1))
        else:
            found.append(Token(cast("Kind", kind), body, at + 1))
        at = match.end()
    return found


def parse_clause(text: str) -> Gate:
    """A shell verification; raises Rejected with a sentence that ends in the column."""
    return _Parser(text).gate()


def write_clause(gate: Gate) -> str:
    """The clause that means this gate: `parse_clause(write_clause(gate)) == gate`."""
    if gate.cwd is not None or gate.env:
        raise Rejected("a gate with a 'cwd' or an 'env' of its own is written as an object, not after '::'")
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
    return " ".join(parts)


def quoted(text: str) -> str:
    """In double quotes, or in single ones where that needs no escape."""
    quote = "'" if '"' in text and "'" not in text else '"'
    escaped = re.sub(rf"(\\*){quote}", rf"\1\1\\{quote}", text)
    return f"{quote}{_BACKSLASHES_AT_END.sub(lambda end: end[0] * 2, escaped, count=1)}{quote}"


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._end = Token("space", "", len(text) + 1)

    def gate(self) -> Gate:
        self._skip_space()
        first = self._next()
        if first is self._end:
            _reject(first.column, "there is no gate here")
        if first.kind == "colon":
            _reject(first.column, 'a gate starts with verify:"command", not with a colon')
        if first.kind == "text" or first.text != "verify":
            _reject(
                first.column,
                'criteria gates need a model and are not supported on tickets yet; write verify:"command"',
            )
        if self._next().kind != "colon":
            _reject(first.column, 'verify needs a command in quotes: verify:"command"')
        command = self._next()
        if command.kind != "text":
            _reject(command.column, 'the command of verify stands in quotes: verify:"command"')
        return self._options(Gate(command.text))

    def _options(self, gate: Gate) -> Gate:
        seen: set[str] = set()
        while True:
            spaced = self._skip_space()
            token = self._next()
            if token is self._end:
                return gate
            if token.kind == "colon":
                name, changed = "a preset", self._preset(gate)
            elif token.kind == "word" and spaced:
                name, changed = f"'{token.text}'", self._option(gate, token)
            else:
                _reject(token.column, "after the command come options, each after a space, such as max:3 or :fast")
            if name in seen:
                _reject(token.column, f"{name} is given twice")
            seen.add(name)
            gate = changed

    def _preset(self, gate: Gate) -> Gate:
        token = self._next()
        if token.kind != "word" or token.text not in PRESETS:
            _reject(token.column, f"after a colon comes a preset: {', '.join(PRESETS)}")
        return replace(gate, preset=token.text)

    def _option(self, gate: Gate, name: Token) -> Gate:
        if name.text not in _OPTIONS:
            close = get_close_matches(name.text, _OPTIONS, n=1)
            meant = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(_OPTIONS)}"
            _reject(name.column, f"no option {name.text!r}{meant}")
        colon, value = self._next(), self._next()
        if colon.kind != "colon":
            _reject(colon.column, f"{name.text} needs a value, as in {name.text}:{_OPTIONS[name.text]}")
        said = value.text if value.kind == "word" else ""
        if name.text == "loop":
            if said not in ("true", "false"):
                _reject(value.column, "loop is true or false")
            return replace(gate, loop=said == "true")
        if name.text == "max":
            if not _WHOLE.fullmatch(said) or not 1 <= int(said) <= MOST_ATTEMPTS:
                _reject(value.column, f"max is a whole number from 1 to {MOST_ATTEMPTS}")
            return replace(gate, max_attempts=int(said))
        if not _SECONDS.fullmatch(said) or float(said) == float("inf"):
            _reject(value.column, "timeout is a number of seconds")
        return replace(gate, timeout_s=float(said))

    def _skip_space(self) -> bool:
        spaced = self._at < len(self._tokens) and self._tokens[self._at].kind == "space"
        self._at += spaced
        return spaced

    def _next(self) -> Token:
        if self._at == len(self._tokens):
            return self._end
        self._at += 1
        return self._tokens[self._at - 1]


def _unescaped(body: str, quote: str) -> str:
    """`body` is what stands between the quotes."""
    inner = _ESCAPES[quote].sub(lambda run: run[1][: len(run[1]) // 2] + quote, body)
    return _BACKSLASHES_AT_END.sub(lambda end: end[0][: len(end[0]) // 2], inner, count=1)


def _reject(column: int, problem: str) -> NoReturn:
    raise Rejected(f"{problem} (column {column})")
