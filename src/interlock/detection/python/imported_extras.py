"""Extras of a project that its tests import: an optional feature is tested only with its packages."""

import re
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from interlock.detection.folder import ProjectFolder, inner
from interlock.detection.python.declared import Declared, extras_of, name_of, normalised
from interlock.detection.python.test_files import is_test, pytest_config

# Extras of these names are no module: `import test` is the standard library's or the project's.
_NO_MODULES = frozenset(("test", "tests", "testing", "dev", "doc", "docs", "all", "cli", "lint", "typing"))
_IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
_NOT_FOR_TESTS = frozenset(("doc", "docs", "documentation", "lint", "typing", "mypy", "build", "release", "publish"))
_MOST_READ = 400
_SMALL = 5  # requirements of an extra


def with_imported_extras(folder: ProjectFolder, found: Declared, known: Collection[str]) -> Declared:
    """With the extras whose packages the tests import. Doctests import every module of the project.

    `known` are the names of packages that are installed anyway: they are no reason for another extra.
    """
    extras = extras_of(folder)
    if not extras.keys() - found.extras:
        return found
    config, _ = pytest_config(folder)
    everything = re.search(r"--doctest-modules", config) is not None
    read = [path for path in folder.files if path.endswith(".py") and (everything or is_test(path))]
    imports = {name for path in read[:_MOST_READ] for name in _IMPORT.findall(folder.text(path))}
    project = inner(folder.toml("pyproject.toml"), "project").get("name")
    anyway = {"pytest", *known, *((normalised(project),) if isinstance(project, str) else ())}
    more = tuple(
        name
        for name, listed in extras.items()
        if name not in found.extras and _is_imported(name, {name_of(text) for text in listed} - anyway, imports)
    )
    evidence = tuple(f"the extra [{name}], which tests import" for name in more)
    if more and found.is_empty:
        others = _small_extras(extras, more)
        evidence += tuple(f"the extra [{name}]: no list says what the tests need" for name in others)
        more += others
    return replace(found, extras=(*found.extras, *more), evidence=(*found.evidence, *evidence)) if more else found


def _small_extras(extras: Mapping[str, Sequence[str]], chosen: Collection[str]) -> tuple[str, ...]:
    """The other extras, as far as they are small: tests of a project use its features, often without an import."""
    return tuple(
        name
        for name, listed in extras.items()
        if name not in chosen
        and normalised(name) not in _NOT_FOR_TESTS
        and 0 < len(listed) <= _SMALL
        and all(map(name_of, listed))
    )


def _is_imported(extra: str, packages: Collection[str], imports: Collection[str]) -> bool:
    """By a package of the extra, or by the extra's name: a package may have a module of another name."""
    named = normalised(extra).replace("-", "_")
    if packages and named in imports and named not in _NO_MODULES:
        return True
    return any(item.replace("-", "_") in imports for item in packages)
