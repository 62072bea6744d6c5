"""A project of no known ecosystem: a target for tests of make, just or task."""

from pathlib import Path

import pytest

from interlock.detection.found import Missing, Part
from tests.detection.machines import PROGRAMS, Sample, found


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        ("Makefile", "all:\n\ntest: all\n\t./run\n", "make test"),
        ("Makefile", "check::\n\t./run\n", "make check"),
        ("justfile", "build:\n  x\n\ntest filter='': build\n  ./run\n", "just test"),
        ("Taskfile.yml", "version: 3\ntasks:\n  test:\n    cmds: [./run]\n", "task test"),
    ],
)
def test_a_target_named_test_or_check_is_the_last_resort(tmp_path: Path, file: str, text: str, command: str) -> None:
    target = command.split()[1]
    assert found(tmp_path, {file: text}) == Part(
        name=command.split()[0], evidence=(file,), tests=command, tests_from=f"the target {target} of {file}"
    )


@pytest.mark.parametrize("text", ["test := 1\n", "latest:\n\ttrue\n", "\ttest:\n", ".PHONY: test\n"])
def test_a_variable_or_another_name_is_no_target(tmp_path: Path, text: str) -> None:
    sample = Sample(tmp_path)
    sample.write({"Makefile": text})
    assert sample.detect().parts == ()


def test_a_program_that_is_not_installed_is_missing(tmp_path: Path) -> None:
    part = found(tmp_path, {"justfile": "test:\n  ./run\n"}, "sh")
    assert part.missing == (Missing("just", "install just, which runs justfile"),)


def test_a_known_ecosystem_with_tests_needs_no_target(tmp_path: Path) -> None:
    part = found(tmp_path, {"Cargo.toml": "", "Makefile": "test:\n\tcargo test\n"})
    assert (part.name, part.tests) == ("Rust", "cargo test --offline")


def test_an_ecosystem_without_known_tests_uses_the_target(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.install(*PROGRAMS)
    sample.write({"go.mod": "module x\n", "x.go": "", "Makefile": "test:\n\t./run\n"})
    assert [(part.name, part.tests) for part in sample.detect().parts] == [("make", "make test"), ("Go", "")]
