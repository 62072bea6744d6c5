"""Rules for whole tracks: adding, starting, pausing, editing, aborting."""

from collections.abc import Iterable
from math import isfinite
from typing import assert_never

from msgspec.structs import replace

from interlock.domain.checks.dag import Dag
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    EditTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
    TrackCommand,
)
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.messages.events.conductor_events import TrackAdmitted
from interlock.domain.messages.events.epic_events import PlanningRetried
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.ticket_events import TicketCancelled, TicketReopened
from interlock.domain.messages.events.track_events import (
    TicketsAdded,
    TrackAborted,
    TrackAdded,
    TrackEdited,
    TrackPaused,
    TrackStarted,
)
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.gates import Gate
from interlock.domain.values.ids import check_id
from interlock.domain.values.tickets import (
    AGENTS,
    ROLES,
    TERMINAL,
    Blocked,
    Merging,
    Ticket,
    TicketSpec,
    is_assignee,
)
from interlock.errors import Rejected

TICKETS_PER_EVENT = 1_000
"""A large import becomes several events of one all-or-nothing append, not one huge row."""


def decide(state: State, command: TrackCommand) -> Events:
    match command:
        case AddTrack():
            return add_track(state, command)
        case AddTickets():
            return add_tickets(state, command)
        case StartTrack():
            return start_track(state, command)
        case PauseTrack():
            return pause_track(state, command)
        case ResumeTrack():
            return resume_track(state, command)
        case EditTrack():
            return edit_track(state, command)
        case AbortTrack():
            return abort_track(state, command)
        case _:
            assert_never(command)


def add_track(state: State, command: AddTrack) -> Events:
    check_id(command.track, "track")
    if command.track in state.tracks:
        raise Rejected(f"track {command.track!r} exists already; choose another id, or add tickets to it")
    specs = check_specs(command.tickets)
    Dag([spec.id for spec in specs], (spec.depends_on for spec in specs))
    title = command.title.strip() or command.track
    return (TrackAdded(command.track, title, command.description), *tickets_added(command.track, specs))


def add_tickets(state: State, command: AddTickets) -> Events:
    track = state.track(command.track)
    if track.status == "aborted":
        raise Rejected(f"track {track.id!r} is aborted; import the tickets as another track")
    if not track.planned:
        raise Rejected(f"the tickets of track {track.id!r} are not planned yet; add yours afterwards")
    if not command.tickets:
        raise Rejected("no ticket is given")
    specs = check_specs(command.tickets)
    everything = [*(track.tickets[name].spec for name in track.order), *specs]
    Dag([spec.id for spec in everything], (spec.depends_on for spec in everything))
    return (*tickets_added(track.id, specs), *_restart(state, track))


def start_track(state: State, command: StartTrack) -> Events:
    track = state.track(command.track)
    match track.status:
        case "running":
            return admitted(state, track)
        case "blocked" if not track.planned:
            return (*admitted(state, track), PlanningRetried(track.id))
        case "ready" | "paused" | "blocked":
            return (*admitted(state, track), *_saved_again(track), TrackStarted(track.id))
        case "proposed":
            raise Rejected(f"the tickets of track {track.id!r} are still being planned")
        case _:
            raise Rejected(f"track {track.id!r} is {track.status}; it cannot be started")


def _saved_again(track: Track) -> Iterable[TicketReopened]:
    """Finished work that could not be saved, as on a full disk, is saved when its track is started again."""
    if not track.counts.blocked:
        return ()
    tickets = (track.tickets[name] for name in track.order)
    return (
        TicketReopened(track.id, ticket.id)
        for ticket in tickets
        if ticket.unsaved is not None and isinstance(ticket.stage, Blocked)
    )


def pause_track(state: State, command: PauseTrack) -> Events:
    track = state.track(command.track)
    if track.status == "paused":
        return ()
    if track.status not in ("running", "ready"):
        raise Rejected(f"track {track.id!r} is {track.status}; only a running track can be paused")
    return (TrackPaused(track.id),)


def resume_track(state: State, command: ResumeTrack) -> Events:
    track = state.track(command.track)
    if track.status != "paused":
        raise Rejected(f"track {track.id!r} is {track.status}, not paused")
    return (*admitted(state, track), TrackStarted(track.id))


def admitted(state: State, track: Track) -> Events:
    """A person wants this track to run, also if the conductor was started for other tracks."""
    return (TrackAdmitted(track.id),) if state.conductor.on and not state.conductor.runs_track(track) else ()


def edit_track(state: State, command: EditTrack) -> Events:
    track = state.track(command.track)
    title = track.title if command.title is None else command.title.strip()
    description = track.description if command.description is None else command.description
    if not title:
        raise Rejected("a track has a title")
    if (title, description) == (track.title, track.description):
        raise Rejected("the edit changes nothing")
    return (TrackEdited(track.id, title, description),)


def abort_track(state: State, command: AbortTrack) -> Events:
    track = state.track(command.track)
    if track.status in ("done", "aborted"):
        raise Rejected(f"track {track.id!r} is {track.status} already")
    return abort_events(state, track, command.reason)


def abort_events(state: State, track: Track, reason: str, but: str | None = None) -> Events:
    """Cancels every unfinished ticket and withdraws the open approvals, except `but`.

    A merge under way continues: its commit may be on the branch already.
    """
    open_approvals = [a for a in state.pending_approvals() if a.track == track.id and a.id != but]
    unfinished = [
        t for t in (track.tickets[name] for name in track.order) if not isinstance(t.stage, (*TERMINAL, Merging))
    ]
    return (
        *(ApprovalWithdrawn(a.id, f"track aborted: {reason}") for a in open_approvals),
        *(TicketCancelled(track.id, t.id, f"track aborted: {reason}") for t in unfinished),
        TrackAborted(track.id, reason),
    )


def restart_track_of(state: State, ticket: Ticket) -> Events:
    return _restart(state, state.track(ticket.track))


def _restart(state: State, track: Track) -> Events:
    """Starts a track again that had ended: a ticket of it can run again."""
    return (*admitted(state, track), TrackStarted(track.id)) if track.status in ("done", "blocked") else ()


def tickets_added(track: str, specs: tuple[TicketSpec, ...]) -> Iterable[TicketsAdded]:
    return (
        TicketsAdded(track, specs[start : start + TICKETS_PER_EVENT])
        for start in range(0, len(specs), TICKETS_PER_EVENT)
    )


def check_specs(specs: tuple[TicketSpec, ...]) -> tuple[TicketSpec, ...]:
    return tuple(check_spec(spec) for spec in specs)


def check_spec(spec: TicketSpec) -> TicketSpec:
    """The spec without repeated dependencies. Raises Rejected if it is not consistent in itself."""
    if spec.assigned_to not in ROLES and not is_assignee(spec.assigned_to):
        known = ", ".join((*ROLES, *AGENTS))
        raise Rejected(f"ticket {spec.id!r}: 'assigned_to' is one of {known} or agent:NAME, not {spec.assigned_to!r}")
    if spec.assigned_to == "shell" and not (spec.script and spec.script.strip()):
        raise Rejected(f"ticket {spec.id!r} is assigned to 'shell' and needs a 'script'")
    if spec.assigned_to != "shell" and spec.script is not None:
        raise Rejected(f"ticket {spec.id!r} has a 'script' but is assigned to {spec.assigned_to!r}, not to 'shell'")
    for gate in spec.verify:
        if gate.max_attempts is not None and gate.max_attempts < 1:
            raise Rejected(f"ticket {spec.id!r}: max_attempts of a gate is at least 1, not {gate.max_attempts}")
        if gate.timeout_s is not None and not isfinite(gate.timeout_s):
            raise Rejected(f"ticket {spec.id!r}: timeout_s of a gate is a number of seconds")
    if any(type(gate.timeout_s) is int for gate in spec.verify):  # decoded from the journal it would be a float
        spec = replace(spec, verify=tuple(_with_float_timeout(gate) for gate in spec.verify))
    if len(spec.depends_on) > 1 and len(set(spec.depends_on)) != len(spec.depends_on):
        spec = replace(spec, depends_on=tuple(dict.fromkeys(spec.depends_on)))
    return spec


def _with_float_timeout(gate: Gate) -> Gate:
    return gate if gate.timeout_s is None else replace(gate, timeout_s=float(gate.timeout_s))
