"""The versions of a tool on this machine, read from files: detection starts no program."""

import glob
import os
import re
from collections.abc import Iterator

from msgspec import Struct

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.machine import Machine
from interlock.detection.toolchains.tools import Tool
from interlock.detection.toolchains.wanted import wanted

_MOST_BYTES = 40_000_000
_VERSION = r"(\d+(?:\.\d+)*)"
# Files of an installation that tell its version.
_TELLING = (
    ("VERSION", rf"^go{_VERSION}"),
    ("release", r'^JAVA_VERSION="(\d+(?:[._]\d+)*)'),
    (
        "include/node/node_version.h",
        r"_MAJOR_VERSION (\d+)\s+#define NODE_MINOR_VERSION (\d+)\s+.*_PATCH_VERSION (\d+)",
    ),
)


class Chosen(Struct, frozen=True):
    """Which installation a project's commands will use."""

    programs: tuple[str, ...] = ()  # of a version manager; empty: the one in PATH
    evidence: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()


def choose(folder: ProjectFolder, machine: Machine, tool: Tool) -> Chosen:
    """The version that the project names, wherever it is; never silently another one."""
    named = wanted(folder, tool)
    in_path = machine.find(tool.program)
    if named is None:
        return Chosen() if in_path else Chosen(missing=(Missing(tool.name, tool.install),))
    why = f"{tool.name} {named.version}, by {named.source}"
    version = version_of(in_path, machine, tool) if in_path else ""
    if fits(version, named.version):
        return Chosen(evidence=(why,))
    if found := next((path for path, has in installed(machine, tool) if fits(has, named.version)), ""):
        return Chosen((found,), (why,))
    if in_path and not version:
        return Chosen(evidence=(f"{why}; the version of {in_path} could not be determined",))
    what = f"{tool.name} {named.version}, which {named.source} names"
    remedy = tool.remedy.format(version=named.version)
    return Chosen(missing=(Missing(f"{what} (PATH has {version})" if version else what, remedy),))


def fits(version: str, wanted_version: str) -> bool:
    """Whether a version has all numbers that the wanted one names."""
    has, needs = _numbers(version), _numbers(wanted_version)
    return bool(version) and has[: len(needs)] == needs


def at_least(version: str, lowest: str) -> bool:
    return _numbers(version) >= _numbers(lowest)


def _numbers(version: str) -> list[int]:
    numbers = [int(number) for number in re.findall(r"\d{1,9}", version)]
    return numbers[1:] if len(numbers) > 1 and numbers[0] == 1 and numbers[1] in (7, 8) else numbers  # Java 1.8 is 8


def installed(machine: Machine, tool: Tool) -> Iterator[tuple[str, str]]:
    """Programs in the folders of version managers, each with its version."""
    for place in tool.places:
        pattern = _expanded(place, machine)
        found = sorted(glob.glob(pattern), reverse=True) if pattern else []
        for path in found:
            if os.access(path, os.X_OK):
                yield path, version_of(path, machine, tool)


def _expanded(place: str, machine: Machine) -> str:
    start, _, rest = place.partition("/")
    if start == "~":
        return f"{glob.escape(machine.home)}/{rest}" if machine.home else ""
    if start.startswith("$"):
        value = machine.env.get(start[1:], "")
        return f"{glob.escape(value)}/{rest}" if value else ""
    return place


def version_of(program: str, machine: Machine, tool: Tool) -> str:
    """By files beside the program, by its path, or by Debian's list of packages; empty if none tells."""
    real = os.path.realpath(program)
    prefix = os.path.dirname(os.path.dirname(real))
    for name, pattern in _TELLING:
        if match := re.search(pattern, _text(os.path.join(prefix, name)), re.MULTILINE):
            return ".".join(match.groups())
    if match := re.fullmatch(rf"{tool.program}(\d+(?:\.\d+)+)", os.path.basename(real)):
        return match[1]
    if real.startswith("/usr/") and not real.startswith("/usr/local/"):
        return debian_version(machine, tool.package)
    for place in tool.places:
        start, _, end = _expanded(place, machine).partition("*")
        pattern = rf"{re.escape(start)}[^/\d]*{_VERSION}[^/]*{re.escape(end)}"
        if end and (match := re.fullmatch(pattern, program) or re.fullmatch(pattern, real)):
            return match[1]
    return ""


def debian_version(machine: Machine, package: str) -> str:
    """The version of an installed package of Debian; empty if it is not installed."""
    pattern = rf"^Package: {re.escape(package)}\n(?:[^\n]+\n)*?Version: (?:\d+:)?(?:\d+:)?(\d+(?:\.\d+)*)"
    match = re.search(pattern, _text(machine.packages), re.MULTILINE) if package else None
    return match[1] if match else ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return ""
