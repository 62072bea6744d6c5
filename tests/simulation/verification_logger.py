"""Values before and after each step of a simulation: a table in a file, and tagged lines on stdout."""

from datetime import datetime
from pathlib import Path
from typing import Any

COLUMNS = ("Field", "Before", "After", "Delta")
WIDEST = 40
"""Maximum characters of a cell; more would break the table."""


class VerificationLogger:
    """One table for one script: `logs/test/<YYYYmmdd_HHMMSS>/<script_name>.txt`, below the current folder or `base`."""

    def __init__(self, test_name: str, script_name: str, base: Path | None = None) -> None:
        self.test_name = test_name
        self.script_name = script_name
        self._begun = datetime.now()
        self._rows: list[tuple[str, str, str, str]] = []
        self.logs_dir = (base or Path.cwd()) / "logs" / "test" / self._begun.strftime("%Y%m%d_%H%M%S")

    @property
    def file(self) -> Path:
        return self.logs_dir / f"{self.script_name}.txt"

    def log_state(self, field: str, before: Any, after: Any, delta: Any = None) -> None:
        """Without a delta, the difference of two numbers is used."""
        if delta is None and _is_number(before) and _is_number(after):
            delta = round(after - before, 6)
        row = (field, _cell(before), _cell(after), "" if delta is None else _cell(delta))
        self._rows.append(row)
        print(f"[STATE] {self.test_name} {row[0]}: {row[1]} -> {row[2]}{f' ({row[3]})' if row[3] else ''}", flush=True)

    def finalize(self, description: str, status: str, result_msg: str) -> Path:
        """Writes the file and returns its path."""
        took = (datetime.now() - self._begun).total_seconds()
        self.logs_dir.mkdir(parents=True, exist_ok=True)
        lines = [
            f"Test: {self.test_name}",
            f"Script: {self.script_name}",
            f"Begun: {self._begun:%Y-%m-%d %H:%M:%S}, took {took:.2f} s",
            f"Description: {description}",
            "",
            *_table(self._rows),
            "",
            f"Status: {status}",
            f"Result: {result_msg}",
        ]
        self.file.write_text("\n".join(lines) + "\n")
        print(f"[{status}] {self.test_name}: {result_msg}", flush=True)
        print(f"[LOG] {self.file}", flush=True)
        return self.file


def _table(rows: list[tuple[str, str, str, str]]) -> list[str]:
    widths = [max(len(row[column]) for row in (COLUMNS, *rows)) for column in range(len(COLUMNS))]

    def line(cells: tuple[str, ...]) -> str:
        return " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    return [line(COLUMNS), "-+-".join("-" * width for width in widths), *(line(row) for row in rows)]


def _cell(value: Any) -> str:
    text = " ".join(str(value).split()).replace("|", "¦")
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
