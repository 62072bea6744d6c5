"""Changes single keys of a settings file; all other bytes of the file stay the same."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.errors import Misconfigured

if TYPE_CHECKING:
    from tomlkit.items import Array


def write_keys(path: Path, values: Mapping[tuple[str, str], str | Sequence[str]]) -> None:
    """Sets `[table] key = "text"`, or a list of texts; an empty value removes the key.

    Writes only if something changes. A link stays a link: what it leads to is written, if that is in the same project.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = _behind_link(path)
    try:
        with open(path, encoding="utf-8", newline="") as file:
            before = file.read()
    except FileNotFoundError:
        before = ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from error
    try:
        document = tomlkit.parse(before)
    except TOMLKitError as error:
        raise Misconfigured(f"{path} is not valid TOML: {error}") from error
    for (table, key), value in values.items():
        if table in document and not isinstance(document[table], dict):
            raise Misconfigured(f"{path}: {table} must be a table")
        if not value:
            if table in document:
                document[table].pop(key, None)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
            continue
        if table not in document:
            document[table] = tomlkit.table()
        written = value if isinstance(value, str) else _as_list(value)
        if document[table].get(key) != written:  # pyright: ignore
            document[table][key] = written  # pyright: ignore
    after = tomlkit.dumps(document)
    if after == before:
        return
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(part, "w", encoding="utf-8", newline="") as file:
            file.write(after)
        part.replace(path)
    except OSError as error:
        raise Misconfigured(f"cannot write {path}: {error.strerror}") from error


def _behind_link(path: Path) -> Path:
    """The file to write. Raises Misconfigured for a link out of the folder, or to a file that is no settings file."""
    if not path.is_symlink():
        return path
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(path.parent))
    inside = real.relative_to(root).parts if real.is_relative_to(root) else ()
    if not inside or real.suffix != ".toml" or {".git", ".interlock"} & set(inside):
        raise Misconfigured(
            f"{path} is a symbolic link to {real}, and Interlock writes no file there:"
            " write these settings yourself, or replace the link by a file"
        )
    return real


def _as_list(values: Sequence[str]) -> "Array":
    """One text per line."""
    import tomlkit

    array = tomlkit.array()
    for value in values:
        array.append(value)  # pyright: ignore[reportUnknownMemberType]
    return array.multiline(len(values) > 1)
