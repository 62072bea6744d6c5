"""The table of real projects (`corpus.toml`) as typed values."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

import msgspec

TABLE = Path(__file__).with_name("corpus.toml")


class Vendored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dependencies committed with the project, taken from Debian packages that ship source."""

    packages: tuple[str, ...]
    path: str
    """The folder inside those packages that is copied."""
    into: str = "vendor"
    """The folder of the project that receives it."""


class Project(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One project: where its source comes from, and what its own tests are known to need."""

    name: str
    version: str
    ecosystem: Literal["python", "npm", "rust", "go", "java", "c"]
    source: Literal["sdist", "npm", "debian-source", "debian-package"]
    package: str
    set_up: str
    """The commands that worked by hand, for the record; the trial must find its own."""
    test: str
    passes: int
    """The fewest tests that pass when the suite runs completely."""
    needs: tuple[str, ...] = ()
    """Debian packages that the tests need besides the interpreter of the ecosystem."""
    size_mb: int = 0
    expected: Literal["passes", "explained"] = "passes"
    """`explained`: the suite cannot pass here; the trial must say the reason in `notes`."""
    path: str = ""
    """For a Debian package: the folder inside it that is the project."""
    vendor: Vendored | None = None
    files: Mapping[str, str] = {}
    notes: str


def corpus(table: Path = TABLE) -> dict[str, Project]:
    rows = cast("list[object]", tomllib.loads(table.read_text(encoding="utf-8"))["project"])
    projects = msgspec.convert(rows, list[Project])
    return {project.name: project for project in projects}
