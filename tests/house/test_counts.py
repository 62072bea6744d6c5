"""A number with a noun goes through `counted`, so that nobody reads "1 tickets"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "interlock"
NOUNS = (
    *("tickets", "files", "tracks", "approvals", "attempts", "tests", "lines", "events", "calls", "questions", "rows"),
    *("checkpoints", "discussions", "commits", "workers", "gates", "hunks", "notes", "models", "turns", "messages"),
    *("commands", "folders", "entries", "errors", "warnings", "epics", "edits", "changes", "steps", "rounds", "tools"),
)
NO_NUMBERS = {"program", "call.name", "ticket.assigned_to"}
"""Values that are words, before a command or a verb."""
PLURAL = re.compile(rf" (?:more )?(?:{'|'.join(NOUNS)})\b")


def plurals(source: str) -> Iterator[int]:
    """The lines where a computed number stands before a plural noun. A constant in capitals is never 1."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, noun in zip(node.values, node.values[1:], strict=False):
            if not isinstance(number, ast.FormattedValue) or not isinstance(noun, ast.Constant):
                continue
            value = ast.unparse(number.value)
            if value in NO_NUMBERS or value.rpartition(".")[2].isupper():
                continue
            if PLURAL.match(str(noun.value)):
                yield node.lineno


def test_the_check_finds_a_plural_after_a_number() -> None:
    source = 'a = f"{n:,} tickets"\nb = f"{len(x)} more files"\nc = f"at most {MOST} files"\nd = f"{n} ticket"\n'
    assert list(plurals(source)) == [1, 2]


def test_no_number_stands_before_a_fixed_plural() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line in plurals(path.read_text())
    ]
    assert found == []
