"""What a Python project declares for its tests: extras, dependency groups, requirement files, lists of its tools."""

import ast
import re
from collections.abc import Iterator
from typing import cast

from msgspec import Struct

from interlock.detection.folder import ProjectFolder, inner, table, texts
from interlock.detection.python.poetry import requirement

# Names of extras and groups, the most telling first. With tests declared alone, those for development are not needed.
_FOR_TESTS = ("test", "tests", "testing", "unittest", "unit-test", "pytest", "hatch-test")
_FOR_DEVELOPMENT = ("dev", "develop", "development", "dev-dependencies", "ci", "all")
_FILE_WORDS = {"tests": "tests?|testing|pytest|unittests?", "development": "dev|develop|development|ci"}


def _file_pattern(words: str, more: str = "") -> re.Pattern[str]:
    listed = r"(?:requirements?|reqs?)"
    return re.compile(
        rf"{listed}[-_.]?(?:for[-_])?(?:{words})\.txt|(?:{words})[-_.]?(?:{listed}|deps)\.txt"
        rf"|{listed}/(?:[\w.-]+[-_.])?(?:{words})\.txt{more}",
        re.ASCII,
    )


_FILES_FOR_TESTS = _file_pattern(_FILE_WORDS["tests"], r"|tests?/[\w.-]*requirements[\w.-]*\.txt")
_FILES_FOR_DEVELOPMENT = _file_pattern(_FILE_WORDS["development"])


class Declared(Struct, frozen=True, kw_only=True):
    """What to install beside the project itself."""

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # their content is in `requirements`
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.extras or self.requirements or self.files)


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement_text: str) -> str:
    """The normalised package name of a requirement; empty for a path, a link or an option."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:[\[<>=!~;@\s,(]|$)", requirement_text)
    return normalised(match[1]) if match else ""


def declared(folder: ProjectFolder) -> Declared:
    """Extras and groups for tests, else requirement files for tests, else those for development."""
    found = [*_declared_by(folder, _FOR_TESTS, _FILES_FOR_TESTS)]
    if not any(not one.is_empty for one in found):
        found = [*_declared_by(folder, _FOR_DEVELOPMENT, _FILES_FOR_DEVELOPMENT)]
    return Declared(
        extras=_joined(one.extras for one in found),
        groups=_joined(one.groups for one in found),
        requirements=_joined(one.requirements for one in found),
        files=_joined(one.files for one in found),
        evidence=_joined(one.evidence for one in found),
    )


def _joined(parts: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))


def _declared_by(folder: ProjectFolder, names: tuple[str, ...], files: re.Pattern[str]) -> Iterator[Declared]:
    pyproject = folder.toml("pyproject.toml")
    extras = extras_of(folder)
    if chosen := _chosen(extras, names):
        yield Declared(extras=chosen, evidence=tuple(f"the extra [{name}]" for name in chosen))
    groups = groups_of(pyproject)
    if chosen := _chosen(groups, names):
        yield Declared(
            groups=chosen,
            requirements=tuple(item for name in chosen for item in groups[name]),
            evidence=tuple(f"the dependency group {name}" for name in chosen),
        )
    if listed := _requirement_files(folder, files):
        yield Declared(files=listed, evidence=listed)


def _chosen(found: dict[str, tuple[str, ...]], names: tuple[str, ...]) -> tuple[str, ...]:
    by_name = {normalised(name): name for name in found}
    return tuple(by_name[name] for name in names if name in by_name)


def _requirement_files(folder: ProjectFolder, pattern: re.Pattern[str]) -> tuple[str, ...]:
    return tuple(path for path in folder.files if path.count("/") <= 1 and pattern.fullmatch(path))


def extras_of(folder: ProjectFolder) -> dict[str, tuple[str, ...]]:
    """Optional dependencies of pyproject.toml, setup.cfg or setup.py."""
    pyproject = folder.toml("pyproject.toml")
    extras = {name: texts(items) for name, items in inner(pyproject, "project", "optional-dependencies").items()}
    extras |= {name: texts(items) for name, items in inner(pyproject, "tool", "poetry", "extras").items()}
    flit = inner(pyproject, "tool", "flit", "metadata", "requires-extra")
    extras |= {name: texts(items) for name, items in flit.items()}
    setup = folder.ini("setup.cfg")
    if setup.has_section("options.extras_require"):
        for name, value in setup.items("options.extras_require"):
            extras[name] = tuple(line.strip() for line in (value or "").splitlines() if line.strip())
    for name, value in _literal_argument(folder.text("setup.py"), "extras_require").items():
        extras.setdefault(name, texts(value) or ((value,) if isinstance(value, str) else ()))
    return extras


def _literal_argument(source: str, name: str) -> dict[str, object]:
    """The keys of a dictionary given to `setup()`. Values that are not literals are left empty: the name is enough."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    assigned = {
        target.id: node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.keyword) and node.arg == name:
            value = assigned.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
            if isinstance(value, ast.Dict):
                return {
                    str(key.value): _literal(item)
                    for key, item in zip(value.keys, value.values, strict=True)
                    if isinstance(key, ast.Constant)
                }
    return {}


def _literal(node: ast.expr) -> object:
    try:
        return cast("object", ast.literal_eval(node))
    except (ValueError, TypeError, MemoryError, RecursionError):
        return ""


def groups_of(pyproject: dict[str, object]) -> dict[str, tuple[str, ...]]:
    """Dependency groups of pyproject.toml, those of Poetry, PDM, uv and Hatch too, each as requirements."""
    raw = table(pyproject.get("dependency-groups"))
    groups = {name: _group(raw, name, frozenset()) for name in raw}
    poetry = inner(pyproject, "tool", "poetry")
    for name, group in table(poetry.get("group")).items():
        groups.setdefault(name, _poetry_list(inner(group, "dependencies")))
    if listed := _poetry_list(table(poetry.get("dev-dependencies"))):
        groups.setdefault("dev", listed)
    for name, items in inner(pyproject, "tool", "pdm", "dev-dependencies").items():
        groups.setdefault(name, texts(items))
    if listed := texts(inner(pyproject, "tool", "uv").get("dev-dependencies")):
        groups.setdefault("dev", listed)
    for name, env in inner(pyproject, "tool", "hatch", "envs").items():
        listed = (*texts(table(env).get("dependencies")), *texts(table(env).get("extra-dependencies")))
        if listed:
            groups.setdefault("dev" if name == "default" else name, listed)
    return {name: items for name, items in groups.items() if items}


def _group(groups: dict[str, object], name: str, above: frozenset[str]) -> tuple[str, ...]:
    """A group with the groups it includes. A circle ends at its first repetition."""
    items = groups.get(name)
    found: list[str] = list(texts(items))
    for item in cast("list[object]", items) if isinstance(items, list) else []:
        included = table(item).get("include-group")
        if isinstance(included, str) and included not in above:
            by_name = {normalised(key): key for key in groups}
            if (key := by_name.get(normalised(included))) is not None:
                found += _group(groups, key, above | {name, included})
    return tuple(found)


def _poetry_list(dependencies: dict[str, object]) -> tuple[str, ...]:
    written = (requirement(name, value) for name, value in dependencies.items() if name.lower() != "python")
    return tuple(text for text in written if text)
