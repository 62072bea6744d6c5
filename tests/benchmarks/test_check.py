"""`make bench-check` names the figure that got worse, with the stored figure and the new one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.check import main


def _rows(*figures: float) -> dict[str, tuple[Callable[[], float], float]]:
    left = list(figures)
    return {"graph": (lambda: left.pop(0), 1.1)}


def test_a_worse_figure_fails_and_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = tmp_path / "ratios.json"
    stored.write_text(json.dumps({"graph": 1.0}))
    assert main([], _rows(1.2, 1.3, 1.15), stored) == 1
    assert capsys.readouterr().out == "WORSE: graph: before 1, now 1.15, at most 1.1\n"


def test_a_figure_within_its_tolerance_passes_also_at_a_second_try(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "ratios.json"
    stored.write_text(json.dumps({"graph": 1.0}))
    assert main([], _rows(1.5, 1.05), stored) == 0
    assert capsys.readouterr().out == "ok: graph: before 1, now 1.05, at most 1.1\n"


def test_a_figure_that_is_not_stored_fails_until_it_is_written(tmp_path: Path) -> None:
    stored = tmp_path / "ratios.json"
    assert main([], _rows(1.0), stored) == 1
    assert main(["--update"], _rows(1.0), stored) == 0
    assert json.loads(stored.read_text()) == {"graph": 1.0}
    assert main([], _rows(1.0), stored) == 0
