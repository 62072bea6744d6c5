"""The Node of a project: by a version file, else by the range in package.json."""

import re

from interlock.detection.folder import ProjectFolder, inner
from interlock.detection.found import Missing
from interlock.detection.machine import Machine
from interlock.detection.toolchains.installed import Chosen, at_least, choose, installed, version_of
from interlock.detection.toolchains.tools import NODE

_LOWEST = re.compile(r"\s*(?:>=|\^|~|=|v)?\s*v?(\d{1,5}(?:\.\d{1,5}){0,2})")


def choose_node(folder: ProjectFolder, package: dict[str, object], machine: Machine) -> Chosen:
    chosen = choose(folder, machine, NODE)
    if chosen.evidence or chosen.missing or chosen.programs:
        return chosen
    lowest = _lowest(inner(package, "engines").get("node"))
    version = version_of(machine.find("node"), machine, NODE)
    if not lowest or not version or at_least(version, lowest):
        return chosen
    why = f"Node {lowest} or later, by engines of package.json"
    if found := next((path for path, has in installed(machine, NODE) if has and at_least(has, lowest)), ""):
        return Chosen((found,), (why,))
    what = f"Node {lowest} or later, which engines of package.json names (PATH has {version})"
    return Chosen(missing=(Missing(what, NODE.remedy.format(version=lowest)),))


def _lowest(wanted: object) -> str:
    """The lowest version of the alternatives of a range. A range that starts otherwise, such as `<20`, has none."""
    if not isinstance(wanted, str):
        return ""
    found = [match[1] for part in wanted.split("||") if (match := _LOWEST.match(part))]
    return min(found, key=lambda version: [int(number) for number in version.split(".")], default="")
