"""Ids of tracks and tickets: their allowed form, and the full name of a ticket."""

import re

from interlock.errors import Rejected

_SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def is_id(text: object) -> bool:
    """True for a name that is also safe as a git ref part and as a folder."""
    return (
        isinstance(text, str)
        and _SHAPE.fullmatch(text) is not None
        and ".." not in text
        and not text.endswith((".lock", "."))
    )


def check_id(text: object, what: str) -> None:
    if not is_id(text):
        raise Rejected(
            f"malformed {what} id {_shown(text)}: letters, digits, '.', '_', '-', at most 64, starting with a letter or"
            " digit, without '..' and not ending in '.' or '.lock'"
        )


def full_name(track: str, ticket: str) -> str:
    """`<track>/<ticket>`: unique in a project; ids themselves cannot contain a slash."""
    return f"{track}/{ticket}"


def split_name(name: str) -> tuple[str, str]:
    track, _, ticket = name.partition("/")
    return track, ticket


def _shown(text: object) -> str:
    shown = repr(text)
    return shown if len(shown) <= 80 else shown[:77] + "..."
