"""A sample project and a fake machine: a folder of programs that only have names."""

from collections.abc import Mapping
from pathlib import Path

from interlock.detection.detect import detect
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Detected, Part
from interlock.detection.machine import Machine

# Everything that the detectors ask for.
PROGRAMS = (
    *("python3", "node", "npm", "pnpm", "yarn", "cargo", "go", "java", "mvn", "gradle", "ant", "ruby", "bundle"),
    *("rake", "php", "composer", "phpunit", "cmake", "make", "cc", "meson", "ninja", "autoreconf", "automake"),
    *("libtoolize", "just", "task"),
)


class Sample:
    """One folder with a project, a home and the programs of a machine."""

    def __init__(self, place: Path) -> None:
        self.project, self.home, self.bin = place / "project", place / "home", place / "bin"
        for folder in (self.project, self.home, self.bin):
            folder.mkdir()
        self.packages = place / "status"
        self.packages.touch()
        self.env = {"HOME": str(self.home), "PATH": str(self.bin)}

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def install(self, *names: str) -> None:
        for name in names:
            self.program(self.bin / name)

    def program(self, path: Path) -> str:
        """An executable file that does nothing; detection must not start it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nexit 99\n")
        path.chmod(0o755)
        return str(path)

    def detect(self) -> Detected:
        return detect(ProjectFolder(self.project), Machine(self.env, str(self.packages)))

    def part(self) -> Part:
        """The only part of the project."""
        (part,) = self.detect().parts
        return part


def found(place: Path, files: Mapping[str, str | bytes], *programs: str) -> Part:
    """The only part of a project with these files; without names, the machine has all programs."""
    sample = Sample(place)
    sample.write(files)
    sample.install(*(programs or PROGRAMS))
    return sample.part()
