"""What the build tools of C and C++ have in common."""

from msgspec import Struct

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.machine import Machine


class NativeBuild(Struct, frozen=True, kw_only=True):
    evidence: tuple[str, ...]
    prepare: tuple[str, ...] = ()
    tests: str = ""  # builds too: the code is different after each change
    source: str = ""
    missing: tuple[Missing, ...] = ()


def build_folder(folder: ProjectFolder) -> str:
    """A folder for build results. If the project has files in `build`, it is another one."""
    return "build" if not folder.is_folder("build") else "build-interlock"


def compilers(machine: Machine) -> tuple[Missing, ...]:
    if machine.find("cc", "gcc", "clang"):
        return ()
    return (Missing("a C compiler", "install gcc or clang; on Debian: apt-get install build-essential"),)
