"""Commands that start, stop and recover the conductor."""

from interlock.domain.values.budgets import Caps
from interlock.domain.values.gates import GateDefaults
from interlock.domain.values.wire_names import Tagged as _Command


class StartConductor(_Command, frozen=True):
    """From now on ready tickets may start; a running process stands behind this."""

    workers: int = 4
    auto_queue: bool = False
    approve_all: bool = False
    gates: GateDefaults = GateDefaults()
    deadline_s: int | None = None  # every question is denied when nobody answers for so long
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None  # only these tracks go on; None: all


class StopConductor(_Command, frozen=True):
    reason: str = ""


class Recover(_Command, frozen=True):
    """The process before this one is gone: what it had in hand is lost."""

    reason: str = "the workbench stopped"


ConductorCommand = StartConductor | StopConductor | Recover
