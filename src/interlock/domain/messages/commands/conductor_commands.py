"""Commands that start, stop and recover the conductor."""

from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.budgets import Caps
from interlock.domain.values.gates import GateDefaults
from interlock.domain.values.wire_names import Tagged as _Command


class StartConductor(_Command, frozen=True):
    """Lets ready tickets start while this process runs."""

    workers: int = 4
    auto_queue: bool = False
    approve_all: bool = False
    gates: GateDefaults = GateDefaults()
    deadline_s: int | None = None  # an approval expires after so many seconds
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None  # only these tracks run; None means all
    autonomy: Autonomy = "ask"  # where no person has chosen another
    contained: bool = False  # commands run in a sandbox


class StopConductor(_Command, frozen=True):
    reason: str = ""


class Recover(_Command, frozen=True):
    """The earlier process is gone: its running attempts are lost."""

    reason: str = "the workbench stopped"


class EndInherited(_Command, frozen=True):
    """The journal came from elsewhere: it is kept as history, and nothing in it continues."""

    reason: str


ConductorCommand = StartConductor | StopConductor | Recover | EndInherited
