r"""The tokens of commands and gates, each with its column.

There are two modes. After `::` a gate consists of words, colons and quoted texts. Everywhere else is prose: an operator
counts only at the beginning of a word, and a quote only where a quoted text can begin. So `don't`, `std::vector` and
`a->b` are plain words.

In a quoted text every character stands for itself, backslashes too, with one exception: in backslashes directly
before a quote of the enclosing kind, `\\` is one backslash and `\"` is the quote. So any text can be written, and
`\n`, `'\''` or a regular expression need no escapes.
"""

import re
from typing import Literal, NamedTuple, NoReturn, cast

from interlock.errors import Rejected

Kind = Literal["word", "text", "colon", "space", "end"]
OperatorKind = Literal["chain", "delegate", "gate", "prompt", "repeat", "parallel", "condition"]


class Token(NamedTuple):
    kind: Kind
    text: str  # a quoted text without quotes and escapes
    column: int  # from 1


class OperatorToken(NamedTuple):
    kind: OperatorKind
    text: str  # the name of a prompt, the number of a repeat
    column: int
    end: int


_QUOTED = r"""
        "(?P<double>(?:[^"\\]|\\.)*+)"
      | '(?P<single>(?:[^'\\]|\\.)*+)'
    """
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
      | (?P<colon>:)
      | (?P<word>[^\s:"']+)
      | {_QUOTED}
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATOR = re.compile(
    r"""(?P<chain>-->)
      | (?P<delegate>==>)
      | (?P<gate>::)
      | >>(?P<prompt>\S+)
      | \*\s*(?P<repeat>[-+]?[0-9][0-9.,]*)(?!\S)
      | (?P<parallel>\+)(?=\s*>>)
      | (?P<condition>\?)(?=\s*["'])
    """,
    re.VERBOSE,
)
_QUOTED_TEXT = re.compile(_QUOTED, re.VERBOSE | re.DOTALL)
_PROSE = re.compile(r"""(?P<space>\s+)|\\(?P<escaped>["'])|(?P<opening>[=:(\[{,])|[^\s"'\\=:(\[{,]+|.""")
_ESCAPES = {quote: re.compile(rf"(\\*)\\{quote}") for quote in ('"', "'")}
_BACKSLASHES_AT_END = re.compile(r"\\*\Z")


class Reader:
    """A position in a text; each method reads from there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def column(self) -> int:
        return self.at + 1

    @property
    def at_end(self) -> bool:
        return self.at == len(self.text)

    def token(self) -> Token:
        """The next token of a gate. Raises Rejected at a quote that is never closed."""
        at = self.at
        if self.at_end:
            return Token("end", "", at + 1)
        match = _TOKEN.match(self.text, at)
        if match is None:
            never_closed(at + 1, self.text[at])
        self.at = match.end()
        kind = str(match.lastgroup)
        if kind in ("double", "single"):
            return Token("text", _unescaped(match[kind], self.text[at]), at + 1)
        return Token(cast("Kind", kind), match[kind], at + 1)

    def skip_space(self) -> bool:
        begin = self.at
        while not self.at_end and self.text[self.at].isspace():
            self.at += 1
        return self.at > begin

    def operator(self) -> OperatorToken | None:
        """The operator at this position, or None. The position stays. Valid only where a word can begin."""
        match = _OPERATOR.match(self.text, self.at)
        if match is None:
            return None
        kind = str(match.lastgroup)
        return OperatorToken(cast("OperatorKind", kind), match[kind], self.at + 1, match.end())

    def word(self) -> str:
        """The text up to the next space."""
        begin = self.at
        while not self.at_end and not self.text[self.at].isspace():
            self.at += 1
        return self.text[begin : self.at]

    def prose(self) -> str:
        """The text up to the next operator, without backslashes that escape a quote."""
        parts: list[str] = []
        new_word = may_open = True
        while not self.at_end and not (new_word and self.operator()):
            if may_open and self.text[self.at] in "\"'":
                parts.append(self._quoted_in_prose())
                new_word = may_open = False
                continue
            match = cast("re.Match[str]", _PROSE.match(self.text, self.at))
            parts.append(match["escaped"] or match[0])
            new_word = match["space"] is not None
            may_open = new_word or match["opening"] is not None
            self.at = match.end()
        return "".join(parts).strip()

    def _quoted_in_prose(self) -> str:
        match = _QUOTED_TEXT.match(self.text, self.at)
        quote = self.text[self.at]
        if match is None:
            never_closed(self.column, quote, f"; an apostrophe is written \\{quote} there" if quote == "'" else "")
        if quote == "'" and self.text[match.end() : match.end() + 1].isalnum():
            reject(
                self.column, "the quote ' is closed inside a word; an apostrophe at a word's beginning is written \\'"
            )
        self.at = match.end()
        return match[0]


def tokens(text: str) -> list[Token]:
    """All tokens of a text, spaces included."""
    reader = Reader(text)
    result: list[Token] = []
    while (token := reader.token()).kind != "end":
        result.append(token)
    return result


def quoted(text: str) -> str:
    """The text in double quotes, or in single quotes if that needs no escape."""
    quote = "'" if '"' in text and "'" not in text else '"'
    escaped = re.sub(rf"(\\*){quote}", rf"\1\1\\{quote}", text)
    return f"{quote}{_BACKSLASHES_AT_END.sub(lambda end: end[0] * 2, escaped, count=1)}{quote}"


def never_closed(column: int, quote: str, hint: str = "") -> NoReturn:
    reject(column, f"the quote {quote} is never closed{hint}")


def reject(column: int, problem: str) -> NoReturn:
    raise Rejected(f"{problem} (column {column})")


def _unescaped(body: str, quote: str) -> str:
    """The text between the quotes, without escapes."""
    inner = _ESCAPES[quote].sub(lambda run: run[1][: len(run[1]) // 2] + quote, body)
    return _BACKSLASHES_AT_END.sub(lambda end: end[0][: len(end[0]) // 2], inner, count=1)
