"""What tox and nox would install and run for a project's tests. Their own environments are not made: one is enough."""

import re
import shlex
from configparser import ConfigParser, Error

from msgspec import Struct

from interlock.detection.folder import ProjectFolder, inner, items, table, texts
from interlock.detection.python.noxfile import nox_session

_CONDITION = re.compile(r"^([!\w{},.-]+):\s+", re.ASCII)


class ToolPlan(Struct, frozen=True, kw_only=True):
    """The dependencies and test commands of a tool's test environment."""

    tool: str = ""
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    folder: str = ""  # that the commands run in; empty for the project's own


def tool_plan(folder: ProjectFolder, version: str = "") -> ToolPlan:
    """`version` is the interpreter's, such as 3.11: lists of tox may be for some versions only."""
    if (plan := _tox(folder, version)) is not None:
        return plan
    session = nox_session(folder.text("noxfile.py"))
    if session is None:
        return ToolPlan()
    return ToolPlan(
        tool="nox",
        requirements=session.requirements,
        files=session.files,
        extras=session.extras,
        groups=session.groups,
        commands=session.commands,
    )


def _tox(folder: ProjectFolder, version: str) -> ToolPlan | None:
    for name, section in (("tox.ini", "testenv"), ("setup.cfg", "tox:testenv")):
        settings = folder.ini(name)
        if settings.has_section(section):
            return _tox_ini(settings, section, version)
    pyproject = folder.toml("pyproject.toml")
    old = inner(pyproject, "tool", "tox").get("legacy_tox_ini")
    if isinstance(old, str):
        settings = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            settings.read_string(old)
        except Error:
            return None
        return _tox_ini(settings, "testenv", version) if settings.has_section("testenv") else None
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


def _tox_ini(settings: ConfigParser, section: str, version: str) -> ToolPlan:
    def lines(key: str) -> tuple[str, ...]:
        text = settings.get(section, key, fallback="") or ""
        joined = re.sub(r"\\\n\s*", " ", text)
        stripped = (line.strip() for line in joined.splitlines())
        chosen = (_chosen(line, version) for line in stripped if line and not line.startswith("#"))
        return tuple(line for line in chosen if line)

    deps, files = _listed(lines("deps"))
    names = tuple(
        name for line in lines("extras") for name in re.split(r"[\s,]+", line) if re.fullmatch(r"[\w-]+", name)
    )
    groups = tuple(name for line in lines("dependency_groups") for name in re.split(r"[\s,]+", line) if name)
    place = settings.get(section, "changedir", fallback="") or settings.get(section, "change_dir", fallback="") or ""
    return ToolPlan(
        tool="tox",
        requirements=deps,
        files=files,
        extras=names,
        groups=groups,
        commands=lines("commands"),
        folder=_without_root(place.strip()),
    )


def _chosen(line: str, version: str) -> str:
    """The line without its condition, such as `py{310,311}:`; empty if the condition does not hold."""
    match = _CONDITION.match(line)
    if match is None:
        return line
    factors = frozenset(re.findall(r"\d+", match[1])) if re.fullmatch(r"py[\w{},]*", match[1]) else frozenset[str]()
    holds = match[1] in ("py", "py3", "python") or version.replace(".", "") in factors
    return line[match.end() :].strip() if holds else ""


def _without_root(text: str) -> str:
    return re.sub(r"\{(?:toxinidir|tox_root)\}/?", "", text)


def _listed(lines: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Requirements and requirement files; whatever has a variable in it is left out."""
    requirements: list[str] = []
    files: list[str] = []
    for line in lines:
        line = _without_root(re.sub(r"\s+#.*", "", line))
        if "{" in line or line.startswith("."):
            continue
        if match := re.match(r"(?:-r|--requirement|-c|--constraint)\s*=?\s*(\S+)", line):
            if not line.startswith(("-c", "--c")):
                files.append(match[1].removeprefix("./"))
        elif not line.startswith("-"):
            requirements.append(line)
    return tuple(requirements), tuple(files)


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
