"""Rules for starting, stopping and recovering the conductor, and for a journal that came from elsewhere."""

from collections.abc import Iterator
from typing import assert_never

from msgspec.structs import replace

from interlock.domain.messages.commands.conductor_commands import (
    ConductorCommand,
    EndInherited,
    Recover,
    StartConductor,
    StopConductor,
)
from interlock.domain.messages.events.approval_events import ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.attempt_events import (
    AttemptLost,
    AttemptShelved,
)
from interlock.domain.messages.events.conductor_events import ConductorStarted, ConductorStopped
from interlock.domain.messages.events.discussion_events import DiscussionTurnEnded
from interlock.domain.messages.events.epic_events import EpicDropped
from interlock.domain.messages.events.event import Event, Events
from interlock.domain.messages.events.ticket_events import TicketCancelled
from interlock.domain.messages.events.track_events import LandingFailed, TrackAborted
from interlock.domain.rules import discussion_rules
from interlock.domain.rules.approval_request import request_for_attempt
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval, UnknownPayload, approval_number
from interlock.domain.values.discussions import Quiet
from interlock.domain.values.tickets import TERMINAL, Ticket, Verifying, Working
from interlock.errors import Rejected


def decide(state: State, command: ConductorCommand) -> Events:
    match command:
        case StartConductor():
            return start_conductor(command)
        case StopConductor() | Recover():
            return stop_conductor(state, command.reason)
        case EndInherited(reason):
            return end_inherited(state, reason)
        case _:
            assert_never(command)


def start_conductor(command: StartConductor) -> Events:
    if not 1 <= command.workers <= 256:
        raise Rejected(f"workers is a number from 1 to 256, not {command.workers}")
    # Always a float, as decoding the event gives it.
    gates = replace(command.gates, timeout_s=float(command.gates.timeout_s))
    deadline = command.deadline_s or None
    return (
        ConductorStarted(
            command.workers,
            command.auto_queue,
            command.approve_all,
            gates,
            deadline,
            command.caps,
            command.focus,
            command.autonomy,
            command.contained,
        ),
    )


def stop_conductor(state: State, reason: str) -> Events:
    """Running attempts are lost, or shelved if their work is already saved."""
    lost: list[Event] = []
    requested = 0
    if state.busy:
        for track_id in state.track_order:
            track = state.tracks[track_id]
            if not track.counts.in_progress:
                continue
            for name in track.order:
                ticket = track.tickets[name]
                if isinstance(ticket.stage, Working) and ticket.begun:
                    lost.append(_cut_off(state, ticket, requested))
                    requested += 1
                elif isinstance(ticket.stage, Working):
                    lost.append(AttemptLost(track_id, name, ticket.attempts, reason))
                elif isinstance(ticket.stage, Verifying):
                    lost.append(_interrupted(state, ticket, ticket.stage, requested))
                    requested += isinstance(lost[-1], ApprovalRequested)
    unsure = discussion_rules.ask_interrupted(state, requested)
    if state.conductor.on or lost or state.calls or unsure:
        return (*lost, *unsure, ConductorStopped(reason))
    return ()


def _interrupted(state: State, ticket: Ticket, stage: Verifying, earlier: int) -> AttemptShelved | ApprovalRequested:
    """A gate without network runs again. The effects of a gate with network may last, so a person decides."""
    gate = ticket.spec.verify[stage.gate]
    if gate.criteria is not None or not (gate.network or state.conductor.gates.network):
        return AttemptShelved(ticket.track, ticket.id, ticket.attempts)
    payload = UnknownPayload(
        f"run the gate of {ticket.id}, with network: {gate.command}",
        "Whether it was run to its end is not known. retry runs it (again), skip goes on without it (unverified),"
        " abort blocks the ticket.",
    )
    return request_for_attempt(state, ticket, payload, discussion_rules.INTERRUPTED, earlier=earlier)


def _cut_off(state: State, ticket: Ticket, earlier: int) -> ApprovalRequested:
    """A call beyond the worktree may have taken effect, so a person decides. The conversation continues after it."""
    payload = UnknownPayload(
        ticket.begun,
        "Whether it happened is not known. retry does it (again), skip goes on and tells the model that it is not"
        " known, abort blocks the ticket.",
    )
    return request_for_attempt(state, ticket, payload, discussion_rules.INTERRUPTED, earlier=earlier)


# ── a journal that came from elsewhere ───────────────────────────────────────────────────


def end_inherited(state: State, reason: str) -> Events:
    """Withdraws every approval that could still have an effect, and ends all unfinished work.

    The first event is always recorded, so the journal shows where the inherited part ends.
    """
    return (ConductorStopped(reason), *_endings(state, reason))


def _endings(state: State, reason: str) -> Iterator[Event]:
    for approval in usable_approvals(state):
        yield ApprovalWithdrawn(approval.id, reason)
    for track_id in state.track_order:
        yield from _end_track(state.tracks[track_id], reason)
    for name in sorted(state.epics):
        if state.epics[name].status in ("planning", "proposed"):
            yield EpicDropped(name, reason)
    for name in sorted(state.discussions):
        if not isinstance(state.discussions[name].stage, Quiet):
            yield DiscussionTurnEnded(name, reason)


def _end_track(track: Track, reason: str) -> Iterator[Event]:
    if track.landing is not None and track.landing.state in ("asked", "started"):
        yield LandingFailed(track.id, reason)
    unfinished = [name for name in track.order if not isinstance(track.tickets[name].stage, TERMINAL)]
    for name in unfinished:
        yield TicketCancelled(track.id, name, reason)
    if unfinished or track.status not in ("done", "aborted"):
        yield TrackAborted(track.id, reason)


def usable_approvals(state: State) -> tuple[Approval, ...]:
    """Pending approvals, and answered ones whose answer may still be used; oldest first."""
    used: set[str] = set(state.pending.values())
    for track_id in state.track_order:
        for ticket in state.tracks[track_id].tickets.values():
            used.update(grant.approval for grant in (ticket.grant, ticket.spawn) if grant is not None)
            used.update((*ticket.carried, *ticket.used))
    used.update(talk.grant.approval for talk in state.discussions.values() if talk.grant is not None)
    return tuple(state.approvals[name] for name in sorted(used & set(state.approvals), key=approval_number))
