"""Detects what a project is made with. A new ecosystem is one more function in the table."""

from collections.abc import Callable

from msgspec.structs import replace

from interlock.detection.development_tools import helpers_of
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Detected, Missing, Part
from interlock.detection.go_part import go_part
from interlock.detection.jvm.jvm_part import jvm_part
from interlock.detection.machine import Machine
from interlock.detection.native.native_part import native_part
from interlock.detection.node_part import node_part
from interlock.detection.php_part import php_part
from interlock.detection.python.python_part import python_part
from interlock.detection.ruby_part import ruby_part
from interlock.detection.rust_part import rust_part
from interlock.detection.targets_part import targets_part

Detector = Callable[[ProjectFolder, Machine], Part | None]

DETECTORS: tuple[Detector, ...] = (
    python_part,
    node_part,
    rust_part,
    go_part,
    jvm_part,
    ruby_part,
    php_part,
    native_part,
)


def detect(folder: ProjectFolder, machine: Machine) -> Detected:
    """All parts; first those with tests, and of these the one with the most source files."""
    found = [part for detector in DETECTORS if (part := detector(folder, machine)) is not None]
    if not any(part.tests for part in found) and (last := targets_part(folder, machine)) is not None:
        found.append(last)
    found.sort(key=lambda part: (not part.tests, -part.sources))
    return Detected(tuple(map(_printable, found)), helpers_of(folder))


def _printable(part: Part) -> Part:
    """The part without control characters. A command that has some is not proposed: nobody could read it."""
    shown = replace(
        part,
        evidence=tuple(map(_replaced, part.evidence)),
        tests_from=_replaced(part.tests_from),
        missing=tuple(Missing(_replaced(one.what), _replaced(one.remedy)) for one in part.missing),
    )
    if all(text.isprintable() for text in (*part.prepare, *part.setup, part.tests, *part.path)):
        return shown
    why = "a name in the project's files has control characters: no command is proposed"
    return replace(shown, evidence=(*shown.evidence, why), prepare=(), setup=(), tests="", tests_from="", path=())


def _replaced(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text)
