"""The Python interpreter of a project: the one the user works with, wherever it is installed."""

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from interlock.detection.folder import ProjectFolder, inner
from interlock.detection.found import Missing
from interlock.detection.machine import Machine

_ENVIRONMENTS = (".venv", "venv", "env", ".env")


class Interpreter(Struct, frozen=True):
    program: str = ""  # empty: the `python3` in PATH
    why: str = ""
    missing: Missing | None = None


def interpreter_of(folder: ProjectFolder, machine: Machine) -> Interpreter:
    """By the project's own environment, by the version that its files name, else the first in PATH."""
    for name in _ENVIRONMENTS:
        if (found := base_of(os.path.join(folder.root, name))) and os.access(found, os.X_OK):
            return Interpreter(found, f"the Python of {name}")
    version, source = wanted_version(folder)
    if version:
        found = next(_installed(version, machine), "")
        if found:
            return Interpreter(found, f"Python {version}, by {source}")
        if source != "requires-python":
            remedy = (
                f"install Python {version} (for example 'uv python install {version}' or 'pyenv install {version}')"
            )
            return Interpreter("", "", Missing(f"Python {version}, which {source} names", remedy))
    if not machine.find("python3", "python"):
        return Interpreter(
            "", "", Missing("Python", "install Python 3; on Debian: apt-get install python3 python3-venv")
        )
    return Interpreter()


def base_of(environment: str) -> str:
    """The interpreter that a virtual environment was made with; empty if the folder is none."""
    try:
        with open(os.path.join(environment, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            lines = [line.partition("=") for line in file.read(10_000).splitlines()]
    except OSError:
        return ""
    settings = {key.strip(): value.strip() for key, _, value in lines}
    if not os.path.isabs(settings.get("home", "")):
        return ""
    version = ".".join((settings.get("version") or settings.get("version_info") or "").split(".")[:2])
    names = (f"python{version}", "python3", "python") if version else ("python3", "python")
    paths = (os.path.join(settings["home"], name) for name in names)
    return next((path for path in paths if os.path.isfile(path)), "")


def version_of(program: str) -> str:
    """The version in the name of the real program, or that pyenv has chosen, such as 3.11; empty if not known."""
    if match := re.search(r"python(\d\.\d+)$", os.path.realpath(program)) if program else None:
        return match[1]
    folder, _, name = os.path.dirname(program).rpartition("/")
    try:
        with open(os.path.join(folder, "version" if name == "shims" else ""), encoding="utf-8") as file:
            match = re.match(r"(\d\.\d+)", file.read(100))
    except OSError:
        return ""
    return match[1] if match else ""


def wanted_version(folder: ProjectFolder) -> tuple[str, str]:
    """The version that a file names, and the file. The number may be incomplete, such as 3.12."""
    if match := re.match(r"\s*(?:cpython-|python)?(\d+\.\d+(?:\.\d+)?)", folder.text(".python-version")):
        return match[1], ".python-version"
    if match := re.search(r"^python\s+(\d+\.\d+(?:\.\d+)?)", folder.text(".tool-versions"), re.MULTILINE):
        return match[1], ".tool-versions"
    for name in ("mise.toml", ".mise.toml"):
        wanted = inner(folder.toml(name), "tools").get("python")
        if isinstance(wanted, str) and (match := re.match(r"(\d+\.\d+(?:\.\d+)?)", wanted)):
            return match[1], name
    return "", ""


def _installed(version: str, machine: Machine) -> Iterator[str]:
    """Interpreters of this version: in PATH, then those of pyenv, uv, rye, asdf and mise."""
    short = ".".join(version.split(".")[:2])
    if found := machine.find(f"python{short}"):
        yield found
    home, env = machine.home, machine.env
    roots = (
        (env.get("PYENV_ROOT") or os.path.join(home, ".pyenv"), "versions"),
        (env.get("UV_PYTHON_INSTALL_DIR") or os.path.join(home, ".local/share/uv/python"), ""),
        (os.path.join(home, ".rye/py"), ""),
        (env.get("ASDF_DATA_DIR") or os.path.join(home, ".asdf"), "installs/python"),
        (env.get("MISE_DATA_DIR") or os.path.join(home, ".local/share/mise"), "installs/python"),
    )
    for root, below in roots:
        folder = os.path.join(root, below) if below else root
        try:
            names = sorted(os.listdir(folder), reverse=True)
        except OSError:
            continue
        for name in names:
            if re.fullmatch(rf"(?:cpython[-@])?{re.escape(version)}(?:[.\-+].*)?", name):
                program = os.path.join(folder, name, "bin", f"python{short}")
                if os.access(program, os.X_OK):
                    yield program
