"""The SDK of the protocol is imported by `interlock acp` alone, and late."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "interlock.cli.main",
        "interlock.cli.words.parser",
        "interlock.cli.serve.gui",
        "interlock.assembly.window",
        "interlock.cli.serve.serve",
        "interlock.cli.work.run",
        "interlock.cli.serve.acp",
        "interlock.cli_workers.acp_session",
    ],
)
def test_the_sdk_is_not_imported_with(module: str) -> None:
    script = f"import sys, {module}\nsys.exit('acp' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", script), check=False).returncode == 0
