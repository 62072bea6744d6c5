"""Prompts in settings: a text, or the name of a file with the text.

The text itself takes the place of the name when the settings are read. So trust in a project's prompt is trust in its
text, and a changed file asks again.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.identity.careful import open_beneath, read_descriptor, read_plain

MOST_CHARACTERS = 50_000
_FILE = re.compile(r"[^\n]{1,400}\.(?:md|txt)")


class BadPrompt(Exception):
    """The key, and what is wrong with it."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def with_texts(prompts: Mapping[str, Any], folder: Path, *, beneath: bool) -> dict[str, Any]:
    """The table `[prompts]` with the texts of its files. Raises BadPrompt.

    `beneath`: a project's file names only files of the project, and no links are followed.
    """
    texts: dict[str, Any] = {}
    for key, value in prompts.items():
        text = value
        if key != "mode" and isinstance(value, str) and _FILE.fullmatch(value):
            text = _read(key, value, folder, beneath=beneath)
        if key != "mode" and isinstance(text, str) and len(text) > MOST_CHARACTERS:
            raise BadPrompt(key, f"a prompt has at most {MOST_CHARACTERS:,} characters, this one {len(text):,}")
        texts[key] = text
    return texts


def _read(key: str, name: str, folder: Path, *, beneath: bool) -> str:
    most = MOST_CHARACTERS * 4
    try:
        content = _beneath(folder, name, most) if beneath else read_plain(_own(folder, name), most, follow=True)
        return content.decode()
    except UnicodeDecodeError:
        raise BadPrompt(key, f"{name} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadPrompt(key, f"{name} cannot be read: {why}") from None


def _own(folder: Path, name: str) -> Path:
    return folder / os.path.expanduser(name)


def _beneath(folder: Path, name: str, most: int) -> bytes:
    parts = tuple(name.split("/"))
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError("a project names files of its own folder")
    parent = open_beneath(folder, parts[:-1])
    try:
        file = os.open(parts[-1], os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=parent)
    finally:
        os.close(parent)
    try:
        return read_descriptor(file, name, most)
    finally:
        os.close(file)
