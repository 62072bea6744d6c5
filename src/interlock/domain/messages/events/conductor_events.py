"""Events of the conductor."""

from interlock.domain.messages.events.event_base import BaseEvent, OfEpic, OfTrack
from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.budgets import Caps
from interlock.domain.values.gates import GateDefaults


class ConductorStarted(BaseEvent, frozen=True):
    workers: int
    auto_queue: bool
    approve_all: bool
    gates: GateDefaults
    deadline_s: int | None = None
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None
    autonomy: Autonomy = "ask"
    contained: bool = False


class ConductorStopped(BaseEvent, frozen=True):
    reason: str


class TrackAdmitted(OfTrack, frozen=True):
    """The conductor, which runs some tracks only, runs this one as well: a person started it."""


class EpicAdmitted(OfEpic, frozen=True):
    """The conductor, which runs some tracks only, plans this epic and runs its tracks as well."""


ConductorEvent = ConductorStarted | ConductorStopped | TrackAdmitted | EpicAdmitted
