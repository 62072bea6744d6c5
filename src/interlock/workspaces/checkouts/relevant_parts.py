"""The part of a dependency list that decides which packages are installed."""

import json
import tomllib
from typing import Any, cast

# Tables of pyproject.toml that only tools for checks and tests read: a change there needs no new packages.
_NOT_FOR_INSTALLING = frozenset(
    (
        *("black", "ruff", "isort", "mypy", "pyright", "basedpyright", "pylint", "flake8", "pytest", "coverage", "tox"),
        *(
            "codespell",
            "towncrier",
            "bandit",
            "interrogate",
            "commitizen",
            "bumpversion",
            "cibuildwheel",
            "ty",
            "pyrefly",
        ),
        *(
            "check-manifest",
            "djlint",
            "doc8",
            "yapf",
            "autopep8",
            "importlinter",
            "vulture",
            "typos",
            "semantic_release",
        ),
    )
)
_NOT_OF_PROJECT = frozenset(
    (
        "version",
        "description",
        "readme",
        "license",
        "license-files",
        "authors",
        "maintainers",
        "keywords",
        "classifiers",
        "urls",
    )
)
_KEYS_OF_PACKAGE = (
    *("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "bundleDependencies"),
    *("bundledDependencies", "peerDependenciesMeta", "overrides", "resolutions", "workspaces", "packageManager"),
    *("pnpm", "os", "cpu", "bin", "name"),
)
_SCRIPTS_OF_INSTALL = ("preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare")


def relevant(path: str, content: bytes) -> bytes:
    """The part of a dependency list that decides what is installed; the whole file where that is not known."""
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        return _of_pyproject(content)
    if name == "package.json":
        return _of_package(content)
    return content


def is_partly_relevant(path: str) -> bool:
    """Whether only a part of the file counts."""
    return path.rpartition("/")[2] in ("pyproject.toml", "package.json")


def _of_pyproject(content: bytes) -> bytes:
    try:
        data: dict[str, Any] = tomllib.loads(content.decode())
    except (ValueError, RecursionError):
        return content
    project = data.get("project")
    if isinstance(project, dict):
        kept = cast("dict[str, Any]", project)
        data["project"] = {name: value for name, value in kept.items() if name not in _NOT_OF_PROJECT}
    tools = data.get("tool")
    if isinstance(tools, dict):
        kept = cast("dict[str, Any]", tools)
        data["tool"] = {name: value for name, value in kept.items() if name not in _NOT_FOR_INSTALLING}
    return json.dumps(data, sort_keys=True, default=str).encode()


def _of_package(content: bytes) -> bytes:
    try:
        data: object = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(data, dict):
        return content
    package = cast("dict[str, Any]", data)
    kept: dict[str, Any] = {key: package[key] for key in _KEYS_OF_PACKAGE if key in package}
    scripts = package.get("scripts")
    if isinstance(scripts, dict):
        kept["scripts"] = {name: cast("dict[str, Any]", scripts).get(name) for name in _SCRIPTS_OF_INSTALL}
    return json.dumps(kept, sort_keys=True).encode()
