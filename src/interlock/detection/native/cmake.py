"""CMake with CTest."""

import re

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.machine import Machine
from interlock.detection.native.build import NativeBuild, build_folder, compilers

_TESTS = re.compile(
    r"^\s*(?:enable_testing|add_test|catch_discover_tests|gtest_discover_tests|gtest_add_tests|doctest_discover_tests)"
    r"\s*\(|^\s*include\s*\(\s*CTest\b",
    re.MULTILINE | re.IGNORECASE,
)
# An option for tests that is off by default, such as FOO_BUILD_TESTS.
_OFF = re.compile(
    r"^\s*option\s*\(\s*([A-Za-z]\w{0,80})\s*(?:\"[^\"]{0,300}\"\s*)?(?:OFF|NO|FALSE|0|\$\{\w{1,80}\})?\s*\)",
    re.MULTILINE | re.IGNORECASE | re.ASCII,
)
_ABOUT_TESTS = re.compile(r"(?:BUILD|ENABLE|WITH|MAKE)_?(?:UNIT_?)?TEST(?:S|ING)?$|^(?:UNIT_?)?TEST(?:S|ING)$|_TESTS$")
_AGAINST = re.compile(r"WITHOUT|NO_|DISABLE|SKIP|EXCLUDE|INSTALL")
_FETCHES = re.compile(r"^\s*(?:FetchContent_Declare|FetchContent_MakeAvailable|CPMAddPackage)\s*\(", re.MULTILINE)
_DEPENDENCIES = ".cmake-dependencies"


def cmake_build(folder: ProjectFolder, machine: Machine) -> NativeBuild | None:
    if not folder.has("CMakeLists.txt"):
        return None
    files = [path for path in folder.files if path.endswith((".cmake", "CMakeLists.txt"))][:300]
    text = "\n".join(folder.text(path) for path in files)
    build = build_folder(folder)
    options = [f"-D{name}=ON" for name in _options(folder.text("CMakeLists.txt"))]
    evidence = ["CMakeLists.txt", *(f"the option {option[2:]}" for option in options)]
    prepare: tuple[str, ...] = ()
    found: list[str] = []
    if _FETCHES.search(text):
        evidence.append("packages by FetchContent")
        place = f'-DFETCHCONTENT_BASE_DIR="$PWD/{_DEPENDENCIES}"'
        prepare = (" ".join((f'cmake -S . -B "$TMPDIR/build" {place}', *options)),)
        found = [place, "-DFETCHCONTENT_FULLY_DISCONNECTED=ON"]
    configure = " ".join((f"cmake -S . -B {build}", *found, *options))
    return NativeBuild(
        evidence=tuple(evidence),
        prepare=prepare,
        tests=f"{configure} && cmake --build {build} -j2 && "
        f"ctest --test-dir {build} --output-on-failure --no-tests=error"
        if _TESTS.search(text)
        else "",
        source="CMakeLists.txt",
        missing=(*_missing(machine), *compilers(machine)),
    )


def _options(text: str) -> tuple[str, ...]:
    names = (name for name in _OFF.findall(text) if _ABOUT_TESTS.search(name.upper()))
    return tuple(dict.fromkeys(name for name in names if not _AGAINST.search(name.upper())))[:3]


def _missing(machine: Machine) -> tuple[Missing, ...]:
    if not machine.find("cmake"):
        return (Missing("cmake", "install cmake; on Debian: apt-get install cmake"),)
    if not machine.find("make", "ninja"):
        return (Missing("make", "install make or ninja; on Debian: apt-get install make"),)
    return ()
