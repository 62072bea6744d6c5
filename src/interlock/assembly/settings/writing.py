"""Changes single keys of a settings file; all other bytes of the file stay the same."""

import os
from collections.abc import Mapping
from pathlib import Path

from interlock.errors import Misconfigured


def write_keys(path: Path, values: Mapping[tuple[str, str], str]) -> None:
    """Sets `[table] key = "text"`; an empty text removes the key. Writes only if something changes."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

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
        if document[table].get(key) != value:  # pyright: ignore
            document[table][key] = value  # pyright: ignore
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
