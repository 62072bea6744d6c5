"""Detects a Python project: how it is installed into an environment of its own, and how its tests are run."""

import re
import shlex
from collections.abc import Iterable

from interlock.detection.folder import ProjectFolder, inner, table, texts
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.python.declared import Declared, declared, extras_of, groups_of, name_of, normalised
from interlock.detection.python.imported_extras import with_imported_extras
from interlock.detection.python.interpreters import interpreter_of, version_of
from interlock.detection.python.test_runner import runner_of
from interlock.detection.python.tools import ToolPlan, tool_plan

VENV = ".venv"
_PIP = f"{VENV}/bin/python -m pip install --quiet"
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "noxfile.py", "Pipfile",
          "environment.yml", "environment.yaml", "uv.lock", "poetry.lock", "pdm.lock", "manage.py")  # fmt: skip
# Tools that install from their own lock file, as pip requirements: network is there when they are needed.
_LOCKS = (
    ("uv.lock", "uv", f"UV_PROJECT_ENVIRONMENT={VENV} {{tool}} sync --frozen --inexact{{chosen}}"),
    ("poetry.lock", "poetry", "POETRY_VIRTUALENVS_IN_PROJECT=true {tool} install --no-interaction{chosen}"),
    ("pdm.lock", "pdm", "{tool} sync{chosen}"),
    ("Pipfile.lock", "pipenv", "PIPENV_VENV_IN_PROJECT=1 PIPENV_IGNORE_VIRTUALENVS=1 {tool} sync --dev"),
)


def python_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    sources = folder.count(".py")
    has_tests = any(re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$", path) for path in folder.files)
    if sources == 0 or not (has_tests or folder.has(*_MARKS)):
        return None
    interpreter = interpreter_of(folder, machine)
    found, plan = (
        declared(folder),
        tool_plan(folder, version_of(interpreter.program or machine.find("python3", "python"))),
    )
    if found.is_empty:
        found = _by_tool(folder, plan)
    found = with_imported_extras(folder, found, {name_of(text) for text in _everything(folder, found, plan)})
    known = frozenset(name_of(text) for text in _everything(folder, found, plan))
    runner = runner_of(folder, found, plan, known)
    evidence = [_how_built(folder), *found.evidence]
    if interpreter.why:
        evidence.append(interpreter.why)
    missing = [interpreter.missing] if interpreter.missing else []
    conda = folder.has("environment.yml", "environment.yaml") and not _is_installable(folder)
    if conda and not machine.find("micromamba", "mamba", "conda"):
        missing.append(Missing("conda", "install micromamba, mamba or conda: environment.yml lists the packages"))
    return Part(
        name="Python",
        evidence=tuple(dict.fromkeys(line for line in evidence if line)),
        prepare=tuple(_prepare(folder, found, runner.packages, machine)),
        tests=runner.command,
        tests_from=runner.source,
        path=(f"{VENV}/bin",),
        programs=(interpreter.program,) if interpreter.program else (),
        missing=tuple(missing),
        sources=sources,
    )


def _by_tool(folder: ProjectFolder, plan: ToolPlan) -> Declared:
    """What tox or nox would install."""
    groups = groups_of(folder.toml("pyproject.toml"))
    listed = tuple(item for name in plan.groups for item in groups.get(name, ()))
    files = tuple(path for path in plan.files if folder.has(path))
    if not (plan.requirements or files or plan.extras or listed):
        return Declared()
    extras = plan.extras
    return Declared(
        extras=extras, requirements=(*plan.requirements, *listed), files=files, evidence=(f"the list of {plan.tool}",)
    )


def _everything(folder: ProjectFolder, found: Declared, plan: ToolPlan) -> Iterable[str]:
    """All requirements that will be installed, as far as they are written down."""
    pyproject = folder.toml("pyproject.toml")
    extras = extras_of(folder)
    yield from texts(inner(pyproject, "project").get("dependencies"))
    yield from (name for name in inner(pyproject, "tool", "poetry", "dependencies"))
    yield from found.requirements
    for name in found.extras:
        yield from extras.get(name, ())
    for path in found.files:
        yield from folder.text(path).splitlines()


def _how_built(folder: ProjectFolder) -> str:
    pyproject = folder.toml("pyproject.toml")
    backend = inner(pyproject, "build-system").get("build-backend")
    if isinstance(backend, str):
        return f"pyproject.toml ({backend.split('.')[0].split(':')[0]})"
    return folder.first("setup.py", "setup.cfg", "pyproject.toml", "requirements.txt", "Pipfile", "environment.yml")


def _is_installable(folder: ProjectFolder) -> bool:
    pyproject = folder.toml("pyproject.toml")
    if "build-system" in pyproject or "project" in pyproject:
        return "uv" not in table(pyproject.get("tool")) or inner(pyproject, "tool", "uv").get("package") is not False
    if folder.has("setup.py"):
        return True
    return folder.ini("setup.cfg").has_section("metadata")


def _prepare(folder: ProjectFolder, found: Declared, packages: tuple[str, ...], machine: Machine) -> Iterable[str]:
    """The commands that make the environment. `python3` is the project's interpreter: its folder is first in PATH."""
    for lock, tool, command in _LOCKS:
        if folder.has(lock):
            yield from _with_tool(tool, command, _options(tool, folder, found), machine)
            if more := (*_not_locked(folder, found), *packages):
                yield f"{_PIP} {_joined(more)}"
            return
    yield f"python3 -m venv {VENV}"
    wanted: list[str] = []
    for path in folder.files:
        if path == "requirements.txt" and (not _is_installable(folder) or found.is_empty):
            wanted += ["-r", path]
    wanted += [word for path in found.files for word in ("-r", path)]
    requirements, names = _without_itself(folder, found.requirements)
    if _is_installable(folder):
        extras = tuple(dict.fromkeys((*found.extras, *names)))
        wanted += ["-e", f".[{','.join(extras)}]" if extras else "."]
        if any(name != normalised(name) for name in extras):  # pip before 23.3 compares the names of extras literally
            yield f"{_PIP} --upgrade pip"
    wanted += [*requirements, *packages]
    if wanted:
        yield f"{_PIP} {_joined(wanted)}"


def _without_itself(folder: ProjectFolder, requirements: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Requirements without the project itself, and the extras that they name of it: `project[socks]`.

    pip would look for the project in the package index as well.
    """
    name = inner(folder.toml("pyproject.toml"), "project").get("name")
    own = normalised(name) if isinstance(name, str) else ""
    itself = [text for text in requirements if own and name_of(text) == own]
    found = (re.match(r"[^\[;]*\[([^\]]*)\]", text) for text in itself)
    extras = (extra.strip() for match in found if match for extra in match[1].split(","))
    kept = tuple(text for text in requirements if text not in itself)
    return kept, tuple(extra for extra in extras if re.fullmatch(r"[\w.-]+", extra))


def _not_locked(folder: ProjectFolder, found: Declared) -> Iterable[str]:
    """What is declared beside the lock file: requirement files, and lists of tox, nox and Hatch."""
    pyproject = folder.toml("pyproject.toml")
    groups, hatch = groups_of(pyproject), inner(pyproject, "tool", "hatch", "envs")
    locked = {item for name in found.groups if name not in hatch for item in groups[name]}
    yield from (word for path in found.files for word in ("-r", path))
    yield from (item for item in found.requirements if item not in locked)


def _options(tool: str, folder: ProjectFolder, found: Declared) -> str:
    """The extras and groups for tests. All of them only if none is for tests: some exclude each other."""
    pyproject = folder.toml("pyproject.toml")
    standard = table(pyproject.get("dependency-groups"))
    poetry = inner(pyproject, "tool", "poetry", "group")
    pdm = inner(pyproject, "tool", "pdm", "dev-dependencies")
    match tool:
        case "uv":
            groups = [name for name in found.groups if name in standard]
            return _repeated("--extra", found.extras) + _repeated("--group", groups) or " --all-extras --all-groups"
        case "poetry":
            groups = [name for name in found.groups if name in poetry or name in standard]
            return _repeated("--extras", found.extras) + _repeated("--with", groups) or " --all-extras"
        case "pdm":
            groups = [*found.extras, *(name for name in found.groups if name in pdm or name in standard)]
            return _repeated("--group", groups) or " --group :all"
        case _:
            return ""


def _repeated(option: str, names: Iterable[str]) -> str:
    return "".join(f" {option} {shlex.quote(name)}" for name in names)


def _with_tool(tool: str, command: str, chosen: str, machine: Machine) -> Iterable[str]:
    """The project's own tool: the user's if it is installed, else one in a folder that is thrown away."""
    yield f"python3 -m venv {VENV}"
    program = tool
    if not machine.find(tool):
        yield f'python3 -m venv "$TMPDIR/{tool}" && "$TMPDIR/{tool}/bin/pip" install --quiet {tool}'
        program = f'"$TMPDIR/{tool}/bin/{tool}"'
    yield command.format(tool=program, chosen=chosen)


def _joined(words: Iterable[str]) -> str:
    """Quoted for a shell. A repeated package is written once; `-r` may repeat."""
    shown: list[str] = []
    for word in words:
        if word in ("-r", "-e") or word not in shown:
            shown.append(word)
    return " ".join(shlex.quote(word) for word in shown)
