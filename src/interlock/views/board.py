"""Read models of tracks, tickets and workers: rows with counts, built on demand."""

from msgspec import Struct

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.discussions import Doing, Thinking
from interlock.domain.values.tickets import (
    Asking,
    Completed,
    Escalated,
    Merging,
    Queued,
    Reviewing,
    Stage,
    Ticket,
    Todo,
    Verifying,
    Working,
)

_NAMED = 5  # unverified tickets named in a summary


class TrackProgress(Struct, frozen=True):
    completed: int
    total: int


class TrackRow(Struct, frozen=True):
    id: str
    title: str
    status: str
    progress: TrackProgress
    todo: int
    in_progress: int
    blocked: int
    cancelled: int
    unlanded: bool
    created_at: str
    updated_at: str


class WorkerRow(Struct, frozen=True):
    track: str
    ticket: str
    attempt: int
    doing: str
    since: str


def track_row(track: Track) -> TrackRow:
    counts = track.counts
    landed = track.landing is not None and track.landing.state == "landed"
    ended = track.status == "done" or (track.status == "blocked" and counts.completed > 0 and not counts.in_progress)
    return TrackRow(
        track.id,
        track.title,
        track.status,
        TrackProgress(counts.completed, track.total),
        counts.todo,
        counts.in_progress,
        counts.blocked,
        counts.cancelled,
        ended and not landed,
        track.created_at,
        track.updated_at,
    )


def track_rows(state: State) -> tuple[TrackRow, ...]:
    """Every track, followed by the proposed ones."""
    rows = [track_row(state.tracks[name]) for name in state.track_order]
    for epic in state.epics_in_order():
        if epic.status == "proposed":
            rows += [
                TrackRow(
                    p.id, p.title, "proposed", TrackProgress(0, 0), 0, 0, 0, 0, False, epic.created_at, epic.created_at
                )
                for p in epic.proposed
            ]
    return tuple(rows)


def tickets_of(track: Track, first: int = 0, count: int | None = None) -> tuple[Ticket, ...]:
    last = None if count is None else first + count
    return tuple(track.tickets[name] for name in track.order[first:last])


def activity_of(ticket: Ticket, track: Track) -> str:
    """A short phrase for the ticket's current activity."""
    stage = ticket.stage
    match stage:
        case Todo(asked=str(approval)):
            return f"waiting for {approval}"
        case Todo():
            waits = [name for name in ticket.spec.depends_on if _open(track, name)]
            return f"after {', '.join(waits[:3])}{' …' if len(waits) > 3 else ''}" if waits else "ready"
        case Working():
            return "running"
        case Asking(approval):
            return f"waiting for {approval}"
        case Queued():
            return "waiting for a worker"
        case Verifying():
            gate = ticket.spec.verify[stage.gate].shown
            return f"verifying: {gate} (try {stage.attempt_count + 1})"
        case Escalated(approval):
            return f"stopped at its gates, waiting for {approval}"
        case Reviewing(approval=approval, parts=parts):
            asked = f"waiting for its review, {approval}" if approval else "its review is being requested"
            return "the accepted parts are being taken" if parts else asked
        case Merging():
            return "merging"
        case Completed():
            if ticket.result == "skipped":
                return "skipped, unverified"
            return "done, unverified" if ticket.unverified else "verified"
        case _:
            return stage.reason


def unverified_tickets(track: Track) -> tuple[str, ...]:
    """The completed tickets that no gate verified, in order."""
    return tuple(name for name in track.order if track.tickets[name].unverified and _is_done(track.tickets[name]))


def not_verified(track: Track) -> str:
    """For summaries: `, 2 unverified (a, b)`; empty if every completed ticket is verified."""
    names = unverified_tickets(track)
    more = ", …" if len(names) > _NAMED else ""
    return f", {len(names)} unverified ({', '.join(names[:_NAMED])}{more})" if names else ""


def _is_done(ticket: Ticket) -> bool:
    return isinstance(ticket.stage, Completed)


def worker_rows(state: State) -> tuple[WorkerRow, ...]:
    """Every running attempt, also those that wait for an answer."""
    rows: list[WorkerRow] = []
    for track_id in state.track_order:
        track = state.tracks[track_id]
        if not track.counts.in_progress:
            continue
        for name in track.order:
            ticket = track.tickets[name]
            if ticket.status == "in_progress":
                rows.append(
                    WorkerRow(track_id, name, ticket.attempts, activity_of(ticket, track), ticket.started_at or "")
                )
    return tuple(rows)


def waits_for_person(state: State, track_ids: tuple[str, ...], epic_ids: tuple[str, ...] = ()) -> bool:
    """Whether these tracks and epics can only continue after a person answers."""
    proposed = any(state.epics[name].status == "proposed" for name in epic_ids)
    if any(state.epics[name].status == "planning" for name in epic_ids):
        return False
    if any(state.tracks[name].status == "proposed" for name in track_ids):
        return False
    running = [state.tracks[name] for name in track_ids if state.tracks[name].status == "running"]
    moving = sum(track.counts.in_progress + track.schedule.startable for track in running)
    if not moving:
        return proposed
    if moving > len(state.pending):
        return False
    names = {track.id for track in running}
    asked = sum(1 for a in state.pending_approvals() if a.ticket is not None and a.track in names)
    return moving == asked


def work_besides(state: State, tracks: tuple[str, ...], epics: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The tracks, epics and discussions besides the given ones for which something runs now."""
    busy = [
        track.id
        for track in (state.tracks[name] for name in state.track_order if name not in tracks)
        if _runs_now(track) or (track.status == "proposed" and track.epic not in epics and _is_planned(state, track))
    ]
    planning = [
        epic.id
        for epic in state.epics_in_order()
        if epic.id not in epics and epic.status == "planning" and state.conductor.runs_epic(epic.id)
    ]
    talking = [talk.id for talk in state.discussions_in_order() if isinstance(talk.stage, Thinking | Doing)]
    return (*busy, *planning, *talking)


def _runs_now(track: Track) -> bool:
    if track.is_asked_again or (track.landing is not None and track.landing.state == "started"):
        return True
    if not track.counts.in_progress:
        return False
    return any(_is_at_work(ticket.stage) for ticket in track.tickets.values())


def _is_at_work(stage: Stage) -> bool:
    return isinstance(stage, Working | Verifying | Merging) or (isinstance(stage, Reviewing) and not stage.approval)


def _is_planned(state: State, track: Track) -> bool:
    return not track.planned and state.conductor.runs_track(track)


def _open(track: Track, name: str) -> bool:
    ticket = track.tickets.get(name)
    return ticket is None or not isinstance(ticket.stage, Completed)
