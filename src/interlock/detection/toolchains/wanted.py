"""The version of a tool that a project's files name."""

import re

from msgspec import Struct

from interlock.detection.folder import ProjectFolder, inner, table, texts
from interlock.detection.toolchains.tools import Tool

_NUMBER = r"(\d{1,5}(?:\.\d{1,5}){0,3})(?![\w.])"
_PREFIX = r"(?:v|go|node-|ruby-|[a-z]+-)?"
# Names of Node's long-term versions, as .nvmrc may spell them.
_NODE_NAMES = {
    "erbium": "12",
    "fermium": "14",
    "gallium": "16",
    "hydrogen": "18",
    "iron": "20",
    "jod": "22",
    "krypton": "24",
}


class Wanted(Struct, frozen=True):
    version: str  # one to four numbers, such as 20 or 3.2.2
    source: str  # the file that names it


def wanted(folder: ProjectFolder, tool: Tool) -> Wanted | None:
    """By the tool's own file, then by those of version managers, then by the development container."""
    for name in tool.files:
        if version := _alone(folder.text(name)):
            return Wanted(version, name)
    for key in tool.keys:
        lines = folder.text(".tool-versions")
        if match := re.search(rf"^{key}[ \t]+{_PREFIX}{_NUMBER}", lines, re.MULTILINE):
            return Wanted(match[1], ".tool-versions")
        for name in ("mise.toml", ".mise.toml"):
            if version := _alone(_first(inner(folder.toml(name), "tools").get(key))):
                return Wanted(version, name)
    return _of_container(folder, tool)


def _alone(text: str) -> str:
    """The version at the start of a text."""
    if match := re.match(rf"\s*{_PREFIX}{_NUMBER}", text):
        return match[1]
    match = re.match(r"\s*lts/(\w+)\s*$", text)
    return _NODE_NAMES.get(match[1].lower(), "") if match else ""


def _first(value: object) -> str:
    """mise allows a text, a list of texts, and a table."""
    if isinstance(value, str):
        return value
    version = table(value).get("version")
    return version if isinstance(version, str) else next(iter(texts(value)), "")


def _of_container(folder: ProjectFolder, tool: Tool) -> Wanted | None:
    """A feature or an image. The file may have comments, so it is searched and not parsed."""
    name = folder.first(".devcontainer/devcontainer.json", ".devcontainer.json")
    text = folder.text(name) if name else ""
    for key in tool.keys:
        feature = rf'/features/{key}:[^"\n]{{0,80}}"\s*:\s*\{{[^{{}}]{{0,500}}?"version"\s*:\s*"{_NUMBER}"'
        image = rf"/devcontainers/(?:javascript-|typescript-)?{key}:(?:\d+-)?{_NUMBER}"
        if match := re.search(feature, text) or re.search(image, text):
            return Wanted(match[1], name)
    return None
