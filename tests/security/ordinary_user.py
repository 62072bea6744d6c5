"""Runs a module of the tests as an ordinary user, for tests that are started by root."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import interlock

ORDINARY = 61_234  # no account has this number
_ROOT = Path(__file__).parents[2]


def as_ordinary_user(place: Path, module: str, *words: str, timeout: float = 110) -> str:
    """The output of `python -m module words`; `place` becomes the user's own folder. Fails if the module fails."""
    os.chown(place, ORDINARY, ORDINARY)
    packages = {Path(package.__path__[0]).parent for package in (interlock, msgspec)}
    env = {
        "HOME": str(place),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": ":".join(map(str, (_ROOT, *packages))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    become = ("setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--bounding-set=-all")
    argv = (*become, python_for_everybody(), "-m", module, *words)
    done = subprocess.run(argv, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python_for_everybody() -> str:
    """An interpreter of this version that an ordinary user can run."""
    named = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for path in (os.path.realpath(sys.executable), f"/usr/bin/{named}", f"/usr/local/bin/{named}"):
        if os.path.exists(path) and all(
            os.stat(folder).st_mode & stat.S_IXOTH for folder in (path, *map(str, Path(path).parents))
        ):
            return path
    pytest.skip(f"no {named} here that an ordinary user can run")
