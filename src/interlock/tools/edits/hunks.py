"""A change of one file as numbered unified-diff hunks, each of which can be left out."""

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from interlock.ports.tools import Hunk
from interlock.tools.edits.matching import Replaced, replaced
from interlock.tools.files.texts import lines

_CONTEXT = 3
_LOOK_BACK = 10_000  # lines of all hunks
_DEFINITION = re.compile(
    r"(?P<indent>\s*)(?:(?:export|default|public|private|protected|internal|static|abstract|async|pub(?:\(\w+\))?) +)*"
    r"(?:def|class|function|func|fn|impl|trait|struct|enum|interface|module|namespace|type) +\W?\w"
)
_NO_NEWLINE = "\\ No newline at end of file\n"


class FileChange(Struct, frozen=True):
    """Old and new lines of a change, and its replacements, one hunk each."""

    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    pieces: tuple[tuple[Replaced, ...], ...]
    earlier: int = 0  # number of hunks of earlier files in the same call

    def hunks(self) -> tuple[Hunk, ...]:
        look_back = max(_LOOK_BACK // len(self.pieces), 100) if self.pieces else 0
        return tuple(
            Hunk(number, self.path, self._header(piece, look_back), self._text(piece))
            for number, piece in enumerate(self.pieces, self.earlier + 1)
        )

    def applied(self, chosen: Collection[int]) -> str:
        """The old text with only these hunks applied."""
        out: list[str] = []
        at = 0
        for number, piece in enumerate(self.pieces, self.earlier + 1):
            if number in chosen:
                for part in piece:
                    out += self.old[at : part.old]
                    out += self.new[part.new : part.new_end]
                    at = part.old_end
        return "".join((*out, *self.old[at:]))

    def _bounds(self, piece: Sequence[Replaced]) -> tuple[int, int, int, int]:
        before = min(_CONTEXT, piece[0].old)
        after = min(_CONTEXT, len(self.old) - piece[-1].old_end)
        return (piece[0].old - before, piece[-1].old_end + after, piece[0].new - before, piece[-1].new_end + after)

    def _header(self, piece: Sequence[Replaced], look_back: int) -> str:
        a, a_end, b, b_end = self._bounds(piece)
        header = f"@@ -{_range(a, a_end)} +{_range(b, b_end)} @@"
        around = _enclosing(self.old, piece[0].old, look_back)
        return f"{header} {around}" if around else header

    def _text(self, piece: Sequence[Replaced]) -> str:
        a, a_end, _, _ = self._bounds(piece)
        out: list[str] = []
        at = a
        for part in piece:
            out += [_marked(" ", line) for line in self.old[at : part.old]]
            out += [_marked("-", line) for line in self.old[part.old : part.old_end]]
            out += [_marked("+", line) for line in self.new[part.new : part.new_end]]
            at = part.old_end
        out += [_marked(" ", line) for line in self.old[at:a_end]]
        return "".join(out)


def compare(path: str, old: str, new: str, earlier: int = 0) -> FileChange:
    before, after = lines(old), lines(new)
    pieces: list[list[Replaced]] = []
    for part in replaced(before, after):
        if pieces and part.old - pieces[-1][-1].old_end <= 2 * _CONTEXT:
            pieces[-1].append(part)
        else:
            pieces.append([part])
    return FileChange(path, tuple(before), tuple(after), tuple(tuple(piece) for piece in pieces), earlier)


def _range(start: int, end: int) -> str:
    """A range as diff writes it: an empty range names the line before it."""
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _marked(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"


def _enclosing(text: Sequence[str], at: int, look_back: int) -> str:
    """The nearest line above that opens an enclosing definition."""
    depth = _indent(text[at]) if at < len(text) and text[at].strip() else None
    for line in reversed(text[max(0, at - look_back) : at]):
        if (match := _DEFINITION.match(line)) and (depth is None or len(match["indent"]) < depth):
            return line.strip().rstrip("{: ")[:80]
    return ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
