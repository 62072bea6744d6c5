"""Textual is imported by `interlock tui` alone, and late."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "interlock.cli.main",
        "interlock.cli.words.parser",
        "interlock.cli.serve.tui.start",
        "interlock.cli.serve.gui",
        "interlock.cli.serve.serve",
        "interlock.cli.serve.acp",
        "interlock.cli.work.run",
        "interlock.cli.work.chat",
        "interlock.cli.records.status",
    ],
)
def test_textual_is_not_imported_with(module: str) -> None:
    script = f"import sys, {module}\nsys.exit('textual' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", script), check=False).returncode == 0
