"""Ant. Its libraries are in the project: there is nothing to fetch."""

import re

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.jvm.build import Build
from interlock.detection.machine import Machine

_TARGET = re.compile(r"<(?:target|project)\b([^>]{0,2000})>")
_ATTRIBUTE = re.compile(r"\b(name|depends|default)\s*=\s*[\"']([^\"'<>]{0,1000})[\"']")
_NAMES = ("test", "tests", "check", "junit")


def ant_build(folder: ProjectFolder, machine: Machine) -> Build | None:
    if not folder.has("build.xml"):
        return None
    tests = _command(folder.text("build.xml"))
    return Build(
        evidence=("build.xml",),
        tests=tests,
        missing=()
        if machine.find("ant")
        else (Missing("Ant", "install Ant; on Debian: apt-get install ant ant-optional"),),
    )


def _command(text: str) -> str:
    """The default target if it runs the tests: it has the whole order. Else the target for tests."""
    default, needs = "", dict[str, tuple[str, ...]]()
    for attributes in _TARGET.findall(text):
        found = dict(_ATTRIBUTE.findall(attributes))
        if "default" in found:
            default = found["default"]
        elif "name" in found:
            needs[found["name"]] = tuple(name.strip() for name in found.get("depends", "").split(","))
    name = next((name for name in _NAMES if name in needs), "")
    if not name:
        return ""
    return "ant" if name in _everything_before(default, needs) else f"ant {name}"


def _everything_before(start: str, needs: dict[str, tuple[str, ...]]) -> set[str]:
    seen, waiting = set[str](), [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += needs.get(name, ())
    return seen
