"""The key of an environment: what its content depends on, and nothing else."""

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Sequence

_INTERPRETERS = ("python3", "python", "node", "cargo", "go", "java", "ruby", "php")
# Package managers, and the interpreter that decides which packages they choose.
_RUN_BY = {
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "corepack"), "node"),
    **dict.fromkeys(("pip", "pip3", "uv", "poetry", "pdm", "pipenv", "hatch", "tox", "nox"), "python3"),
    **dict.fromkeys(("mvn", "mvnw", "gradle", "gradlew", "ant"), "java"),
    **dict.fromkeys(("bundle", "gem"), "ruby"),
    "composer": "php",
}


def machine_facts(programs: Iterable[str]) -> str:
    """The platform, and each of these programs by its real path and its state."""
    facts = [platform.machine(), platform.system(), "-".join(platform.libc_ver())]
    for program in programs:
        real = os.path.realpath(program)
        try:
            status = os.stat(real)
            facts.append(f"{real} {status.st_size} {status.st_mtime_ns}{_chosen(real)}")
        except OSError:
            facts.append(real)
    return "\n".join(facts)


def _chosen(program: str) -> str:
    """The version that pyenv has chosen: its `python` is a script that never changes."""
    folder, name = os.path.split(os.path.dirname(program))
    if name != "shims":
        return ""
    try:
        with open(os.path.join(folder, "version"), encoding="utf-8", errors="replace") as file:
            return f" {file.read(1000).strip()}"
    except OSError:
        return ""


def key_of(inputs: str, commands: Sequence[str], machine: str) -> str:
    digest = hashlib.sha256()
    for text in (inputs, *commands, machine):
        digest.update(text.encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()[:40]


def programs_in(commands: Sequence[str]) -> tuple[str, ...]:
    """The names of interpreters and package managers that these commands start."""
    words = {word.rpartition("/")[2] for command in commands for word in re.split(r"[\s;&|()\"'=]+", command)}
    words |= {program for tool, program in _RUN_BY.items() if tool in words}
    return tuple(name for name in _INTERPRETERS if name in words)
