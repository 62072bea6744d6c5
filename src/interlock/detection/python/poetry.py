"""Poetry's way to write dependencies, as requirements of the packaging standard."""

import re
from typing import cast

from interlock.detection.folder import table, texts


def requirement(name: str, value: object) -> str:
    """`requests = "^2.28"` as `requests>=2.28,<3`; empty for a path, a link or a repository."""
    if isinstance(value, list):  # alternatives for different Pythons: the last is for the newest
        items = cast("list[object]", value)
        return requirement(name, items[-1]) if items else ""
    if isinstance(value, str):
        return f"{name}{constraint(value)}"
    options = table(value)
    version = options.get("version")
    if not isinstance(version, str):
        return ""
    extras = texts(options.get("extras"))
    python, markers = options.get("python"), options.get("markers")
    conditions = [python_marker(python)] if isinstance(python, str) else []
    conditions += [f"({markers})"] if isinstance(markers, str) else []
    marker = " and ".join(condition for condition in conditions if condition)
    named = f"{name}[{','.join(extras)}]" if extras else name
    return f"{named}{constraint(version)}{f' ; {marker}' if marker else ''}"


def constraint(version: str) -> str:
    """The version specifier; empty for any version."""
    if "||" in version:
        version = version.rpartition("||")[2]
    parts = (_part(part.strip()) for part in version.split(","))
    return ",".join(part for part in parts if part)


def _part(version: str) -> str:
    if version in ("", "*"):
        return ""
    if version.startswith("^"):
        return _up_to(version[1:].strip(), caret=True)
    if version.startswith("~") and not version.startswith("~="):
        return _up_to(version[1:].strip(), caret=False)
    if version[0].isdigit():
        return f"=={version}"
    return re.sub(r"\s+", "", version)


def _up_to(version: str, *, caret: bool) -> str:
    """From this version to the next that may break: of the first number that is not 0, or of the second one."""
    numbers = [int(number) for number in re.findall(r"\d+", version.split("-")[0])] or [0]
    if caret:
        at = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
    else:
        at = min(1, len(numbers) - 1)
    above = [*numbers[:at], numbers[at] + 1]
    return f">={version},<{'.'.join(map(str, above))}"


def python_marker(version: str) -> str:
    """A constraint on Python as a marker."""
    parts = (re.fullmatch(r"(>=|<=|==|!=|<|>)\s*([\d.]+)", part) for part in constraint(version).split(","))
    return " and ".join(f"python_version {part[1]} '{part[2]}'" for part in parts if part)
