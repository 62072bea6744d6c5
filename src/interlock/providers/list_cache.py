"""The fetched lists of models, in a file of the user. They inform; they choose nothing."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.providers.catalog import catalog
from interlock.providers.model_lists import ListedModel

_MOST_BYTES = 64_000_000


class FetchedList(Struct, frozen=True):
    at: str  # RFC 3339
    models: tuple[ListedModel, ...]


class Difference(Struct, frozen=True):
    """Names that appeared and names that are gone, since the last list; `first`: since Interlock's own data."""

    new: tuple[str, ...]
    gone: tuple[str, ...]
    first: bool = False


def read_lists(file: Path) -> dict[str, FetchedList]:
    """By provider. A missing or damaged file is empty: it can be fetched again."""
    try:
        with file.open("rb") as opened:
            return msgspec.json.decode(opened.read(_MOST_BYTES), type=dict[str, FetchedList])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def write_lists(file: Path, lists: Mapping[str, FetchedList]) -> None:
    """At once or not at all. Raises Misconfigured if the file cannot be written."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_bytes(msgspec.json.encode(lists))
        part.chmod(0o600)
        part.replace(file)
    except OSError as error:
        raise Misconfigured(f"{file} cannot be written: {error.strerror}") from error


def difference(provider: str, before: FetchedList | None, now: Sequence[ListedModel]) -> Difference:
    names = {model.name for model in now}
    if before is not None:
        known = {model.name for model in before.models}
        return Difference(tuple(sorted(names - known)), tuple(sorted(known - names)))
    shipped = [facts for facts in catalog() if facts.provider == provider]
    aliases = {name for facts in shipped for name in (facts.name, *facts.aliases)}
    gone = [facts.name for facts in shipped if not names.intersection((facts.name, *facts.aliases))]
    return Difference(tuple(sorted(names - aliases)), tuple(sorted(gone)), first=True)


def age(at: str, now: datetime | None = None) -> str:
    """How long ago, in words."""
    try:
        seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return "at an unknown time"
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"
