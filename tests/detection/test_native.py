"""C and C++ projects: CMake, Meson, autotools and make. The test command builds, because code changes."""

from pathlib import Path

import pytest

from interlock.detection.found import Missing, Part
from tests.detection.machines import Sample, found

CODE = {"two.c": "int main(void) { return 0; }\n"}
RUN = "cmake --build build -j2 && ctest --test-dir build --output-on-failure --no-tests=error"


def test_cmake_builds_in_a_folder_of_its_own_and_a_run_without_tests_fails(tmp_path: Path) -> None:
    assert found(tmp_path, {**CODE, "CMakeLists.txt": "project(two C)\nenable_testing()\n"}) == Part(
        name="C",
        evidence=("CMakeLists.txt",),
        tests=f"cmake -S . -B build && {RUN}",
        tests_from="CMakeLists.txt",
        sources=1,
    )


@pytest.mark.parametrize(
    ("option", "chosen"),
    [
        ('option(TWO_BUILD_TESTS "Build tests" OFF)', " -DTWO_BUILD_TESTS=ON"),
        ("option(BUILD_TESTING)", " -DBUILD_TESTING=ON"),
        ('option(TWO_BUILD_TESTS "Build tests" ON)', ""),
        ('option(TWO_WITHOUT_TESTS "No tests" OFF)', ""),
        ('option(TWO_INSTALL_TESTS "Install" OFF)', ""),
        ('option(TWO_BUILD_DOCS "Docs" OFF)', ""),
    ],
)
def test_an_option_for_tests_that_is_off_is_switched_on(tmp_path: Path, option: str, chosen: str) -> None:
    part = found(tmp_path, {**CODE, "CMakeLists.txt": f"{option}\nadd_test(NAME a COMMAND a)\n"})
    assert part.tests == f"cmake -S . -B build{chosen} && {RUN}"


def test_a_project_with_files_in_build_gets_another_folder(tmp_path: Path) -> None:
    part = found(tmp_path, {**CODE, "CMakeLists.txt": "include(CTest)\n", "build/readme": ""})
    assert part.tests.startswith("cmake -S . -B build-interlock && ")


def test_packages_of_fetchcontent_are_fetched_before_and_used_offline(tmp_path: Path) -> None:
    part = found(tmp_path, {**CODE, "CMakeLists.txt": "enable_testing()\nFetchContent_Declare(x URL u)\n"})
    place = '-DFETCHCONTENT_BASE_DIR="$PWD/.cmake-dependencies"'
    assert part.prepare == (f'cmake -S . -B "$TMPDIR/build" {place}',)
    assert part.tests == f"cmake -S . -B build {place} -DFETCHCONTENT_FULLY_DISCONNECTED=ON && {RUN}"


def test_meson_tests_build_first_and_wraps_are_downloaded(tmp_path: Path) -> None:
    files = {"two.cpp": "", "meson.build": "test('two', exe)\n", "subprojects/x.wrap": ""}
    part = found(tmp_path, files)
    assert (part.name, part.prepare) == ("C++", ("meson subprojects download",))
    assert part.tests == "meson setup build && meson test -C build --print-errorlogs"


def test_a_configure_script_is_used_as_it_is(tmp_path: Path) -> None:
    part = found(tmp_path, {**CODE, "configure": "", "Makefile.in": ""})
    assert part.tests == "sh ./configure && make -j2 && make check"


def test_a_configure_script_that_must_be_made_needs_its_programs(tmp_path: Path) -> None:
    part = found(tmp_path, {**CODE, "configure.ac": "AC_INIT\nLT_INIT\n"}, "cc", "make", "automake")
    assert part.tests == "autoreconf --force --install && ./configure && make -j2 && make check"
    assert part.missing == (
        Missing("autoreconf", "install it; on Debian: apt-get install autoconf"),
        Missing("libtoolize", "install it; on Debian: apt-get install libtool"),
    )


def test_cmake_comes_before_autotools_and_make(tmp_path: Path) -> None:
    files = {**CODE, "CMakeLists.txt": "enable_testing()", "configure.ac": "", "Makefile": "test:\n\t$(CC) a.c\n"}
    part = found(tmp_path, files)
    assert part.evidence == ("CMakeLists.txt", "also configure.ac", "also a Makefile")


def test_a_makefile_beats_cmake_files_without_tests(tmp_path: Path) -> None:
    part = found(tmp_path, {**CODE, "CMakeLists.txt": "project(two)", "Makefile": "check: a.o\n\ttrue\n"})
    assert (part.tests, part.tests_from) == ("make check", "the target check of the Makefile")


def test_a_machine_without_compiler_and_cmake_is_told_about_both(tmp_path: Path) -> None:
    part = found(tmp_path, {**CODE, "CMakeLists.txt": "enable_testing()"}, "sh")
    assert part.missing == (
        Missing("cmake", "install cmake; on Debian: apt-get install cmake"),
        Missing("a C compiler", "install gcc or clang; on Debian: apt-get install build-essential"),
    )


def test_a_makefile_that_compiles_nothing_is_no_build_of_c(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.write({"tests/golden/a.cpp": "", "Makefile": "test:\n\tpytest\n", "a.py": "", "tests/test_a.py": ""})
    assert [part.name for part in sample.detect().parts] == ["Python"]
