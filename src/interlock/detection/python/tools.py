"""What tox and nox would install and run for a project's tests. Their own environments are not made: one is enough."""

import ast
import re
import shlex
from collections.abc import Iterator
from configparser import ConfigParser, Error

from msgspec import Struct

from interlock.detection.folder import ProjectFolder, inner, items, table, texts

_TEST_NAMES = re.compile(r"(?:unit[-_]?)?tests?(?:[-_]unit)?|pytest|py|testing", re.ASCII)
_CONDITION = re.compile(r"^[!\w{},.-]+:\s+", re.ASCII)


class ToolPlan(Struct, frozen=True, kw_only=True):
    """The dependencies and test commands of a tool's test environment."""

    tool: str = ""
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def tool_plan(folder: ProjectFolder) -> ToolPlan:
    return _tox(folder) or _nox(folder.text("noxfile.py")) or ToolPlan()


def _tox(folder: ProjectFolder) -> ToolPlan | None:
    for name, section in (("tox.ini", "testenv"), ("setup.cfg", "tox:testenv")):
        settings = folder.ini(name)
        if settings.has_section(section):
            return _tox_ini(settings, section)
    pyproject = folder.toml("pyproject.toml")
    old = inner(pyproject, "tool", "tox").get("legacy_tox_ini")
    if isinstance(old, str):
        settings = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            settings.read_string(old)
        except Error:
            return None
        return _tox_ini(settings, "testenv") if settings.has_section("testenv") else None
    base = inner(pyproject, "tool", "tox", "env_run_base") or inner(folder.toml("tox.toml"), "env_run_base")
    if not base:
        return None
    deps, files = _listed(texts(base.get("deps")))
    commands: object = base.get("commands")
    rows = [texts(row) for row in items(commands)]
    return ToolPlan(
        tool="tox",
        requirements=deps,
        files=files,
        extras=texts(base.get("extras")),
        groups=texts(base.get("dependency_groups")),
        commands=tuple(shlex.join(row) for row in rows if row),
    )


def _tox_ini(settings: ConfigParser, section: str) -> ToolPlan:
    def lines(key: str) -> tuple[str, ...]:
        text = settings.get(section, key, fallback="") or ""
        joined = re.sub(r"\\\n\s*", " ", text)
        return tuple(line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#"))

    deps, files = _listed(tuple(line for line in lines("deps") if not _CONDITION.match(line)))
    names = tuple(
        name for line in lines("extras") for name in re.split(r"[\s,]+", line) if re.fullmatch(r"[\w-]+", name)
    )
    groups = tuple(name for line in lines("dependency_groups") for name in re.split(r"[\s,]+", line) if name)
    commands = tuple(line for line in lines("commands") if not _CONDITION.match(line))
    return ToolPlan(tool="tox", requirements=deps, files=files, extras=names, groups=groups, commands=commands)


def _listed(lines: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Requirements and requirement files; whatever has a variable in it is left out."""
    requirements: list[str] = []
    files: list[str] = []
    for line in lines:
        line = re.sub(r"\s+#.*", "", line).replace("{toxinidir}/", "").replace("{tox_root}/", "")
        if "{" in line or line.startswith("."):
            continue
        if match := re.match(r"(?:-r|--requirement|-c|--constraint)\s*=?\s*(\S+)", line):
            if not line.startswith(("-c", "--c")):
                files.append(match[1].removeprefix("./"))
        elif not line.startswith("-"):
            requirements.append(line)
    return tuple(requirements), tuple(files)


def _nox(source: str) -> ToolPlan | None:
    """The texts that the test session of a noxfile gives to `session.install` and `session.run`."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and _TEST_NAMES.fullmatch(node.name):
            return _session(node)
    return None


def _session(function: ast.FunctionDef) -> ToolPlan:
    requirements: list[str] = []
    files: list[str] = []
    extras: list[str] = []
    commands: list[str] = []
    for words, name in _calls(function):
        if name == "run" and words:
            commands.append(shlex.join(words))
        waits_for_file = False
        for word in words if name == "install" else ():
            if waits_for_file:
                files.append(word)
            elif match := re.fullmatch(r"\.\[([\w,\s-]+)\]", word):
                extras += [extra.strip() for extra in match[1].split(",")]
            elif re.match(r"[A-Za-z]", word):
                requirements.append(word)
            waits_for_file = word in ("-r", "--requirement")
    return ToolPlan(
        tool="nox",
        requirements=tuple(requirements),
        files=tuple(files),
        extras=tuple(extras),
        commands=tuple(commands),
    )


def _calls(function: ast.FunctionDef) -> Iterator[tuple[list[str], str]]:
    """The literal words and the name of each `session.install` and `session.run`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            words = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            yield words, node.func.attr


def hatch_scripts(pyproject: dict[str, object]) -> tuple[str, ...]:
    """The test commands of Hatch's environments."""
    found: list[str] = []
    for env in inner(pyproject, "tool", "hatch", "envs").values():
        for name, value in inner(env, "scripts").items():
            if name in ("test", "tests", "cov", "run"):
                found += [value] if isinstance(value, str) else list(texts(value))
    return tuple(found)


def pdm_scripts(pyproject: dict[str, object]) -> tuple[str, ...]:
    value: object = inner(pyproject, "tool", "pdm", "scripts").get("test")
    command = table(value).get("cmd", value)
    return (command,) if isinstance(command, str) else ()
