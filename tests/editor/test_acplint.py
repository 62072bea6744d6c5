"""The linter of the protocol (acplint, from PyPI) against `interlock acp`. `make test-acp` installs it."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project

ROOT = Path(__file__).parents[2]
LINTER = os.environ.get("INTERLOCK_ACPLINT", "")
RULES = [
    rule("file", call("read_file", path="a.txt"), reply="Let me see."),
    rule("one\ntwo", reply="Three lines."),
    rule("", reply="Hello."),
]


@pytest.mark.skipif(not LINTER, reason="needs acplint: make test-acp")
@pytest.mark.timeout(300)
def test_the_linter_finds_no_fault(project: Project) -> None:
    words = [sys.executable, "-m", "tests.editor.acplint_shim", *project.argv("acp", *scripted(project, RULES))]
    agent = project.home / "agent"
    agent.write_text(f"#!/bin/sh\ncd {shlex.quote(str(ROOT))} && exec {shlex.join(words)}\n")
    agent.chmod(0o755)
    report = project.home / "report.json"
    options = ("--cwd", str(project.root), "--timeout", "30", "--output", "json", "--output-file", str(report))
    subprocess.run((LINTER, "--agent", str(agent), *options), env=project.env, check=False, timeout=280)
    tests = json.loads(report.read_text())["results"]
    assert len(tests) > 50
    assert [one for one in tests if one["status"] not in ("pass", "PASS", "passed")] == []
