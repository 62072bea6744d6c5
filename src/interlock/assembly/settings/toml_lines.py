"""Finds the line of each key in a TOML text: the standard library's parser keeps no positions.

The text must be valid TOML; this module only scans it and counts lines.
"""

import re
import tomllib

Path = tuple[str, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_SPACE = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
# The end of a string of each kind, from just after its opening quote.
_STRING_END = {
    '"""': re.compile(r'(?:\\.|(?!""").)*"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:(?!''').)*'{3,5}", re.DOTALL),
    '"': re.compile(r'(?:\\.|[^"\\])*"'),
    "'": re.compile(r"[^']*'"),
}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def key_lines(text: str) -> dict[Path, int]:
    """Maps every key, table and array of tables to the line, from 1, of its first occurrence."""
    return _Walk(text).lines


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        table: Path = ()
        while self._skip(_BLANK) < len(text):
            if text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        if match := pattern.match(self.text, self.at):
            self.at = match.end()
        return self.at

    def _header(self) -> Path:
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        start = self.at
        self.at += brackets
        path = self._key((), start)
        self.at += brackets
        return path

    def _pair(self, table: Path) -> None:
        path = self._key(table, self.at)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self, table: Path, start: int) -> Path:
        """Reads a dotted key and records its line for each new prefix."""
        line = self.text.count("\n", 0, start) + 1
        path = table
        while True:
            self._skip(_SPACE)
            path = (*path, self._key_part())
            self.lines.setdefault(path, line)
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return path
            self.at += 1

    def _key_part(self) -> str:
        start = self.at
        if self.text[start] in "\"'":
            self._string()
            quoted = self.text[start : self.at]
            return tomllib.loads(f"key = {quoted}")["key"]
        self._skip(_BARE_KEY)
        return self.text[start : self.at]

    def _string(self) -> None:
        triple = self.text[self.at : self.at + 3]
        quote = triple if triple in _STRING_END else self.text[self.at]
        self.at += len(quote)
        self._skip(_STRING_END[quote])

    def _value(self, path: Path) -> None:
        match self.text[self.at]:
            case '"' | "'":
                self._string()
            case "[":
                self._enclosed(path, "]")
            case "{":
                self._enclosed(path, "}")
            case _:
                self._skip(_SCALAR)

    def _enclosed(self, path: Path, end: str) -> None:
        self.at += 1
        while self.text[self._skip(_BLANK)] != end:
            if self.text[self.at] == ",":
                self.at += 1
            elif end == "}":
                self._pair(path)
            else:
                self._value(path)
        self.at += 1
