"""Commands of a person about single tickets."""

from msgspec import UNSET, Struct, UnsetType

from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Assignee, Priority
from interlock.domain.values.wire_names import Tagged as _Command


class TicketChanges(Struct, frozen=True, gc=False, omit_defaults=True):
    """The fields that an edit replaces; unset fields stay."""

    description: str | UnsetType = UNSET
    assigned_to: Assignee | UnsetType = UNSET
    target_file: str | UnsetType | None = UNSET
    context_requirements: tuple[str, ...] | UnsetType = UNSET
    depends_on: tuple[str, ...] | UnsetType = UNSET
    step_mode: bool | UnsetType = UNSET
    verify: tuple[Gate, ...] | UnsetType = UNSET
    script: str | UnsetType | None = UNSET
    priority: Priority | UnsetType = UNSET
    model_override: str | UnsetType | None = UNSET
    with_answers: bool | UnsetType = UNSET
    returns: bool | UnsetType = UNSET


class EditTicket(_Command, frozen=True):
    track: str
    ticket: str
    changes: TicketChanges


class MoveTicket(_Command, frozen=True):
    """Moves a ticket to `position` (from 0) of its track's order."""

    track: str
    ticket: str
    position: int


class SkipTicket(_Command, frozen=True):
    track: str
    ticket: str


class RetryTicket(_Command, frozen=True):
    track: str
    ticket: str


class BlockTicket(_Command, frozen=True):
    track: str
    ticket: str
    reason: str


class CancelTicket(_Command, frozen=True):
    track: str
    ticket: str
    reason: str = "cancelled"


class KillWorker(_Command, frozen=True):
    track: str
    ticket: str


TicketCommand = EditTicket | MoveTicket | SkipTicket | RetryTicket | BlockTicket | CancelTicket | KillWorker
