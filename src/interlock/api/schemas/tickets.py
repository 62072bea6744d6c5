"""JSON shapes of tickets."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count
from interlock.domain.messages.commands.command import BulkPart
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Assignee, Priority, ReusedGate
from interlock.views.verification import PendingVerification

TicketStatus = Literal["todo", "in_progress", "completed", "blocked", "cancelled"]


class TicketShape(Struct, frozen=True):
    """A ticket and its current activity."""

    id: str
    track: str
    description: str
    status: TicketStatus
    assigned_to: Assignee
    target_file: str | None
    context_requirements: list[str]
    depends_on: list[str]
    blocked_reason: str | None
    step_mode: bool
    verify: list[Gate]
    script: str | None
    priority: Priority
    model_override: str | None
    attempts: Count
    created_at: str | None
    started_at: str | None
    finished_at: str | None
    result: str | None
    unverified: bool
    doing: str
    verification: PendingVerification | None  # the gate it is at, and its failures so far
    reused: list[ReusedGate]  # gates that passed without a run of their own, with the run that each rests on


class Tickets(Struct, frozen=True):
    tickets: list[TicketShape]
    total: Count
    next_offset: int | None


class TicketEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """New values of fields; a field left out keeps its value."""

    changes: Annotated[dict[str, Any], Meta(examples=[{"priority": "high"}])]


class TicketDeed(Struct, frozen=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=10_000, description="The reason of `block` and `cancel`.")] = ""
    position: Annotated[int, Meta(ge=0, description="The new position of `move`, counted from 0.")] | None = None


class MoreTickets(Struct, frozen=True, forbid_unknown_fields=True):
    tickets: Annotated[list[dict[str, Any]], Meta(min_length=1)]


class BulkShape(Struct, frozen=True, forbid_unknown_fields=True):
    commands: Annotated[
        list[BulkPart],
        Meta(min_length=1, examples=[[{"type": "skip_ticket", "track": "greetings", "ticket": "T-1"}]]),
    ]
