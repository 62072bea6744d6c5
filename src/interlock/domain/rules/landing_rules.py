"""Rules for landing a finished track on the user's branch."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding, LandingCommand
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.track_events import LandingFailed, TrackLanded
from interlock.domain.rules.approval_request import request
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Blocked, Cancelled, Completed, Ticket
from interlock.errors import Rejected


def decide(state: State, command: LandingCommand, actor: str) -> Events:
    match command:
        case AskLanding():
            return ask_landing(state, command, actor)
        case FinishLanding():
            return finish_landing(state, command)
        case FailLanding():
            return fail_landing(state, command)
        case _:
            assert_never(command)


def ask_landing(state: State, command: AskLanding, actor: str) -> Events:
    track = state.track(command.track)
    check_landable(track)
    if any(a.kind == "merge" and a.track == track.id for a in state.pending_approvals()):
        raise Rejected(f"the landing of track {track.id!r} is already requested")
    why = command.why or f"land track {track.id} on {command.payload.branch}"
    missing = left_out(track)
    payload = replace(command.payload, left_out=missing) if missing else command.payload
    return (request(state, payload, asker=actor, why=why, track=track.id),)


def check_landable(track: Track) -> None:
    """Raises Rejected unless the track has ended with something complete."""
    if track.status == "done":
        return
    if track.status != "blocked" or track.counts.in_progress:
        raise Rejected(f"track {track.id!r} is {track.status}; only a track that has ended can be landed")
    if not track.counts.completed:
        raise Rejected(f"no ticket of track {track.id!r} is completed: there is nothing to land")


def left_out(track: Track) -> tuple[str, ...]:
    """The tickets whose work is not part of a landing, each with the reason."""
    tickets = (track.tickets[name] for name in track.order)
    return tuple(_why_left_out(ticket) for ticket in tickets if not isinstance(ticket.stage, Completed))


def _why_left_out(ticket: Ticket) -> str:
    match ticket.stage:
        case Cancelled(reason) | Blocked(reason):
            first = reason.strip().partition("\n")[0][:200]
            return f"{ticket.id}: {ticket.status}{': ' + first if first else ''}"
        case _:
            return f"{ticket.id}: {ticket.status}"


def finish_landing(state: State, command: FinishLanding) -> Events:
    track = state.track(command.track)
    if track.landing is None or track.landing.state != "started":
        raise Rejected(f"track {track.id!r} is not being landed")
    return (TrackLanded(track.id, command.commit, command.detail),)


def fail_landing(state: State, command: FailLanding) -> Events:
    track = state.track(command.track)
    if track.landing is None or track.landing.state not in ("started", "parts", "changes"):
        raise Rejected(f"track {track.id!r} is not being landed")
    return (LandingFailed(track.id, command.reason),)
