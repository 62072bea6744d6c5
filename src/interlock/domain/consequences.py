"""Events that follow from the state without a command: tickets start, steps are asked, tracks end.

They are recorded in the same all-or-nothing batch as the command that made them possible.
"""

from collections.abc import Iterator

from msgspec import UNSET

from interlock.domain.messages.envelopes import APPROVE_ALL, APPROVED_STEP, CONTAINED, SYSTEM, Actor
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.attempt_events import AttemptResumed, TicketStarted
from interlock.domain.messages.events.conductor_events import ConductorStarted, EpicAdmitted, TrackAdmitted
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.steering_events import AutonomySet
from interlock.domain.messages.events.ticket_events import TicketBlocked
from interlock.domain.messages.events.track_events import TrackEnded
from interlock.domain.rules.approval_request import request
from interlock.domain.rules.approval_rules import automatic_answer, started_by_approval
from interlock.domain.state.autonomy import answers_itself, level_of
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import (
    Again,
    Answered,
    Approval,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    TracksPayload,
    only_a_person,
)
from interlock.domain.values.tickets import Asking, Queued, Ticket


def next_move(state: State) -> tuple[Actor, Event] | None:
    """The next event that follows from the state, or None."""
    for track_id in state.running:
        track = state.tracks[track_id]
        if state.conductor.runs_track(track) and (event := _start_or_ask(state, track)):
            return SYSTEM, event
        if not track.counts.in_progress and not track.schedule.startable:
            return SYSTEM, TrackEnded(track.id, "done" if track.counts.completed == track.total else "blocked")
    return None


def automatic_answers(state: State, event: Event) -> Iterator[tuple[Actor, Event]]:
    """The answers of policy rules and of `--approve all`, for the same batch as the request.

    The actor of each answer names the rule.
    """
    match event:
        case ApprovalRequested(approval=approval_id, allowed_by=rule) if rule:
            allowed = ApprovalAnswered(approval_id, "approve", message=event.why, digest=event.digest)
            yield f"policy:{rule}", allowed
            return
        case ApprovalRequested(approval=approval_id):
            asked = (state.approvals[approval_id],)
            if answer := _answer_of_step(state, asked[0]):
                yield APPROVED_STEP, answer
                return
            if answers_itself(state, asked[0]):
                yield CONTAINED, _contained_answer(state, asked[0])
                return
        case AutonomySet():
            for approval in state.pending_approvals():
                if answers_itself(state, approval):
                    yield CONTAINED, _contained_answer(state, approval)
            return
        case ConductorStarted() | TrackAdmitted() | EpicAdmitted():
            asked = state.pending_approvals()
        case _:
            return
    if not (state.conductor.on and state.conductor.approve_all):
        return
    for approval in asked:
        if not _is_in_focus(state, approval):
            continue
        if answer := automatic_answer(approval):
            yield APPROVE_ALL, answer
            yield from ((SYSTEM, begun) for begun in started_by_approval(state, approval))
        elif not isinstance(event, ApprovalRequested):  # a new question waits: the next process may ask a person
            yield from _block_undecided(approval)


def _answer_of_step(state: State, approval: Approval) -> ApprovalAnswered | None:
    """A person who approved the step of a ticket is not asked again about what that approval showed."""
    ticket = state.tracks[approval.track].tickets[approval.ticket] if approval.ticket else None
    if ticket is None or not isinstance(ticket.stage, Asking) or ticket.stage.then.step is None or approval.again:
        return None
    step = state.approvals[ticket.stage.then.step]
    if not isinstance(step.state, Answered) or step.state.by.startswith("policy:"):
        return None
    match approval.payload, step.payload:
        case ScriptPayload() as asked, StepPayload(script=shown):
            same = asked.script == shown and not asked.network and asked.sandbox != "off" and not asked.services
        case SpawnPayload(role=role), StepPayload(role=shown):
            same = role == shown and not only_a_person(approval.payload)
        case _:
            return None
    message = f"approved by {step.state.by} with {step.id}"
    return ApprovalAnswered(approval.id, "approve", message, digest=approval.digest) if same else None


def _contained_answer(state: State, approval: Approval) -> ApprovalAnswered:
    ticket = state.tracks[approval.track].tickets[approval.ticket or ""]
    kept = approval.again or Again("")
    return ApprovalAnswered(
        approval.id,
        "approve",
        message=f"contained in the sandboxed worktree; autonomy {level_of(state, ticket)}",
        edited=kept.edited,
        digest=approval.digest,
        edited_context=kept.edited_context,
    )


def _is_in_focus(state: State, approval: Approval) -> bool:
    """Whether the approval is about work that this conductor runs. Discussions have no focus."""
    if isinstance(approval.payload, TracksPayload):
        return state.conductor.runs_epic(approval.payload.epic)
    return not approval.track or state.conductor.runs_track(state.tracks[approval.track])


def _block_undecided(approval: Approval) -> Iterator[tuple[Actor, Event]]:
    """`--approve all` never answers a gate or an unknown outcome, and no person will: their tickets are blocked."""
    if approval.ticket:
        yield SYSTEM, ApprovalWithdrawn(approval.id, "--approve all answers no approval of this kind")
        reason = f"a person must decide ({approval.id}, {approval.kind}), and --approve all does not"
        yield SYSTEM, TicketBlocked(approval.track, approval.ticket, reason, failed=True)


def _start_or_ask(state: State, track: Track) -> Event | None:
    schedule = track.schedule
    if schedule.steps is not None:
        return _ask_step(state, track.tickets[schedule.steps[2]])
    free = state.busy < state.conductor.workers
    if free and schedule.cleared is not None:
        ticket = track.tickets[schedule.cleared[2]]
        if isinstance(ticket.stage, Queued):
            return AttemptResumed(track.id, ticket.id, ticket.attempts)
        return TicketStarted(track.id, ticket.id, ticket.attempts + 1)
    if schedule.ready is not None:
        ticket = track.tickets[schedule.ready[2]]
        if not state.conductor.auto_queue and level_of(state, ticket) == "ask":
            return _ask_step(state, ticket)
        if free:
            return TicketStarted(track.id, ticket.id, ticket.attempts + 1)
    return None


def _ask_step(state: State, ticket: Ticket) -> ApprovalRequested:
    spec = ticket.spec
    gates = tuple(gate.shown for gate in spec.verify) or UNSET
    payload = StepPayload(spec.description, spec.assigned_to, spec.script, gates)
    why = "the ticket is in step mode" if ticket.spec.step_mode else "tickets start by themselves only with auto_queue"
    return request(state, payload, asker=SYSTEM, why=why, track=ticket.track, ticket=ticket.id)
