"""A scratch copy of the repository with its own environment: bugs are planted there, never in the work tree.

The environment is an empty one that finds the copy's source first and then the installed packages. Processes that a
test starts with `sys.executable` find the copy as well.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from tests.mutants.table import ROOT, Mutant

_USUAL = (
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=60", "--no-header", "--tb=line"),
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
)
Outcome = Literal["noticed", "not noticed", "timed out"]
_COPIED = ("src", "tests", "docs", "scripts", "benchmarks")
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "goldens", "screenshots", "*.pyc")


@dataclass(frozen=True)
class Run:
    outcome: Outcome
    seconds: float
    output: str


class Scratch:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=_NOT_COPIED)
        for file in (path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".coverage")):
            shutil.copy2(file, folder / file.name)
        for name in ("goldens", "screenshots"):
            for kept in ROOT.glob(f"*/**/{name}"):
                target = folder / kept.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(kept)
        self._make_environment()

    def _make_environment(self) -> None:
        environment = self.folder / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        packages = next(environment.glob("lib/python3*/site-packages"))
        (packages / "scratch.pth").write_text(f"{self.folder / 'src'}\n{sysconfig.get_path('purelib')}\n")
        for script in Path(sys.executable).parent.iterdir():
            target = environment / "bin" / script.name
            if target.exists() or not script.is_file():
                continue
            content = script.read_bytes()
            target.write_bytes(content.replace(os.fsencode(sys.executable), os.fsencode(self.python), 1))
            target.chmod(0o755)

    @property
    def python(self) -> str:
        return str(self.folder / ".venv" / "bin" / "python")

    def plant(self, mutant: Mutant) -> None:
        self._write(mutant.path, mutant.planted((ROOT / mutant.path).read_text()))

    def restore(self, mutant: Mutant) -> None:
        self._write(mutant.path, (ROOT / mutant.path).read_text())

    def _write(self, path: Path, content: str) -> None:
        target = self.folder / path
        target.write_text(content)
        # Python recognises a changed source by its size and its second: neither may have changed.
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink()

    def run(self, tests: tuple[str, ...], timeout_s: float) -> Run:
        """Runs these tests up to the first failure. Tests that do not end count as noticed: they hang."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        output = self.folder / "output"
        started = time.monotonic()
        order = {"arguments": [*_USUAL, *tests], "output": str(output), "timeout_s": timeout_s}
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline().decode().strip()
        if not answer:
            raise RuntimeError("the process that runs the tests has ended")
        outcome: Outcome = "timed out" if answer == "timed out" else "not noticed" if answer == "0" else "noticed"
        return Run(outcome, time.monotonic() - started, output.read_text(errors="replace"))

    @cached_property
    def _process(self) -> "subprocess.Popen[bytes]":
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        env["PATH"] = f"{self.folder / '.venv' / 'bin'}:{env.get('PATH', os.defpath)}"
        return subprocess.Popen(
            [self.python, "-m", "tests.mutants.zygote"],
            cwd=self.folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self) -> None:
        process = self._process
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
