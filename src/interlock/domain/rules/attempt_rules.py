"""Rules for attempts: their approvals, turns, submitted work, gates and merges."""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.checks import test_tampering
from interlock.domain.checks.gate_messages import packages_question
from interlock.domain.checks.gate_outcome import gate_outcome
from interlock.domain.messages.commands.attempt_commands import (
    AskReview,
    AskScript,
    AskWorker,
    AttemptCommand,
    BeginTool,
    FailWork,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartSession,
    SubmitParts,
    SubmitWork,
)
from interlock.domain.messages.events.attempt_events import (
    AttemptLost,
    AttemptResumed,
    AttemptReturned,
    GateFinished,
    PartsTaken,
    SessionStarted,
    ToolBegun,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.messages.events.event import Event, Events
from interlock.domain.messages.events.ticket_events import TicketBlocked, TicketCompleted
from interlock.domain.rules.approval_request import request_for_attempt
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    GatePayload,
)
from interlock.domain.values.gates import NewPackages, gate_id, limits
from interlock.domain.values.tickets import Merging, Reviewing, Stage, Ticket, Verifying, Working
from interlock.errors import Rejected

UNCHANGED = (
    "retry sends it back to work, skip accepts that there was nothing to do (unverified, without a commit),"
    " abort blocks the ticket."
)


def decide(state: State, command: AttemptCommand) -> Events:
    match command:
        case SubmitWork():
            return submit_work(state, command)
        case ReportGate():
            return report_gate(state, command)
        case AskReview():
            return ask_review(state, command)
        case SubmitParts():
            return submit_parts(state, command)
        case FinishMerge():
            return finish_merge(state, command)
        case AskScript():
            return ask_script(state, command)
        case AskWorker():
            return ask_worker(state, command)
        case StartSession():
            return start_session(state, command)
        case FinishTurn():
            return finish_turn(state, command)
        case BeginTool():
            return begin_tool(state, command)
        case FinishTool():
            return finish_tool(state, command)
        case FailWork():
            return fail_work(state, command)
        case RedoAttempt():
            return redo_attempt(state, command)
        case _:
            assert_never(command)


def submit_work(state: State, command: SubmitWork) -> Events:
    ticket = _ticket_at(state, command, Working)
    name = (ticket.track, ticket.id)
    if ticket.notes[ticket.delivered :]:  # the worker continues with the notes that arrived last
        return (AttemptResumed(*name, command.attempt),)
    if command.saved is None:
        return (TicketCompleted(*name, command.attempt, unverified=True, result=command.summary or None),)
    submitted = WorkSubmitted(*name, command.attempt, command.saved, command.summary)
    if command.saved.empty and ticket.spec.changes_files and not ticket.spec.returns:
        return (submitted, _ask_unchanged(state, ticket, command))
    changed = tuple(file for file in command.tampered if file not in ticket.accepted)
    if not changed:
        return (submitted,)
    if state.conductor.approve_all:
        reason = f"it has changed existing tests, which a person must review: {', '.join(changed[:5])}"
        return (submitted, TicketBlocked(*name, reason, failed=True))
    gate = ticket.spec.verify[0] if ticket.spec.verify else None
    most = limits(gate, state.conductor.gates).max_attempts if gate else 1
    payload = GatePayload(
        0,
        gate.shown if gate else "",
        0,
        most,
        test_tampering.tampering_question(changed),
        files=changed,
        gate_id=gate_id(*name, 0),
        diff=command.tampered_diff,
        diff_blob=command.tampered_diff_blob or UNSET,
    )
    return (submitted, request_for_attempt(state, ticket, payload, "it has changed existing tests"))


def _ask_unchanged(state: State, ticket: Ticket, command: SubmitWork) -> Event:
    """Nothing to verify and nothing to merge: whether that is right, a person decides."""
    reason = "the worker changed no file, so there is nothing to verify or to merge"
    if state.conductor.approve_all:
        said = command.summary.strip().partition("\n")[0][:200]
        return TicketBlocked(ticket.track, ticket.id, f"{reason}{': ' + said if said else ''}", failed=True)
    shown = ticket.spec.verify[0].shown if ticket.spec.verify else ""
    message = f"It says:\n\n{command.summary.strip() or '(nothing)'}\n\n{UNCHANGED}"
    payload = GatePayload(0, shown, 0, 1, message, feedback=command.feedback, unchanged=True)
    return request_for_attempt(state, ticket, payload, reason)


def report_gate(state: State, command: ReportGate) -> Events:
    ticket = _ticket_at(state, command, Verifying, Merging)
    stage = ticket.stage
    finished = GateFinished(ticket.track, ticket.id, command.attempt, command.gate, command.result, command.tree)
    if isinstance(stage, Merging):
        return (finished,)  # run again because the track's tip changed; the merge queue handles the result
    if not isinstance(stage, Verifying) or stage.gate != command.gate:
        raise Rejected(f"ticket {ticket.name!r} is not at gate {command.gate}")
    if command.result.passed:
        return (finished,)
    if command.result.packages:
        return (_ask_packages(state, ticket, command, command.result.packages),)
    return _gate_failed(state, ticket, stage, command)


def _ask_packages(state: State, ticket: Ticket, command: ReportGate, packages: NewPackages) -> Event:
    """The gate has not run: it needs packages that the work added, and a person decides whether they are installed."""
    if state.conductor.approve_all:
        reason = f"it changes which packages are installed, which a person must review: {', '.join(packages.lists[:5])}"
        return TicketBlocked(ticket.track, ticket.id, reason, failed=True)
    gate = ticket.spec.verify[command.gate]
    payload = GatePayload(
        command.gate,
        gate.shown,
        0,
        limits(gate, state.conductor.gates).max_attempts,
        packages_question(packages),
        gate_id=gate_id(ticket.track, ticket.id, command.gate),
        diff=command.result.stdout,
        diff_blob=command.result.stdout_blob or UNSET,
        packages=packages.key,
    )
    return request_for_attempt(state, ticket, payload, "it changes which packages are installed")


def _gate_failed(state: State, ticket: Ticket, stage: Verifying, command: ReportGate) -> Events:
    conductor, result = state.conductor, command.result
    outcome = gate_outcome(ticket.spec, stage, result, conductor.gates, approve_all=conductor.approve_all)
    tries, most, shown = outcome.tries, outcome.max_attempts, ticket.spec.verify[command.gate].shown
    finished = GateFinished(ticket.track, ticket.id, command.attempt, command.gate, result, command.tree)
    match outcome.action:
        case "retry":
            fresh = command.fresh and command.feedback is not None
            return (replace(finished, feedback=command.feedback, fresh=fresh),)
        case "ask_retry":
            payload = GatePayload(
                command.gate,
                shown,
                tries,
                most,
                command.escalation,
                feedback=command.feedback,
                fresh=command.fresh,
                gate_id=gate_id(ticket.track, ticket.id, command.gate),
            )
            return (finished, request_for_attempt(state, ticket, payload, "it tries again when you say so"))
        case "escalate":
            why = f"the gate failed {tries} of {most} times{', always the same way' if outcome.stuck else ''}"
            named = gate_id(ticket.track, ticket.id, command.gate)
            payload = GatePayload(command.gate, shown, tries, most, command.escalation, gate_id=named)
            return (finished, request_for_attempt(state, ticket, payload, why))
        case "block":
            how = "timed out" if result.timed_out else f"exit {result.exit_code}"
            same = ", the same failure again and again" if outcome.stuck else ""
            reason = f"verification failed: {shown} ({how}, attempts {tries}/{most}{same})"
            return (finished, TicketBlocked(ticket.track, ticket.id, reason, failed=True))
        case _:
            assert_never(outcome.action)


def ask_review(state: State, command: AskReview) -> Events:
    ticket = _ticket_at(state, command, Reviewing)
    stage, payload = ticket.stage, command.payload
    if not isinstance(stage, Reviewing) or stage.approval or stage.parts or stage.saved.commit != payload.commit:
        raise Rejected(f"the review of ticket {ticket.name!r} is already requested")
    return (request_for_attempt(state, ticket, payload, "its work is finished and waits to be merged"),)


def submit_parts(state: State, command: SubmitParts) -> Events:
    ticket = _ticket_at(state, command, Reviewing)
    if not isinstance(ticket.stage, Reviewing) or not ticket.stage.parts:
        raise Rejected(f"no parts of the work on ticket {ticket.name!r} are to be taken")
    return (PartsTaken(ticket.track, ticket.id, command.attempt, command.saved),)


def finish_merge(state: State, command: FinishMerge) -> Events:
    ticket = _ticket_at(state, command, Merging)
    unverified = isinstance(ticket.stage, Merging) and ticket.stage.unverified
    return (
        TicketCompleted(
            ticket.track, ticket.id, command.attempt, command.commit, unverified=unverified, result=ticket.result
        ),
    )


def ask_script(state: State, command: AskScript) -> Events:
    ticket = _ticket_at(state, command, Working)
    asked = request_for_attempt(
        state,
        ticket,
        command.payload,
        command.why,
        deadline=command.deadline,
        allowed_by=command.allowed_by,
        again_of=command.again_of,
        asked_by=command.asked_by,
    )
    return (asked,)


def ask_worker(state: State, command: AskWorker) -> Events:
    ticket = _ticket_at(state, command, Working)
    again_of, rule = command.again_of, command.asked_by
    return (request_for_attempt(state, ticket, command.payload, command.why, again_of=again_of, asked_by=rule),)


def start_session(state: State, command: StartSession) -> Events:
    ticket = _ticket_at(state, command, Working)
    return (SessionStarted(ticket.track, ticket.id, command.attempt, command.message),)


def finish_turn(state: State, command: FinishTurn) -> Events:
    ticket = _ticket_at(state, command, Working)
    return (
        TurnFinished(
            ticket.track,
            ticket.id,
            command.attempt,
            command.message,
            command.tier,
            command.model,
            command.usage,
            command.call,
        ),
    )


def begin_tool(state: State, command: BeginTool) -> Events:
    ticket = _ticket_at(state, command, Working)
    return (ToolBegun(ticket.track, ticket.id, command.attempt, command.call, command.tool, command.what, command.by),)


def finish_tool(state: State, command: FinishTool) -> Events:
    ticket = _ticket_at(state, command, Working)
    name = (ticket.track, ticket.id, command.attempt)
    return (
        ToolFinished(
            *name, command.message, command.tool, command.failed, command.by, command.refused, command.replayed
        ),
    )


def fail_work(state: State, command: FailWork) -> Events:
    ticket = _ticket_at(state, command, Working, Verifying, Reviewing, Merging)
    failed = not command.budget and command.unsaved is None
    about = (command.reason, command.budget, failed, command.unsaved, command.output)
    return (TicketBlocked(ticket.track, ticket.id, *about),)


def redo_attempt(state: State, command: RedoAttempt) -> Events:
    ticket = _ticket_at(state, command, Working, Verifying, Merging)
    if command.lost:
        return (AttemptLost(ticket.track, ticket.id, command.attempt, command.why),)
    return (AttemptReturned(ticket.track, ticket.id, command.attempt, command.why),)


def _ticket_at(
    state: State,
    command: AttemptCommand,
    *stages: type[Stage],
) -> Ticket:
    """The command's ticket. Raises Rejected unless its current attempt is in one of these stages."""
    ticket = state.ticket(command.track, command.ticket)
    if ticket.attempts != command.attempt or type(ticket.stage) not in stages:
        raise Rejected(f"attempt {command.attempt} of ticket {ticket.name!r} is over")
    return ticket
