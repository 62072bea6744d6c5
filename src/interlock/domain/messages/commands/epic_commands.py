"""Commands about epics and their planning."""

from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import TicketSpec
from interlock.domain.values.wire_names import Tagged as _Command


class PlanEpic(_Command, frozen=True):
    """A goal in words: its tracks are planned and proposed."""

    text: str


class DropEpic(_Command, frozen=True):
    """Stop planning it."""

    epic: str
    reason: str = ""


class FinishPlanning(_Command, frozen=True):
    """A planner was asked and has answered: about an epic, or about one track of it."""

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
