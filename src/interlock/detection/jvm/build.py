"""What the tools of the Java virtual machine have in common."""

import re

from msgspec import Struct

from interlock.detection.found import Missing


class Build(Struct, frozen=True, kw_only=True):
    evidence: tuple[str, ...]  # the build file first
    prepare: tuple[str, ...] = ()
    tests: str = ""
    missing: tuple[Missing, ...] = ()


def wrapper_version(properties: str, tool: str) -> str:
    """The version in the address of a wrapper's distribution; empty if it has none."""
    match = re.search(rf"^distributionUrl\s*=.*{tool}-(\d+(?:\.\d+)*)", properties, re.MULTILINE)
    return match[1] if match else ""
