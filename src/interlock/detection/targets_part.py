"""The last resort: a target named `test` or `check` of make, just or task, in a project of no known ecosystem."""

import re

from interlock.detection.development_tools import make_target
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine

_NAMES = ("test", "check", "tests")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TASKFILES = ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml")


def targets_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    for program, file, target in _found(folder):
        if target:
            missing = () if machine.find(program) else (Missing(program, f"install {program}, which runs {file}"),)
            return Part(
                name=program,
                evidence=(file,),
                tests=f"{program} {target}",
                tests_from=f"the target {target} of {file}",
                missing=missing,
            )
    return None


def _found(folder: ProjectFolder) -> tuple[tuple[str, str, str], ...]:
    """The program, its file, and the target for tests."""
    just, task = folder.first(*_JUSTFILES), folder.first(*_TASKFILES)
    make = folder.first("GNUmakefile", "makefile", "Makefile")
    return (
        ("just", just, _target(folder.text(just), r"^@?{}(?:[ \t]+[^:\n]*)?:(?!=)") if just else ""),
        ("make", make, make_target(folder)),
        ("task", task, _target(folder.text(task), r"^  ['\"]?{}['\"]?:\s*(?:#.*)?$") if task else ""),
    )


def _target(text: str, pattern: str) -> str:
    return next((name for name in _NAMES if re.search(pattern.format(name), text, re.MULTILINE)), "")
