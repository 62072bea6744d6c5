"""Commands about epics and their planning."""

from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import TicketSpec
from interlock.domain.values.wire_names import Tagged as _Command


class PlanEpic(_Command, frozen=True):
    """Plans a goal: a planner proposes its tracks."""

    text: str


class DropEpic(_Command, frozen=True):
    """Stops planning the epic."""

    epic: str
    reason: str = ""


class FinishPlanning(_Command, frozen=True):
    """A planner's answer about an epic, or about one track of it."""

    epic: str
    track: str
    messages: tuple[Blob, ...]
    tier: str
    model: str
    usage: Usage
    call: str


class ProposeTracks(_Command, frozen=True):
    epic: str
    tracks: tuple[TrackPlan, ...]


class PlanTickets(_Command, frozen=True):
    track: str
    tickets: tuple[TicketSpec, ...]


class FailPlanning(_Command, frozen=True):
    epic: str
    track: str
    reason: str
    budget: bool = False


EpicCommand = PlanEpic | DropEpic | FinishPlanning | ProposeTracks | PlanTickets | FailPlanning
