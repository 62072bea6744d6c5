"""Facts change state. Nothing here refuses: whatever is recorded has happened."""

from typing import assert_never

from immutables import Map
from msgspec.structs import replace

from interlock.domain.facts import discussion_facts, planning_facts, steering_facts
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.attempt_events import (
    AttemptLost,
    AttemptResumed,
    AttemptReturned,
    AttemptShelved,
    GateFinished,
    SessionStarted,
    TicketStarted,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.conductor_events import ConductorStarted, ConductorStopped
from interlock.domain.messages.events.discussion_events import (
    DiscussionAsked,
    DiscussionReplied,
    DiscussionStarted,
    DiscussionToolBegun,
    DiscussionToolFinished,
    DiscussionTurnEnded,
)
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    PlannerAnswered,
    PlanningFailed,
    PlanningRetried,
    TrackPlanned,
    TracksProposed,
)
from interlock.domain.messages.events.steering_events import Heard, Told
from interlock.domain.messages.events.test_history_events import TestExecuted, TestReportRead, TestsForgotten
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketCompleted,
    TicketEdited,
    TicketMoved,
    TicketReopened,
    TicketSkipped,
)
from interlock.domain.messages.events.track_events import (
    LandingFailed,
    LandingStarted,
    TicketsAdded,
    TrackAborted,
    TrackAdded,
    TrackEdited,
    TrackEnded,
    TrackLanded,
    TrackPaused,
    TrackStarted,
)
from interlock.domain.state import schedule as scheduling
from interlock.domain.state.state import ConductorState, State
from interlock.domain.state.ticket_update import place, put, set_status
from interlock.domain.state.tracks import Track, TrackLanding
from interlock.domain.values.approvals import (
    Answered,
    Approval,
    GatePayload,
    UnknownPayload,
    Withdrawn,
    approval_number,
    is_call,
)
from interlock.domain.values.gates import Blob, limits
from interlock.domain.values.tickets import (
    Asking,
    Blocked,
    Cancelled,
    Completed,
    Escalated,
    Grant,
    Merging,
    Queued,
    Saved,
    Ticket,
    Todo,
    Tried,
    Verifying,
    Working,
)


def evolve(state: State, recorded: Recorded) -> State:
    """The state after one more fact."""
    state = _apply(state, recorded)
    return replace(state, version=recorded.version)


def _apply(state: State, recorded: Recorded) -> State:
    event, at = recorded.event, recorded.at
    match event:
        case TicketStarted(track, ticket, attempt):
            found = state.tracks[track].tickets[ticket]
            begun = found.started_at or at
            stage = Working(found.stage.tried if isinstance(found.stage, Todo) else None)
            return put(state, replace(found, stage=stage, attempts=attempt, started_at=begun, session=()), at)
        case TicketCompleted(track, ticket, _, commit, unverified, result):
            found = state.tracks[track].tickets[ticket]
            done = replace(
                found,
                stage=Completed(commit),
                finished_at=at,
                unverified=unverified,
                result=result,
                why=None,
                grant=None,
                carried=(),
            )
            return put(state, done, at)
        case WorkSubmitted(track, ticket, _, saved, summary):
            found = state.tracks[track].tickets[ticket]
            tried = found.stage.tried if isinstance(found.stage, Working) else None
            stage = _at_gate(saved, 0, tried) if found.spec.verify else Merging(saved, unverified=True)
            return put(state, replace(found, stage=stage, grant=None, result=summary or None), at)
        case SessionStarted(track, ticket, _, message):
            found = state.tracks[track].tickets[ticket]
            spawn = found.grant or found.spawn
            return put(state, replace(found, session=(message,), delivered=0, spawn=spawn, grant=None), at)
        case Told() | Heard():
            return steering_facts.steered(state, event, at)
        case CallReserved() | CallEnded():
            return planning_facts.calls(state, event, at)
        case TurnFinished(track, ticket, _, message, tier, _, usage, call):
            return _said(planning_facts.settle(state, call, tier, usage), track, ticket, message, at)
        case ToolFinished(track, ticket, _, message, _, _, by):
            return _used(_said(state, track, ticket, message, at), track, ticket, by, at)
        case GateFinished():
            return _gate_finished(state, event, at)
        case ApprovalRequested():
            return _requested(state, event, at)
        case ApprovalAnswered():
            return _answered(state, event, recorded.actor, at)
        case ApprovalWithdrawn(approval, why):
            gone = replace(state.approvals[approval], state=Withdrawn(why, at))
            return _close(state, gone)
        case AttemptResumed(track, ticket, _):
            found = state.tracks[track].tickets[ticket]
            going = found.stage if isinstance(found.stage, Working) else Working()
            stage = found.stage.then if isinstance(found.stage, Queued) else going
            return put(state, replace(found, stage=stage, resumes=found.resumes + 1), at)
        case AttemptLost(track, ticket, _, _):
            found = _carry(state, state.tracks[track].tickets[ticket])
            tried = _still_tried(state, found)
            return put(_lose(state, track, ticket), replace(found, stage=Todo(cleared=True, tried=tried)), at)
        case AttemptShelved(track, ticket, _):
            stage = state.tracks[track].tickets[ticket].stage
            return place(state, track, ticket, Queued(stage), at) if isinstance(stage, Verifying) else state
        case AttemptReturned(track, ticket, _, why):
            found = _carry(state, state.tracks[track].tickets[ticket])
            return put(_lose(state, track, ticket), replace(found, stage=Todo(cleared=True), why=why), at)
        case TicketSkipped(track, ticket):
            found = state.tracks[track].tickets[ticket]
            done = replace(found, stage=Completed(), finished_at=at, unverified=True, result="skipped", grant=None)
            return put(state, done, at)
        case TicketBlocked(track, ticket, reason, budget, failed):
            found = state.tracks[track].tickets[ticket]
            blocked = replace(found, stage=Blocked(reason, budget, failed), finished_at=at, grant=None)
            return put(_lose(state, track, ticket), blocked, at)
        case TicketReopened(track, ticket):
            found = state.tracks[track].tickets[ticket]
            failures = found.failures + (isinstance(found.stage, Blocked) and found.stage.failed)
            again = replace(
                found, stage=Todo(), finished_at=None, grant=None, spawn=None, failures=failures, carried=()
            )
            return put(state, again, at)
        case TicketCancelled(track, ticket, reason):
            found = state.tracks[track].tickets[ticket]
            cancelled = replace(found, stage=Cancelled(reason), finished_at=at, grant=None)
            return put(_lose(state, track, ticket), cancelled, at)
        case TicketEdited(track, spec):
            before = state.tracks[track].tickets[spec.id]
            stage = Todo() if isinstance(before.stage, Todo) else before.stage
            changed = replace(before, spec=spec, stage=stage, grant=None, carried=())  # the yes was to what stood there
            return _with_tickets(state, track, state.tracks[track].tickets.set(spec.id, changed), at)
        case TicketMoved(track, ticket, position):
            order = [name for name in state.tracks[track].order if name != ticket]
            order.insert(position, ticket)
            return _with_tickets(state, track, state.tracks[track].tickets, at, tuple(order))
        case (
            EpicAdded()
            | PlannerAnswered()
            | TracksProposed()
            | EpicAccepted()
            | EpicDropped()
            | PlanningFailed()
            | PlanningRetried()
            | TrackPlanned()
        ):
            return planning_facts.planning(state, event, at)
        case (
            DiscussionStarted()
            | DiscussionAsked()
            | DiscussionReplied()
            | DiscussionToolBegun()
            | DiscussionToolFinished()
            | DiscussionTurnEnded()
        ):
            return discussion_facts.discussions(state, event, at)
        case TrackAdded(track, title, description, epic):
            new = Track(
                id=track,
                title=title,
                description=description,
                status="proposed" if epic else "ready",
                created_at=at,
                updated_at=at,
                epic=epic,
                planned=not epic,
            )
            return replace(state, tracks=state.tracks.set(track, new), track_order=(*state.track_order, track))
        case TicketsAdded():
            return _tickets_added(state, event, at)
        case TrackStarted(track):
            return set_status(state, track, "running", at)
        case TrackPaused(track):
            return set_status(state, track, "paused", at)
        case TrackEnded(track, status):
            return set_status(state, track, status, at)
        case TrackAborted(track, _):
            return set_status(planning_facts.lose(state, track=track), track, "aborted", at)
        case TrackEdited(track, title, description):
            edited = replace(state.tracks[track], title=title, description=description, updated_at=at)
            return replace(state, tracks=state.tracks.set(track, edited))
        case LandingStarted(track, branch, before, after):
            return _landing(state, track, TrackLanding(branch, before, after, "started"), at)
        case TrackLanded(track, commit):
            before = state.tracks[track].landing
            landing = TrackLanding(before.branch if before else "", before.before if before else "", commit, "landed")
            return _landing(state, track, landing, at)
        case LandingFailed(track, reason):
            before = state.tracks[track].landing
            failed = replace(before, state="failed", detail=reason) if before else None
            return _landing(state, track, failed, at)
        case TestExecuted(execution):
            return replace(state, tests=state.tests.added(execution, at))
        case TestReportRead(report):
            return replace(state, tests=replace(state.tests, reports=state.tests.reports.set(report.sha256, at)))
        case TestsForgotten(through):
            return replace(state, tests=state.tests.without(through))
        case ConductorStarted(workers, auto_queue, approve_all, gates, deadline_s, caps, focus):
            on = ConductorState(True, workers, auto_queue, approve_all, gates, deadline_s, caps, focus)
            return replace(state, conductor=on)
        case ConductorStopped():
            state = planning_facts.lose_all(state)
            return replace(state, conductor=replace(state.conductor, on=False, approve_all=False))
        case _:
            assert_never(event)


def _lose(state: State, track: str, ticket: str) -> State:
    return planning_facts.lose(state, track=track, ticket=ticket) if state.calls else state


def _tickets_added(state: State, event: TicketsAdded, at: str) -> State:
    track = state.tracks[event.track]
    added = [Ticket(track=event.track, spec=spec, created_at=at) for spec in event.tickets]
    tickets = track.tickets.update({ticket.spec.id: ticket for ticket in added})
    schedule = scheduling.current(track.schedule, track.order, track.tickets)
    grown = replace(
        track,
        order=(*track.order, *(spec.id for spec in event.tickets)),
        tickets=tickets,
        counts=replace(track.counts, todo=track.counts.todo + len(added)),
        schedule=scheduling.add(schedule, tickets, added),
        updated_at=at,
    )
    return replace(state, tracks=state.tracks.set(event.track, grown))


def _with_tickets(
    state: State, track_id: str, tickets: Map[str, Ticket], at: str, order: tuple[str, ...] | None = None
) -> State:
    """Order, priority or dependencies changed: the schedule is made anew."""
    track = state.tracks[track_id]
    order = track.order if order is None else order
    changed = replace(track, order=order, tickets=tickets, schedule=scheduling.build(order, tickets), updated_at=at)
    return replace(state, tracks=state.tracks.set(track_id, changed))


def _landing(state: State, track: str, landing: TrackLanding | None, at: str) -> State:
    return replace(state, tracks=state.tracks.set(track, replace(state.tracks[track], landing=landing, updated_at=at)))


def _gate_finished(state: State, event: GateFinished, at: str) -> State:
    ticket = state.tracks[event.track].tickets[event.ticket]
    stage = ticket.stage
    if not isinstance(stage, Verifying):
        return state
    if event.result.passed:
        return put(state, replace(ticket, stage=_past_gate(ticket, stage, stage.skipped)), at)
    results = (*stage.previous_results, event.result)
    if event.feedback is not None:  # a worker is told, and tries again in the same attempt
        tried = Tried(stage.gate, stage.attempt_count + 1, results)
        session = (event.feedback,) if event.fresh else (*ticket.session, event.feedback)
        failures = ticket.failures + event.fresh
        delivered = 0 if event.fresh else ticket.delivered
        again = replace(ticket, stage=Working(tried), session=session, delivered=delivered, failures=failures)
        return put(state, again, at)
    worse = replace(stage, attempt_count=stage.attempt_count + 1, previous_results=results)
    return put(state, replace(ticket, stage=worse), at)


def _past_gate(ticket: Ticket, stage: Verifying, skipped: bool) -> Verifying | Merging:
    if stage.gate + 1 < len(ticket.spec.verify):
        return _at_gate(stage.saved, stage.gate + 1, stage.tried, skipped=skipped)
    return Merging(stage.saved, unverified=skipped)


def _at_gate(saved: Saved, gate: int, tried: Tried | None, *, skipped: bool = False) -> Verifying:
    """The count of a gate that failed before goes on; every other begins at 0."""
    if tried is not None and tried.gate == gate:
        return Verifying(saved, gate, tried.attempt_count, tried.previous_results, skipped, tried)
    return Verifying(saved, gate, skipped=skipped, tried=tried)


def _said(state: State, track: str, ticket: str, message: Blob, at: str) -> State:
    found = state.tracks[track].tickets[ticket]
    return put(state, replace(found, session=(*found.session, message), grant=None), at)


def _still_tried(state: State, ticket: Ticket) -> Tried | None:
    """A gate's count goes on after a crash, but the next attempt has two tries at least, and is not stuck at once: what
    was lost was not its fault.
    """
    tried = ticket.stage.tried if isinstance(ticket.stage, Working) else None
    if tried is None:
        return None
    defaults = state.conductor.gates
    most = limits(ticket.spec.verify[tried.gate], defaults).max_attempts
    kept = len(tried.previous_results) if not defaults.stuck_after else max(defaults.stuck_after - 2, 0)
    results = tried.previous_results[-kept:] if kept else ()
    return Tried(tried.gate, min(tried.attempt_count, max(most - 2, 0)), results)


def _carry(state: State, ticket: Ticket) -> Ticket:
    """An answered approval is not asked again: it outlives the lost attempt, as the grant that it is, or, where it is
    about one call of a conversation that is gone, for when the same call comes again.
    """
    if ticket.grant is None or not is_call(state.approvals[ticket.grant.approval]):
        return ticket
    return replace(ticket, grant=None, carried=(*ticket.carried, ticket.grant.approval))


def _used(state: State, track: str, ticket: str, approval: str, at: str) -> State:
    """An answer that a crash had carried over counts once."""
    found = state.tracks[track].tickets[ticket]
    if approval not in found.carried:
        return state
    return put(state, replace(found, carried=tuple(name for name in found.carried if name != approval)), at)


def _requested(state: State, event: ApprovalRequested, at: str) -> State:
    approval = Approval(
        id=event.approval,
        kind=event.kind,
        asker=event.asker,
        track=event.track,
        ticket=event.ticket,
        why=event.why,
        payload=event.payload,
        digest=event.digest,
        requested_at=at,
        deadline=event.deadline,
        discussion=event.discussion,
    )
    state = replace(
        state,
        approvals=state.approvals.set(approval.id, approval),
        pending=state.pending.set(approval_number(approval.id), approval.id),
    )
    if event.discussion:
        return discussion_facts.requested(state, event, at)
    if event.ticket is None:
        return state
    ticket = state.tracks[event.track].tickets[event.ticket]
    match event.kind, ticket.stage:
        case "step", Todo():
            return put(state, replace(ticket, stage=Todo(asked=approval.id)), at)
        case "gate" | "unknown", Verifying() as stage:
            return put(state, replace(ticket, stage=Escalated(approval.id, stage)), at)
        case "gate", Merging(saved):
            return put(state, replace(ticket, stage=Escalated(approval.id, Verifying(saved))), at)
        case _:
            then = ticket.stage if isinstance(ticket.stage, Working) else Working()
            return put(state, replace(ticket, stage=Asking(approval.id, then)), at)


def _close(state: State, approval: Approval) -> State:
    number = approval_number(approval.id)
    return replace(
        state,
        approvals=state.approvals.set(approval.id, approval),
        pending=state.pending.delete(number) if number in state.pending else state.pending,
    )


def _answered(state: State, event: ApprovalAnswered, actor: str, at: str) -> State:
    approval = state.approvals[event.approval]
    answer = Answered(
        event.decision, actor, at, event.message, event.edited, event.digest, event.hunks, event.edited_context
    )
    state = _close(state, replace(approval, state=answer))
    if approval.discussion:
        return discussion_facts.answered(state, approval, event, at)
    if approval.ticket is None:
        return state
    refused = event.decision in ("reject", "abort")
    if refused and not (event.decision == "reject" and is_call(approval)):
        return state  # what a refusal does to the ticket is an event of its own
    ticket = state.tracks[approval.track].tickets[approval.ticket]
    match ticket.stage:
        case Todo():
            return put(state, replace(ticket, stage=Todo(cleared=True)), at)
        case Asking():
            grant = Grant(approval.id, event.digest, event.edited, event.edited_context)
            return put(state, replace(ticket, stage=Queued(ticket.stage.then), grant=grant), at)
        case Escalated(_, stage) if isinstance(approval.payload, UnknownPayload):
            ahead = stage if event.decision == "retry" else _past_gate(ticket, stage, skipped=True)
            return put(state, replace(ticket, stage=Queued(ahead) if isinstance(ahead, Verifying) else ahead), at)
        case Escalated(_, stage) if isinstance(approval.payload, GatePayload):
            payload = approval.payload
            ticket = replace(ticket, accepted=tuple(sorted({*ticket.accepted, *payload.files})))
            if event.decision == "retry" and payload.feedback is not None:  # told, it tries again
                tried = Tried(stage.gate, stage.attempt_count, stage.previous_results)
                told = payload.feedback
                session = (told,) if payload.fresh else (*ticket.session, told)
                failures = ticket.failures + payload.fresh
                delivered = 0 if payload.fresh else ticket.delivered
                then = Queued(Working(tried))
                return put(
                    state, replace(ticket, stage=then, session=session, delivered=delivered, failures=failures), at
                )
            if not ticket.spec.verify:  # there is no gate: only its changes to tests were in question
                return put(state, replace(ticket, stage=Merging(stage.saved, unverified=True)), at)
            if event.decision == "retry":
                again = stage if payload.files else replace(stage, attempt_count=0, previous_results=())
                return put(state, replace(ticket, stage=Queued(again)), at)
            ahead = _past_gate(ticket, stage, skipped=True)
            onward = Queued(ahead) if isinstance(ahead, Verifying) else ahead
            return put(state, replace(ticket, stage=onward), at)
        case _:
            return state
