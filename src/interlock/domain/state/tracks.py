"""A track: an ordered set of tickets with a shared goal, and its counts."""

from typing import Literal

from immutables import Map
from msgspec import UNSET, Struct, UnsetType

from interlock.domain.state.schedule import Schedule, current
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Ticket

TrackStatus = Literal["proposed", "ready", "running", "paused", "done", "blocked", "aborted"]


class Counts(Struct, frozen=True):
    """The number of tickets with each status."""

    todo: int = 0
    in_progress: int = 0
    completed: int = 0
    blocked: int = 0
    cancelled: int = 0


class TrackLanding(Struct, frozen=True):
    branch: str
    before: str
    after: str
    state: Literal["asked", "started", "landed", "failed", "parts", "changes"]
    detail: str = ""
    parts: tuple[int, ...] | UnsetType = UNSET  # in the state `parts`: those that a person accepted


class Track(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    description: str
    status: TrackStatus = "ready"
    created_at: str
    updated_at: str
    order: tuple[str, ...] = ()
    tickets: Map[str, Ticket] = Map()
    counts: Counts = Counts()
    landing: TrackLanding | None = None
    epic: str = ""  # the epic it was planned for
    planned: bool = True  # False until its tickets are planned
    planning: tuple[Blob, ...] = ()  # the messages of its planner's conversation
    fault: str = ""  # why its planning failed
    schedule: Schedule = Schedule()

    @property
    def total(self) -> int:
        return len(self.order)

    @property
    def is_asked_again(self) -> bool:
        """Whether its landing was answered with parts, or with changes that are made now, and must be asked again."""
        landing = self.landing
        if landing is None:
            return False
        return landing.state == "parts" or (landing.state == "changes" and self.status == "done")

    def executable(self) -> tuple[Ticket, ...]:
        """Todo tickets with every dependency completed, in order."""
        waiting = current(self.schedule, self.order, self.tickets).waiting
        return tuple(
            ticket for name in self.order if (ticket := self.tickets[name]).status == "todo" and name not in waiting
        )
