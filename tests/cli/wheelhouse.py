"""Wheels of packages that are installed here, so that pip can install them again without network."""

import zipfile
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

BUILD_AND_TEST = ("hatchling", "editables", "pytest")
_WRITTEN_BY_PIP = ("INSTALLER", "RECORD", "REQUESTED", "direct_url.json")


def wheelhouse(folder: Path, names: tuple[str, ...] = BUILD_AND_TEST) -> Path:
    folder.mkdir()
    for name in _with_dependencies(names):
        _write_wheel(name, folder)
    return folder


def _with_dependencies(names: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        needed = (Requirement(text) for text in distribution(name).requires or ())
        waiting += [one.name.lower() for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


def _write_wheel(name: str, folder: Path) -> None:
    found = distribution(name)
    files = [file for file in found.files or () if ".." not in file.parts and "__pycache__" not in file.parts]
    kept = [file for file in files if file.name not in _WRITTEN_BY_PIP]
    (info,) = {file.parts[0] for file in files if file.parts[0].endswith(".dist-info")}
    wheel = folder / f"{name.replace('-', '_')}-{found.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in kept:
            archive.write(Path(str(found.locate_file(file))), str(file))
        archive.writestr(f"{info}/RECORD", "".join(f"{file},,\n" for file in kept))
