"""Autotools: a `configure` script, or the files that make one."""

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.machine import Machine
from interlock.detection.native.build import NativeBuild, compilers

_BUILD = "./configure && make -j2 && make check"


def autotools_build(folder: ProjectFolder, machine: Machine) -> NativeBuild | None:
    if folder.has("configure") and folder.has("Makefile.in", "configure.ac", "configure.in", "Makefile.am"):
        return NativeBuild(
            evidence=("configure",), tests=f"sh {_BUILD}", source="configure", missing=_missing(machine, ("make",))
        )
    source = folder.first("configure.ac", "configure.in")
    if not source:
        return None
    needed = ("autoreconf", "automake", "make")
    if "LT_INIT" in (text := folder.text(source)) or "AC_PROG_LIBTOOL" in text:
        needed = (*needed, "libtoolize")
    return NativeBuild(
        evidence=(source,),
        tests=f"autoreconf --force --install && {_BUILD}",
        source=source,
        missing=_missing(machine, needed),
    )


def _missing(machine: Machine, names: tuple[str, ...]) -> tuple[Missing, ...]:
    packages = {"autoreconf": "autoconf", "libtoolize": "libtool"}
    return (
        *(
            Missing(name, f"install it; on Debian: apt-get install {packages.get(name, name)}")
            for name in names
            if not machine.find(name)
        ),
        *compilers(machine),
    )
