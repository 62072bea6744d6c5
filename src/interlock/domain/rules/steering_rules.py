"""Rules for notes and for autonomy.

A note is the user's text to a running worker or discussion, added before its next model call.
A note is recorded at once. A ticket keeps its notes, so a new attempt gets all of them again, also after a crash.
"""

from typing import assert_never

from interlock.domain.messages.commands.steering_commands import Hear, SetAutonomy, SteeringCommand, Tell
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.steering_events import AutonomySet, Heard, Told
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Quiet
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import (
    Asking,
    Escalated,
    Merging,
    Queued,
    Reviewing,
    Ticket,
    Todo,
    Verifying,
    Working,
)
from interlock.errors import Rejected

MOST_BYTES = 4_000
"""Of one note, because the event holds its whole text."""


def decide(state: State, command: SteeringCommand) -> Events:
    match command:
        case Tell():
            return tell(state, command)
        case Hear():
            return hear(state, command)
        case SetAutonomy():
            return set_autonomy(state, command)
        case _:
            assert_never(command)


def tell(state: State, command: Tell) -> Events:
    if bool(command.ticket) == bool(command.discussion):
        raise Rejected("a note needs a ticket or a discussion, and not both")
    _check(command.text)
    if command.discussion:
        discussion = state.discussion(command.discussion)
        if isinstance(discussion.stage, Quiet):
            raise Rejected(
                f"discussion {discussion.id} is not answering: send a message instead"
                f" (interlock chat --in {discussion.id} 'TEXT')"
            )
        return (Told(CallOwner(discussion=discussion.id), command.text),)
    ticket = state.ticket(command.track, command.ticket)
    _check_stage(ticket)
    return (Told(CallOwner(track=ticket.track, ticket=ticket.id, attempt=ticket.attempts), command.text),)


def hear(state: State, command: Hear) -> Events:
    party = command.party
    if not undelivered_notes(state, party):
        raise Rejected("every note is delivered already")
    if party.ticket:
        ticket = state.ticket(party.track, party.ticket)
        if ticket.attempts != party.attempt or not isinstance(ticket.stage, Working):
            raise Rejected(f"attempt {party.attempt} of ticket {ticket.name!r} is over")
    elif isinstance(state.discussion(party.discussion).stage, Quiet):
        raise Rejected(f"the turn in discussion {party.discussion} is over")
    return (Heard(party, command.message),)


def set_autonomy(state: State, command: SetAutonomy) -> Events:
    if command.ticket:
        state.ticket(command.track, command.ticket)
    elif command.track:
        state.track(command.track)
    return (AutonomySet(command.level, command.track, command.ticket),)


def undelivered_notes(state: State, party: CallOwner) -> tuple[str, ...]:
    """The notes that are not part of the party's conversation yet, oldest first."""
    if party.ticket:
        ticket = state.ticket(party.track, party.ticket)
        return ticket.notes[ticket.delivered :]
    return state.discussion(party.discussion).notes if party.discussion else ()


def _check(text: str) -> None:
    if not text.strip():
        raise Rejected("the note is empty")
    if (size := len(text.encode(errors="replace"))) > MOST_BYTES:
        raise Rejected(f"a note has at most {MOST_BYTES:,} bytes, this one {size:,}")


def _check_stage(ticket: Ticket) -> None:
    if ticket.spec.assigned_to == "shell":
        raise Rejected(f"ticket {ticket.name!r} is a script and takes no notes")
    match ticket.stage:
        case Working() | Asking() | Queued() | Escalated():
            return
        case Todo():
            raise Rejected(f"ticket {ticket.name!r} has not started: edit it instead (interlock tickets edit)")
        case Reviewing():
            raise Rejected(
                f"the work on ticket {ticket.name!r} waits for your review: request changes there"
                " (interlock approvals answer ID changes --message TEXT)"
            )
        case Verifying() | Merging():
            raise Rejected(f"the work on ticket {ticket.name!r} is submitted and being verified: it takes no notes now")
        case _:
            raise Rejected(f"ticket {ticket.name!r} is {ticket.status}: no worker is on it")
