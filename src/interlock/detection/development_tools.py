"""Recognises tools that help to develop a project, and that its tests do not need."""

import re

from interlock.detection.folder import ProjectFolder

_FILES = (
    (".pre-commit-config.yaml", "pre-commit"),
    ("justfile", "just"),
    ("Justfile", "just"),
    (".justfile", "just"),
    ("Makefile", "make"),
    ("GNUmakefile", "make"),
    ("Taskfile.yml", "task"),
    ("Taskfile.yaml", "task"),
    (".devcontainer/devcontainer.json", "devcontainer"),
    (".devcontainer.json", "devcontainer"),
    (".tool-versions", "asdf"),
    ("mise.toml", "mise"),
    (".mise.toml", "mise"),
    (".nvmrc", "nvm"),
    (".ruby-version", "rbenv"),
    (".java-version", "jenv"),
    ("rust-toolchain", "rustup"),
    ("rust-toolchain.toml", "rustup"),
    ("Pipfile", "pipenv"),
    ("environment.yml", "conda"),
    ("environment.yaml", "conda"),
    ("requirements-dev.lock", "rye"),
    ("flake.nix", "nix"),
    ("Dockerfile", "docker"),
    ("tox.ini", "tox"),
    ("noxfile.py", "nox"),
)


def helpers_of(folder: ProjectFolder) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{name} ({file})" for file, name in _FILES if folder.has(file)))


def make_target(folder: ProjectFolder) -> str:
    """The target of a Makefile that runs tests; empty without one."""
    text = folder.text(folder.first("Makefile", "GNUmakefile", "makefile") or "Makefile")
    return next(
        (name for name in ("test", "check", "tests") if re.search(rf"^{name}\s*::?(?!=)", text, re.MULTILINE)), ""
    )
