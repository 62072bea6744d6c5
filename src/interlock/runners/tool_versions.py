"""The versions of the interpreters that a gate's command uses, and where they differ from the user's own.

A version is asked for once for each program file, inside the sandbox: the program may be the project's.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from interlock.ports.processes import Sandbox
from interlock.ports.workspaces import Workspace
from interlock.runners.shell_job import shell_job

_LONGEST = 60  # characters of a version
_WAIT_S = 10
# An interpreter, the words of a command that start it, and the option that prints its version.
_INTERPRETERS: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("python", "--version", frozenset(("python", "python3", "pytest", "py.test", "tox", "nox", "uv", "poetry", "pdm"))),
    ("node", "--version", frozenset(("node", "npm", "npx", "pnpm", "yarn", "jest", "vitest", "mocha", "ava"))),
    ("cargo", "--version", frozenset(("cargo",))),
    ("go", "version", frozenset(("go",))),
    ("java", "-version", frozenset(("java", "mvn", "mvnw", "gradle", "gradlew"))),
    ("ruby", "--version", frozenset(("ruby", "bundle", "rake", "rspec"))),
    ("php", "--version", frozenset(("php", "composer", "phpunit", "pest"))),
    ("cmake", "--version", frozenset(("cmake", "ctest"))),
)
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


class ToolVersions:
    """`project` is the user's folder; `path` are folders of programs in it, before those of PATH."""

    def __init__(self, sandbox: Sandbox, env: Mapping[str, str], project: str, path: Sequence[str] = ()) -> None:
        self._sandbox = sandbox
        self._env = env
        self._own_path = ":".join((*(os.path.join(project, folder) for folder in path), env.get("PATH", os.defpath)))
        self._project = project
        self._known: dict[tuple[str, str, int], str] = {}

    async def used(self, workspace: Workspace, command: str) -> tuple[str, ...]:
        """Such as `python 3.11.7`, or `node 20.1.0 (yours: 22.3.0)` where the user's shell has another."""
        words = {word.rpartition("/")[2] for word in re.split(r"[^\w./+-]+", command)}
        found: list[str] = []
        inside = workspace.surroundings.applied(self._env).get("PATH", os.defpath)
        for name, option, starters in _INTERPRETERS:
            if not words & starters or not (program := _which(name, inside)):
                continue
            version = await self._version(program, name, option, workspace)
            if not version:
                continue
            own = self._visible(_which(name, self._own_path))
            theirs = await self._version(own, name, option, workspace) if own else ""
            found.append(f"{name} {version}" + (f" (yours: {theirs})" if theirs and theirs != version else ""))
        return tuple(found)

    def _visible(self, program: str) -> str:
        """The sandbox does not show the user's folder: of a virtual environment there, its interpreter is asked."""
        real = os.path.realpath(program) if program.startswith(self._project + "/") else program
        return "" if real.startswith(self._project + "/") else real

    async def _version(self, program: str, name: str, option: str, workspace: Workspace) -> str:
        key = _identity(program, name)
        if key is None:
            return ""
        if key not in self._known:
            script = 'exec "$TOOL" "$TOOL_OPTION" 2>&1'
            env = {**self._env, "TOOL": program, "TOOL_OPTION": option}
            finished = await self._sandbox.run(shell_job(workspace, script, env, timeout_s=_WAIT_S))
            match = _NUMBER.search(finished.stdout) if finished.succeeded else None
            self._known[key] = match[0][:_LONGEST] if match else ""
        return self._known[key]


def _identity(program: str, name: str) -> tuple[str, str, int] | None:
    """The program file and its time; None if it is gone."""
    real = os.path.realpath(program)
    try:
        return real, name, os.stat(real).st_mtime_ns
    except OSError:
        return None


def _which(name: str, path: str) -> str:
    for candidate in (name, f"{name}3") if name == "python" else (name,):
        for folder in path.split(":"):
            if Path(folder).is_absolute() and (found := shutil.which(candidate, path=folder)):
                return found
    return ""
