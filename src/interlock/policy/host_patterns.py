"""Patterns of a tool's hosts: a name, `name:port`, `*.name` for all names below it, or `*` for every host.

A host is a name in lower case, with its port if that is not the usual one. A name allows its usual port only; it asks
about or denies every port.
"""

import re
from collections.abc import Sequence

NETWORK_TOOLS = frozenset(["fetch_url", "web_search"])
"""Tools that contact a host; a rule that allows them names them, and `fetch_url` its hosts too."""

_PATTERN = re.compile(
    r"\*|(?:\*\.)?(?=[a-z0-9])[a-z0-9._-]{1,253}(?<![.-])(?::\d{1,5})?|\[[0-9a-f:.]{2,45}\](?::\d{1,5})?"
)


def is_host_pattern(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def fits_host(host: str, patterns: Sequence[str], *, any_port: bool = False) -> bool:
    return any(_fits(host, pattern, any_port=any_port) for pattern in patterns)


def _fits(host: str, pattern: str, *, any_port: bool) -> bool:
    if pattern == "*":
        return True
    name, port = _split(host)
    wanted, wanted_port = _split(pattern)
    if port != wanted_port and not (any_port and not wanted_port):
        return False
    if wanted.startswith("*."):
        return name.endswith(wanted[1:]) and len(name) > len(wanted) - 1
    return name == wanted


def _split(host: str) -> tuple[str, str]:
    """The name without a final dot, and the port."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or port.endswith("]") or not port.isdecimal():
        name, port = host.lower(), ""
    return name.rstrip("."), port
