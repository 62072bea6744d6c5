"""Where the harness puts pictures: below `.interlock/artifacts` and nowhere else (SPEC U2)."""

import os
from collections.abc import Callable
from pathlib import Path

from interlock.errors import BadValue
from interlock.uitest.executions import now_ms

_LONGEST_NAME = 255  # bytes, as file systems have it


class Artifacts:
    def __init__(self, folder: Path, draws_pixels: Callable[[], bool]) -> None:
        self._folder = folder
        self._draws_pixels = draws_pixels

    @property
    def possible(self) -> bool:
        return self._draws_pixels()

    def path_for(self, test_id: str) -> Path:
        return self._folder / f"{test_id}.png"

    def wanted(self, name: str) -> Path:
        """The file that a caller names, from the artefacts' folder; raises BadValue for any other place."""
        if not name:
            return self._folder / f"screenshot_{now_ms()}_{os.urandom(3).hex()}.png"  # two may come at once
        if "\0" in name:
            raise BadValue("a path has no NUL in it")
        root = self._folder.resolve()
        given = Path(name)
        path = given if given.is_absolute() else root / given
        if path.suffix.lower() != ".png":
            raise BadValue(f"{name!r}: pictures are PNG files, named .png")
        try:
            resolved = path.resolve()  # also what links say
        except (OSError, RuntimeError) as error:  # a name too long, links in a circle
            raise BadValue(f"{name[:80]!r} names no file that could be: {error}"[:300]) from error
        if root not in resolved.parents:
            raise BadValue(f"{name!r} lies outside {root}: pictures go there and nowhere else")
        if len(os.fsencode(resolved.name)) > _LONGEST_NAME:
            raise BadValue(f"{name[:80]!r}… is too long for the name of a file")
        if resolved.is_dir():
            raise BadValue(f"{name!r} is a folder")
        return resolved
