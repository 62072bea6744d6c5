"""Rules for epics and for the planning of their tracks."""

from collections.abc import Sequence
from typing import assert_never

from interlock.domain.checks.dag import Dag
from interlock.domain.messages.commands.epic_commands import (
    DropEpic,
    EpicCommand,
    FailPlanning,
    FinishPlanning,
    PlanEpic,
    PlanTickets,
    ProposeTracks,
)
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.messages.events.conductor_events import EpicAdmitted
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    PlannerAnswered,
    PlanningFailed,
    TrackPlanned,
    TracksProposed,
)
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.track_events import TrackAdded, TrackStarted
from interlock.domain.rules.approval_request import request
from interlock.domain.rules.track_rules import check_specs, tickets_added
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval, TracksPayload
from interlock.domain.values.epics import Epic, TrackPlan
from interlock.domain.values.ids import check_id
from interlock.errors import Rejected

MOST_TEXT = 100_000


def decide(state: State, command: EpicCommand) -> Events:
    match command:
        case PlanEpic():
            return plan_epic(state, command)
        case DropEpic():
            return drop_epic(state, command)
        case FinishPlanning():
            return finish_planning(state, command)
        case ProposeTracks():
            return propose_tracks(state, command)
        case PlanTickets():
            return plan_tickets(state, command)
        case FailPlanning():
            return fail_planning(state, command)
        case _:
            assert_never(command)


def plan_epic(state: State, command: PlanEpic) -> Events:
    text = command.text.strip()
    if not text:
        raise Rejected("the text of an epic is empty; describe what is to be achieved")
    if len(text) > MOST_TEXT:
        raise Rejected(f"an epic has at most {MOST_TEXT:,} characters, this one {len(text):,}")
    name = f"E-{len(state.epics) + 1}"
    admitted = state.conductor.on and not state.conductor.runs_epic(name)
    return (EpicAdded(name, text), *((EpicAdmitted(name),) if admitted else ()))


def drop_epic(state: State, command: DropEpic) -> Events:
    epic = state.epic(command.epic)
    if epic.status not in ("planning", "proposed"):
        raise Rejected(f"epic {epic.id} is {epic.status} already")
    open_approvals = [a.id for a in state.pending_approvals() if _is_proposal_of(a, epic.id)]
    reason = command.reason.strip() or "dropped"
    return (
        *(ApprovalWithdrawn(name, f"epic {epic.id}: {reason}") for name in open_approvals),
        EpicDropped(epic.id, reason),
    )


def finish_planning(state: State, command: FinishPlanning) -> Events:
    _require_planning(state, command.epic, command.track)
    return (
        PlannerAnswered(
            command.epic,
            command.track,
            command.messages,
            command.tier,
            command.model,
            command.usage,
            command.call,
        ),
    )


def propose_tracks(state: State, command: ProposeTracks) -> Events:
    epic = state.epic(command.epic)
    _require_planning(state, epic.id, "")
    plans = check_plans(state, command.tracks)
    payload = TracksPayload(epic.id, epic.text, plans)
    count = f"{len(plans)} track{'s' if len(plans) != 1 else ''}"
    return (
        TracksProposed(epic.id, plans),
        request(state, payload, asker=SYSTEM, why=f"epic {epic.id} would become {count}"),
    )


def check_plans(state: State, plans: Sequence[TrackPlan]) -> tuple[TrackPlan, ...]:
    """The proposed tracks, checked. An id that a track already has gets a number."""
    if not plans:
        raise Rejected("a proposal has at least one track")
    seen: dict[str, None] = {}
    checked_plans: list[TrackPlan] = []
    for plan in plans:
        check_id(plan.id, "track")
        if plan.id in seen:
            raise Rejected(f"duplicate track id {plan.id!r}")
        seen[plan.id] = None
        if (length := len(plan.title) + len(plan.description)) > MOST_TEXT:
            raise Rejected(f"track {plan.id!r} is described in at most {MOST_TEXT:,} characters, not {length:,}")
    taken = {*state.tracks, *seen}
    for plan in plans:
        name = plan.id if plan.id not in state.tracks else _unused_id(plan.id, taken)
        taken.add(name)
        checked_plans.append(TrackPlan(name, plan.title.strip() or name, plan.description))
    return tuple(checked_plans)


def accept_tracks(state: State, epic: str, plans: tuple[TrackPlan, ...]) -> Events:
    """The events of accepting proposed tracks."""
    checked_plans = check_plans(state, plans)
    return (
        EpicAccepted(epic, tuple(plan.id for plan in checked_plans)),
        *(TrackAdded(plan.id, plan.title, plan.description, epic) for plan in checked_plans),
    )


def plan_tickets(state: State, command: PlanTickets) -> Events:
    """Adds the planned tickets. The first track of an epic starts, the others become ready."""
    track = _track_being_planned(state, command.track)
    if not command.tickets:
        raise Rejected("a plan has at least one ticket")
    specs = check_specs(command.tickets)
    dag = Dag([spec.id for spec in specs], (spec.depends_on for spec in specs))
    by_id = {spec.id: spec for spec in specs}
    ordered = tuple(by_id[name] for name in dag.topological_order())
    first = state.epics[track.epic].tracks[0] == track.id
    return (*tickets_added(track.id, ordered), TrackPlanned(track.id), *((TrackStarted(track.id),) if first else ()))


def fail_planning(state: State, command: FailPlanning) -> Events:
    _require_planning(state, command.epic, command.track)
    return (PlanningFailed(command.epic, command.track, command.reason, command.budget),)


def _require_planning(state: State, epic_id: str, track_id: str) -> None:
    """Raises Rejected if the planning of the epic, or of the track, is over."""
    if track_id:
        _track_being_planned(state, track_id)
        return
    epic: Epic = state.epic(epic_id)
    if epic.status != "planning":
        raise Rejected(f"the planning of epic {epic.id} is over: it is {epic.status}")


def _track_being_planned(state: State, track_id: str) -> Track:
    track = state.track(track_id)
    if track.planned or track.status != "proposed":
        raise Rejected(f"the planning of track {track.id!r} is over: it is {track.status}")
    return track


def _is_proposal_of(approval: Approval, epic: str) -> bool:
    return isinstance(approval.payload, TracksPayload) and approval.payload.epic == epic


def _unused_id(name: str, taken: set[str]) -> str:
    number = 2
    while (candidate := f"{name[:58]}-{number}") in taken:
        number += 1
    return candidate
