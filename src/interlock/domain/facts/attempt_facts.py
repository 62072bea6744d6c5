"""How the events of an attempt change the state: its session, its gates, its interruptions."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.facts.call_facts import lose_calls, settle_call
from interlock.domain.facts.pass_facts import remember, with_reuse
from interlock.domain.messages.events.attempt_events import (
    AttemptEvent,
    AttemptLost,
    AttemptResumed,
    AttemptReturned,
    AttemptShelved,
    GateFinished,
    PartsTaken,
    SessionStarted,
    TicketStarted,
    ToolBegun,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.state.autonomy import needs_review
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import place, put
from interlock.domain.values.approvals import is_call
from interlock.domain.values.gates import Blob, limits
from interlock.domain.values.tickets import Merging, Queued, Reviewing, Saved, Ticket, Todo, Tried, Verifying, Working

SKIPPED = -1
"""The duration of a gate that a person skipped."""


def apply(state: State, event: AttemptEvent, at: str) -> State:
    ticket = state.tracks[event.track].tickets[event.ticket]
    match event:
        case TicketStarted():
            todo = ticket.stage if isinstance(ticket.stage, Todo) else Todo()
            stage = Working(todo.tried, todo.step)
            started_at = ticket.started_at or at
            session, unseen = ((), ()) if ticket.unsaved is None else (ticket.session, ticket.unseen)
            started = replace(
                ticket,
                stage=stage,
                attempts=event.attempt,
                started_at=started_at,
                session=session,
                unseen=unseen,
                reviewed="",
                reused=(),
                used=(),
                begun="",
                given_up="",
            )
            return put(state, started, at)
        case WorkSubmitted():
            tried = ticket.stage.tried if isinstance(ticket.stage, Working) else None
            if ticket.spec.verify:
                stage = _at_gate(event.saved, 0, tried)
            else:
                stage = after_gates(state, ticket, event.saved, unverified=True)
            return put(state, replace(ticket, stage=stage, grant=None, result=event.summary or None, unsaved=None), at)
        case PartsTaken(saved=saved):
            taken = replace(ticket, taken=saved.commit)
            if ticket.spec.verify:  # it waits for a free worker, as after any answer
                return put(state, replace(taken, stage=Queued(_at_gate(saved, 0, None))), at)
            return put(state, replace(taken, stage=after_gates(state, taken, saved, unverified=True)), at)
        case GateFinished():
            return _gate_finished(remember(state, event, at), with_reuse(ticket, event), event, at)
        case SessionStarted():
            spawn = ticket.grant or ticket.spawn
            return put(state, replace(ticket, session=(event.message,), delivered=0, spawn=spawn, grant=None), at)
        case TurnFinished():
            return put(
                settle_call(state, event.call, event.tier, event.usage), _with_message(ticket, event.message), at
            )
        case ToolBegun():
            return put(state, replace(ticket, begun=event.what), at)
        case ToolFinished():
            ticket = _with_message(ticket, event.message)
            carried = tuple(name for name in ticket.carried if name != event.by)  # a carried answer counts once
            used = (*ticket.used, event.by) if event.replayed and event.by in state.approvals else ticket.used
            return put(state, replace(ticket, carried=carried, used=used, begun="", given_up=""), at)
        case AttemptResumed():
            working = ticket.stage if isinstance(ticket.stage, Working) else Working()
            stage = ticket.stage.then if isinstance(ticket.stage, Queued) else working
            return put(state, replace(ticket, stage=stage, resumes=ticket.resumes + 1), at)
        case AttemptLost():
            stage = Todo(cleared=True, tried=_kept_tries(state, ticket), step=_step_of(ticket))
            carrying = _with_carried_grant(state, ticket)
            carried = tuple(dict.fromkeys((*ticket.used, *carrying.carried)))
            lost = replace(carrying, stage=stage, carried=carried, used=())
            return put(lose_calls(state, track=ticket.track, ticket=ticket.id), lost, at)
        case AttemptShelved():
            stage = ticket.stage
            return place(state, ticket.track, ticket.id, Queued(stage), at) if isinstance(stage, Verifying) else state
        case AttemptReturned():
            returned = replace(
                _with_carried_grant(state, ticket), stage=Todo(cleared=True), why=event.why, unsaved=None
            )
            return put(lose_calls(state, track=ticket.track, ticket=ticket.id), returned, at)
        case _:
            assert_never(event)


def with_feedback(ticket: Ticket, stage: Working | Queued, feedback: Blob, *, fresh: bool) -> Ticket:
    """The ticket after its worker got `feedback` on a failed gate; a fresh session starts with it."""
    return replace(
        ticket,
        stage=stage,
        session=(feedback,) if fresh else (*ticket.session, feedback),
        delivered=0 if fresh else ticket.delivered,
        failures=ticket.failures + fresh,
    )


def past_gate(
    state: State, ticket: Ticket, stage: Verifying, *, skipped: bool, took_ms: int = SKIPPED
) -> Verifying | Reviewing | Merging:
    """The stage after the current gate passed or was skipped."""
    took = (*stage.took, took_ms)
    if stage.gate + 1 < len(ticket.spec.verify):
        return replace(_at_gate(stage.saved, stage.gate + 1, stage.tried, skipped=skipped), took=took)
    following = after_gates(state, ticket, stage.saved, unverified=skipped)
    return replace(following, took=took) if isinstance(following, Reviewing) else following


def after_gates(state: State, ticket: Ticket, saved: Saved, *, unverified: bool) -> Reviewing | Merging:
    """The stage after the last gate: a review where one is needed, else the merge."""
    return Reviewing(saved, unverified) if needs_review(state, ticket, saved) else Merging(saved, unverified)


def _gate_finished(state: State, ticket: Ticket, event: GateFinished, at: str) -> State:
    stage = ticket.stage
    if not isinstance(stage, Verifying):
        return state if ticket is state.tracks[ticket.track].tickets[ticket.id] else put(state, ticket, at)
    if event.result.passed:
        following = past_gate(state, ticket, stage, skipped=stage.skipped, took_ms=event.result.duration_ms)
        return put(state, replace(ticket, stage=following), at)
    results = (*stage.previous_results, event.result)
    if event.feedback is not None:  # the worker tries again in the same attempt
        working = Working(Tried(stage.gate, stage.attempt_count + 1, results))
        return put(state, with_feedback(ticket, working, event.feedback, fresh=event.fresh), at)
    failed = replace(stage, attempt_count=stage.attempt_count + 1, previous_results=results)
    return put(state, replace(ticket, stage=failed), at)


def _at_gate(saved: Saved, gate: int, tried: Tried | None, *, skipped: bool = False) -> Verifying:
    """Continues the count of a gate that failed before; every other gate starts at 0."""
    if tried is not None and tried.gate == gate:
        return Verifying(saved, gate, tried.attempt_count, tried.previous_results, skipped, tried)
    return Verifying(saved, gate, skipped=skipped, tried=tried)


def _with_message(ticket: Ticket, message: Blob) -> Ticket:
    return replace(ticket, session=(*ticket.session, message), grant=None)


def _kept_tries(state: State, ticket: Ticket) -> Tried | None:
    """The failed tries that count against the next attempt after a crash.

    The crash was not the attempt's fault: the next one has at least two tries and does not start as stuck.
    """
    tried = ticket.stage.tried if isinstance(ticket.stage, Working) else None
    if tried is None:
        return None
    defaults = state.conductor.gates
    max_attempts = limits(ticket.spec.verify[tried.gate], defaults).max_attempts
    count = len(tried.previous_results) if not defaults.stuck_after else max(defaults.stuck_after - 2, 0)
    results = tried.previous_results[-count:] if count else ()
    return Tried(tried.gate, min(tried.attempt_count, max(max_attempts - 2, 0)), results)


def _step_of(ticket: Ticket) -> str | None:
    """The step approval of the current attempt, as far as its work is not submitted."""
    return ticket.stage.step if isinstance(ticket.stage, Working) else None


def _with_carried_grant(state: State, ticket: Ticket) -> Ticket:
    """Keeps an answered approval beyond a lost attempt, so that a person is not asked twice.

    A grant for a call of the lost conversation is carried until the same call comes again.
    """
    if ticket.grant is None or not is_call(state.approvals[ticket.grant.approval]):
        return ticket
    return replace(ticket, grant=None, carried=(*ticket.carried, ticket.grant.approval))
