"""Cuts the power after every call of a recorded process."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.power_cut import Disk, Survival
from tests.faults.system_calls import record


@dataclass(frozen=True)
class Cut:
    """The files after a power cut, and what the process had said before it."""

    folder: Path
    said: tuple[str, ...]
    survival: Survival | Mapping[str, Survival]
    last_call: str


def cuts(
    root: Path,
    module: str,
    *arguments: str,
    survivals: Sequence[Survival | Mapping[str, Survival]],
    only_said: bool = False,
    after: Callable[[str, tuple[bytes, ...]], bool] = lambda name, paths: True,
) -> Iterator[Cut]:
    """Runs the module on `root`, then yields what survives a power cut after each of its calls.

    `only_said`: cuts only right after the process said something. `after`: cuts only after these calls. The folder of
    a cut is removed after its turn. The process gets `root` itself, and it is gone before the first cut.
    """
    disk = Disk(root)
    calls = record(root.parent, module, *arguments)
    shutil.rmtree(root)
    for number, call in enumerate(calls):
        said = len(disk.marks)
        if not disk.apply(call) or (only_said and len(disk.marks) == said):
            continue
        if not after(call.name, call.arguments):
            continue
        for survival in survivals:
            disk.rebuild(root, survival)
            yield Cut(root, tuple(disk.marks), survival, f"{number}: {call.name}{call.arguments[:1]!r}")
            shutil.rmtree(root)
