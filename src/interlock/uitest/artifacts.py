"""Where the harness puts pictures: below `.interlock/artifacts` and nowhere else (SPEC U2)."""

from collections.abc import Callable
from pathlib import Path

from interlock.errors import BadValue
from interlock.uitest.executions import now_ms


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
            return self._folder / f"screenshot_{now_ms()}.png"
        if "\0" in name:
            raise BadValue("a path has no NUL in it")
        root = self._folder.resolve()
        given = Path(name)
        path = given if given.is_absolute() else root / given
        if path.suffix.lower() != ".png":
            raise BadValue(f"{name!r}: pictures are PNG files, named .png")
        resolved = path.resolve()  # also what links say
        if root not in resolved.parents:
            raise BadValue(f"{name!r} lies outside {root}: pictures go there and nowhere else")
        if resolved.is_dir():
            raise BadValue(f"{name!r} is a folder")
        return resolved
