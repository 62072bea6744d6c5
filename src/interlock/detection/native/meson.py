"""Meson."""

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.machine import Machine
from interlock.detection.native.build import NativeBuild, build_folder, compilers


def meson_build(folder: ProjectFolder, machine: Machine) -> NativeBuild | None:
    if not folder.has("meson.build"):
        return None
    wraps = any(path.startswith("subprojects/") and path.endswith(".wrap") for path in folder.files)
    texts = (folder.text(path) for path in folder.files if path.endswith("meson.build"))
    build = build_folder(folder)
    missing = tuple(
        Missing(name, f"install {name}; on Debian: apt-get install {package}")
        for name, package in (("meson", "meson"), ("ninja", "ninja-build"))
        if not machine.find(name)
    )
    return NativeBuild(
        evidence=("meson.build", *(("subprojects by wrap files",) if wraps else ())),
        prepare=("meson subprojects download",) if wraps else (),
        tests=f"meson setup {build} && meson test -C {build} --print-errorlogs"
        if any("test(" in text for text in texts)
        else "",
        source="meson.build",
        missing=(*missing, *compilers(machine)),
    )
