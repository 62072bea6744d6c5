"""Detects what a project is made with. A new ecosystem is one more function in the table."""

from collections.abc import Callable

from interlock.detection.development_tools import helpers_of
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Detected, Part
from interlock.detection.machine import Machine
from interlock.detection.node_part import node_part
from interlock.detection.python.python_part import python_part

Detector = Callable[[ProjectFolder, Machine], Part | None]

DETECTORS: tuple[Detector, ...] = (python_part, node_part)


def detect(folder: ProjectFolder, machine: Machine) -> Detected:
    """All parts; first those with tests, and of these the one with the most source files."""
    found = [part for detector in DETECTORS if (part := detector(folder, machine)) is not None]
    found.sort(key=lambda part: (not part.tests, -part.sources))
    return Detected(tuple(found), helpers_of(folder))
