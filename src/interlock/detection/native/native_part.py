"""Detects a C or C++ project: CMake, Meson, autotools or plain make."""

import re

from interlock.detection.development_tools import make_target
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.native.autotools import autotools_build
from interlock.detection.native.build import NativeBuild, compilers
from interlock.detection.native.cmake import cmake_build
from interlock.detection.native.meson import meson_build

# A Makefile of another language starts no compiler of C: sources may be samples of tests.
_COMPILES = re.compile(r"\$[({](?:CC|CXX|LD|AR)\b|\b(?:gcc|g\+\+|clang\+*|cc|c\+\+)\s|\.(?:o|c|cc|cpp|cxx)\b")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")


def native_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    """The first build tool with tests. CMake before autotools: it needs fewer programs."""
    sources = folder.count(*_SOURCES)
    if not sources:
        return None
    tried = (build(folder, machine) for build in (cmake_build, meson_build, autotools_build, _make))
    builds = [build for build in tried if build is not None]
    found = next((build for build in builds if build.tests), next(iter(builds), None))
    if found is None:
        return None
    others = [f"also {build.evidence[0]}" for build in builds if build is not found]
    return Part(
        name="C++" if folder.count(".cc", ".cpp", ".cxx", ".hpp") else "C",
        evidence=(*found.evidence, *others),
        prepare=found.prepare,
        tests=found.tests,
        tests_from=found.source,
        missing=found.missing,
        sources=sources,
    )


def _make(folder: ProjectFolder, machine: Machine) -> NativeBuild | None:
    target, text = make_target(folder), folder.text(folder.first("Makefile", "GNUmakefile", "makefile") or "Makefile")
    if not target or not _COMPILES.search(text):
        return None
    missing = () if machine.find("make") else (Missing("make", "install it; on Debian: apt-get install make"),)
    return NativeBuild(
        evidence=("a Makefile",),
        tests=f"make {target}",
        source=f"the target {target} of the Makefile",
        missing=(*missing, *compilers(machine)),
    )
