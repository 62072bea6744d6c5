"""Colours of source code for a diff or a script, by Pygments. Only the colour of a letter depends on it."""

from collections.abc import Sequence
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Token
from pygments.util import ClassNotFound

MOST_LINES = 4_000
MOST_LETTERS = 200_000
_LONGEST = 400  # letters of a line: longer lines are data, and slow to read

Coloured = tuple[tuple[str, str], ...]
"""A line as pieces of text with the roles of their colours."""

_ROLES = (
    (Token.Comment, "faint"),
    (Token.Keyword, "planner"),
    (Token.Literal.String, "waiting"),
    (Token.Literal.Number, "accent"),
    (Token.Name.Function, "running"),
    (Token.Name.Class, "running"),
    (Token.Name.Decorator, "accent"),
    (Token.Name.Builtin, "accent"),
    (Token.Name.Tag, "running"),
    (Token.Name.Attribute, "accent"),
    (Token.Operator.Word, "planner"),
)


def coloured(path: str, lines: Sequence[str]) -> list[Coloured]:
    """One entry per line; without colours if the language is unknown or the text is too long."""
    plain = [((line, "text"),) if line else () for line in lines]
    size = sum(map(len, lines))
    if len(lines) > MOST_LINES or size > MOST_LETTERS or any(len(line) > _LONGEST for line in lines):
        return plain
    lexer = _lexer(path.rpartition("/")[2])
    if lexer is None:
        return plain
    rows: list[list[tuple[str, str]]] = [[]]
    for kind, text in lexer.get_tokens("\n".join(lines)):
        role = next((role for token, role in _ROLES if kind in token), "text")
        for number, piece in enumerate(str(text).split("\n")):
            if number:
                rows.append([])
            if piece:
                rows[-1].append((piece, role))
    if ["".join(text for text, _ in row) for row in rows[: len(lines)]] != list(lines):
        return plain  # a lexer changed the text: show the text
    return [tuple(row) for row in rows[: len(lines)]]


@lru_cache(64)
def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except (ClassNotFound, OSError, ValueError):
        return None
