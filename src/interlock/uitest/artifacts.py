"""Files of screenshots: below `.interlock/artifacts` and nowhere else."""

import os
from collections.abc import Callable
from pathlib import Path

from interlock.errors import BadValue
from interlock.uitest.executions import now_ms

_LONGEST_NAME = 255  # bytes, the limit of common file systems


class Artifacts:
    def __init__(self, folder: Path, draws_pixels: Callable[[], bool]) -> None:
        self._folder = folder
        self._draws_pixels = draws_pixels

    @property
    def possible(self) -> bool:
        return self._draws_pixels()

    def path_for(self, test_id: str) -> Path:
        return self._folder / f"{test_id}.png"

    def resolve(self, name: str) -> Path:
        """The file that a caller names, relative to the artifact folder; raises BadValue for any other place."""
        if not name:
            return self._folder / f"screenshot_{now_ms()}_{os.urandom(3).hex()}.png"  # unique
        if "\0" in name:
            raise BadValue("a path must not contain NUL")
        root = self._folder.resolve()
        given = Path(name)
        path = given if given.is_absolute() else root / given
        if path.suffix.lower() != ".png":
            raise BadValue(f"{name!r}: pictures are PNG files, named .png")
        try:
            resolved = path.resolve()  # follows symbolic links
        except (OSError, RuntimeError) as error:  # the name is too long, or links form a cycle
            raise BadValue(f"{name[:80]!r} is not a possible file name: {error}"[:300]) from error
        if root not in resolved.parents:
            raise BadValue(f"{name!r} is outside {root}, the only folder for pictures")
        if len(os.fsencode(resolved.name)) > _LONGEST_NAME:
            raise BadValue(f"{name[:80]!r}… is too long for the name of a file")
        if resolved.is_dir():
            raise BadValue(f"{name!r} is a folder")
        return resolved
