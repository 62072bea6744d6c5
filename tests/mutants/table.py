"""The table of planted bugs: file, exact old text, new text, class of the mistake, and the nearest tests.

Each file in `tables/` has the nearest tests of its mutants at the top. A mutant may name other tests, and it may have
`explained`: why no test can notice it.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = Path("src/interlock")
TABLES = Path(__file__).parent / "tables"

CLASSES = (
    "durability",  # something that was promised is not on the disk after a power cut
    "order",  # two steps are exchanged, or one is seen too early
    "recovery",  # something is forgotten by the next process
    "money",  # a cost, a price or a limit is wrong
    "trust",  # something is allowed, shown or readable that must not be
    "merging",  # work is lost, merged twice, or reported as merged
    "limits",  # a bound is off by one or not applied
    "cases",  # a forgotten case, a wrong default, an exchanged condition
)


@dataclass(frozen=True)
class Mutant:
    file: str
    kind: str
    old: str
    new: str
    tests: tuple[str, ...]
    explained: str = ""

    @property
    def path(self) -> Path:
        return SOURCE / self.file

    @property
    def line(self) -> int:
        """The first line of the old text; 0 if the text is not there."""
        before, found, _ = (ROOT / self.path).read_text().partition(self.old)
        return before.count("\n") + 1 if found else 0

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def planted(self, source: str) -> str:
        """The source with the bug. Raises ValueError unless the old text is there exactly once."""
        if (count := source.count(self.old)) != 1:
            raise ValueError(f"{self.file}: the old text is there {count} times, not once: {self.old!r}")
        return source.replace(self.old, self.new)


def read_table(folder: Path = TABLES) -> list[Mutant]:
    """All mutants, in the order of the files."""
    return [mutant for file in sorted(folder.glob("*.toml")) for mutant in _read(file)]


def _read(file: Path) -> list[Mutant]:
    data = tomllib.loads(file.read_text())
    usual = tuple(data["tests"])
    return [
        Mutant(
            row["file"],
            row["class"],
            row["old"],
            row["new"],
            tuple(row.get("tests", usual)),
            row.get("explained", ""),
        )
        for row in data["mutant"]
    ]


def problems_of(mutants: list[Mutant]) -> list[str]:
    """What is wrong with the table itself, as sentences."""
    found: list[str] = []
    seen: set[tuple[str, str, str]] = set()
    for mutant in mutants:
        where = f"{mutant.file}: {mutant.old.strip()[:60]!r}"
        try:
            changed = mutant.planted((ROOT / mutant.path).read_text())
            compile(changed, mutant.file, "exec", dont_inherit=True)
        except (ValueError, OSError) as error:
            found.append(str(error))
        except SyntaxError as error:
            found.append(f"{where} does not compile when planted: {error}")
        if mutant.old == mutant.new:
            found.append(f"{where} changes nothing")
        if mutant.kind not in CLASSES:
            found.append(f"{where} has the unknown class {mutant.kind!r}")
        if (key := (mutant.file, mutant.old, mutant.new)) in seen:
            found.append(f"{where} is there twice")
        seen.add(key)
        found += [f"{where} names missing tests: {test}" for test in mutant.tests if not (ROOT / test).exists()]
    return found
