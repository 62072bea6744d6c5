"""The files of tests of a Python project, and the configuration of pytest."""

import re

from interlock.detection.folder import ProjectFolder, inner, texts


def is_test(path: str) -> bool:
    parts = path.split("/")
    name = parts[-1]
    if not name.endswith(".py"):
        return False
    return bool(re.fullmatch(r"test.*\.py|.*_tests?\.py|conftest\.py", name)) or any(
        part in ("tests", "test", "testing") for part in parts[:-1]
    )


def pytest_config(folder: ProjectFolder) -> tuple[str, str]:
    """The text of pytest's configuration, and its file; empty without one."""
    for name in ("pytest.ini", ".pytest.ini"):
        if folder.has(name):
            return folder.text(name), name
    pyproject = inner(folder.toml("pyproject.toml"), "tool", "pytest")
    if pyproject:
        options = inner(pyproject, "ini_options") or pyproject
        lines = (f"{key} = {' '.join(texts(value)) or value}" for key, value in options.items())
        return "\n".join(lines), "pyproject.toml"
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        settings = folder.ini(name)
        if settings.has_section(section):
            return "\n".join(f"{key} = {value or ''}" for key, value in settings.items(section)), name
    return "", ""
