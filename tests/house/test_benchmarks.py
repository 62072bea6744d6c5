"""The benchmarks build the engine with their own crews: a change of a port must not break them unnoticed."""

import importlib
from pathlib import Path
from typing import Any


def test_the_scheduling_benchmark_runs(tmp_path: Path) -> None:
    engine: Any = importlib.import_module("benchmarks.engine")
    assert engine.run(str(tmp_path), 30)["rate"] > 0


def test_the_approval_benchmark_runs(tmp_path: Path) -> None:
    approval: Any = importlib.import_module("benchmarks.approval")
    assert approval.answers(str(tmp_path), 3)
