"""PATH for a project's commands: the programs that the project chose are found first."""

import os
import shutil
from collections.abc import Iterator, Sequence


def path_with(programs: Sequence[str], path: str) -> str:
    """PATH with the folders of these programs before the others, where it finds another program now."""
    return ":".join(dict.fromkeys((*folders_of(programs, path), *path.split(":"))))


def folders_of(programs: Sequence[str], path: str) -> Iterator[str]:
    """The folders that must come first. One that PATH finds anyway stays in its place: it has other programs too."""
    for program in programs:
        name = os.path.basename(program)
        called = "python3" if name.startswith("python") else name
        found = shutil.which(called, path=path)
        if found is None or os.path.realpath(found) != os.path.realpath(program):
            yield os.path.dirname(program)
