"""Rules for what the engine reports: work, gates, merges, landings, its own coming and going."""

from msgspec.structs import replace

from interlock.domain.checks import test_tampering
from interlock.domain.checks.fingerprints import is_stuck
from interlock.domain.messages.commands.attempt_commands import (
    AskScript,
    AskWorker,
    FailWork,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.attempt_events import (
    AttemptLost,
    AttemptResumed,
    AttemptReturned,
    AttemptShelved,
    GateFinished,
    SessionStarted,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.messages.events.conductor_events import ConductorStarted, ConductorStopped
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.ticket_events import TicketBlocked, TicketCompleted
from interlock.domain.messages.events.track_events import LandingFailed, TrackLanded
from interlock.domain.rules import discussion_rules
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    GatePayload,
    Kind,
    Payload,
    ScriptPayload,
    SpawnPayload,
    ToolPayload,
    UnknownPayload,
    digest,
)
from interlock.domain.values.gates import limits
from interlock.domain.values.tickets import Merging, Stage, Ticket, Verifying, Working
from interlock.errors import Rejected

Events = tuple[Event, ...]


def submit_work(state: State, command: SubmitWork) -> Events:
    ticket = _at(state, command, Working)
    name = (ticket.track, ticket.id)
    if ticket.notes[ticket.delivered :]:  # it was told something in the last moment: it goes on, and hears it
        return (AttemptResumed(*name, command.attempt),)
    if command.saved is None:
        return (TicketCompleted(*name, command.attempt, unverified=True, result=command.summary or None),)
    submitted = WorkSubmitted(*name, command.attempt, command.saved, command.summary)
    changed = tuple(file for file in command.tampered if file not in ticket.accepted)
    if not changed:
        return (submitted,)
    if state.conductor.approve_all:
        reason = f"it has changed existing tests, which a person must see: {', '.join(changed[:5])}"
        return (submitted, TicketBlocked(*name, reason, failed=True))
    gate = ticket.spec.verify[0] if ticket.spec.verify else None
    most = limits(gate, state.conductor.gates).max_attempts if gate else 1
    payload = GatePayload(0, gate.shown if gate else "", 0, most, test_tampering.asks(changed), files=changed)
    return (submitted, _escalated(state, ticket, command.attempt, payload, "it has changed existing tests"))


def fail_work(state: State, command: FailWork) -> Events:
    ticket = _at(state, command, Working, Verifying, Merging)
    return (TicketBlocked(ticket.track, ticket.id, command.reason, command.budget, failed=not command.budget),)


def redo_attempt(state: State, command: RedoAttempt) -> Events:
    ticket = _at(state, command, Working, Verifying, Merging)
    return (AttemptReturned(ticket.track, ticket.id, command.attempt, command.why),)


def ask_script(state: State, command: AskScript) -> Events:
    ticket = _at(state, command, Working)
    return (
        ApprovalRequested(
            approval=state.next_approval_id(),
            kind="script",
            asker=f"worker:{ticket.id}/{command.attempt}",
            track=ticket.track,
            ticket=ticket.id,
            why=command.why,
            payload=command.payload,
            digest=digest(command.payload),
            deadline=command.deadline,
            allowed_by=command.allowed_by,
        ),
    )


def ask_worker(state: State, command: AskWorker) -> Events:
    ticket = _at(state, command, Working)
    kinds: dict[type[Payload], Kind] = {SpawnPayload: "spawn", ToolPayload: "tool", ScriptPayload: "script"}
    return (
        ApprovalRequested(
            approval=state.next_approval_id(),
            kind=kinds[type(command.payload)],
            asker=f"worker:{ticket.id}/{command.attempt}",
            track=ticket.track,
            ticket=ticket.id,
            why=command.why,
            payload=command.payload,
            digest=digest(command.payload),
        ),
    )


def start_session(state: State, command: StartSession) -> Events:
    ticket = _at(state, command, Working)
    return (SessionStarted(ticket.track, ticket.id, command.attempt, command.message),)


def finish_turn(state: State, command: FinishTurn) -> Events:
    ticket = _at(state, command, Working)
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


def finish_tool(state: State, command: FinishTool) -> Events:
    ticket = _at(state, command, Working)
    return (
        ToolFinished(
            ticket.track, ticket.id, command.attempt, command.message, command.tool, command.failed, command.by
        ),
    )


def report_gate(state: State, command: ReportGate) -> Events:
    ticket = _at(state, command, Verifying, Merging)
    stage = ticket.stage
    finished = GateFinished(ticket.track, ticket.id, command.attempt, command.gate, command.result, command.tree)
    if isinstance(stage, Merging):
        return (finished,)  # run again because the track moved on; the merge queue acts on it
    if not isinstance(stage, Verifying) or stage.gate != command.gate:
        raise Rejected(f"ticket {ticket.name!r} is not at gate {command.gate}")
    if command.result.passed:
        return (finished,)
    gate = ticket.spec.verify[command.gate]
    most = limits(gate, state.conductor.gates).max_attempts
    tries = stage.attempt_count + 1
    stuck = is_stuck((*stage.previous_results, command.result), state.conductor.gates.stuck_after)
    again = tries < most and not stuck
    if again and ticket.spec.returns and not gate.loop and not state.conductor.approve_all:
        payload = GatePayload(
            command.gate, gate.shown, tries, most, command.escalation, feedback=command.feedback, fresh=command.fresh
        )
        return (finished, _escalated(state, ticket, command.attempt, payload, "it tries again when you say so"))
    if again and not (ticket.spec.returns and not gate.loop):
        told = GateFinished(
            ticket.track,
            ticket.id,
            command.attempt,
            command.gate,
            command.result,
            command.tree,
            command.feedback,
            command.fresh and command.feedback is not None,
        )
        return (told,)
    if state.conductor.approve_all:
        how = "timed out" if command.result.timed_out else f"exit {command.result.exit_code}"
        same = ", the same failure again and again" if stuck and tries < most else ""
        reason = f"verification failed: {gate.shown} ({how}, attempts {tries}/{most}{same})"
        return (finished, TicketBlocked(ticket.track, ticket.id, reason, failed=True))
    why = f"the gate failed {tries} of {most} times{', always the same way' if tries < most else ''}"
    payload = GatePayload(command.gate, gate.shown, tries, most, command.escalation)
    return (finished, _escalated(state, ticket, command.attempt, payload, why))


def _escalated(state: State, ticket: Ticket, attempt: int, payload: GatePayload, why: str) -> ApprovalRequested:
    return ApprovalRequested(
        approval=state.next_approval_id(),
        kind="gate",
        asker=f"worker:{ticket.id}/{attempt}",
        track=ticket.track,
        ticket=ticket.id,
        why=why,
        payload=payload,
        digest=digest(payload),
    )


def finish_merge(state: State, command: FinishMerge) -> Events:
    ticket = _at(state, command, Merging)
    unverified = isinstance(ticket.stage, Merging) and ticket.stage.unverified
    return (
        TicketCompleted(
            ticket.track, ticket.id, command.attempt, command.commit, unverified=unverified, result=ticket.result
        ),
    )


def start_conductor(command: StartConductor) -> Events:
    if not 1 <= command.workers <= 256:
        raise Rejected(f"workers is a number from 1 to 256, not {command.workers}")
    # A float also where a whole number was given: that is what reading the journal gives.
    gates = replace(command.gates, timeout_s=float(command.gates.timeout_s))
    deadline = command.deadline_s or None
    return (
        ConductorStarted(
            command.workers, command.auto_queue, command.approve_all, gates, deadline, command.caps, command.focus
        ),
    )


def stop_conductor(state: State, reason: str) -> Events:
    """Attempts in hand are lost, or shelved where their work is already saved."""
    lost: list[Event] = []
    asked = 0
    if state.busy:
        for track_id in state.track_order:
            track = state.tracks[track_id]
            if not track.counts.in_progress:
                continue
            for name in track.order:
                ticket = track.tickets[name]
                if isinstance(ticket.stage, Working):
                    lost.append(AttemptLost(track_id, name, ticket.attempts, reason))
                elif isinstance(ticket.stage, Verifying):
                    lost.append(_interrupted(state, ticket, ticket.stage, asked))
                    asked += isinstance(lost[-1], ApprovalRequested)
    unsure = discussion_rules.unsure(state, asked)
    if state.conductor.on or lost or state.calls or unsure:
        return (*lost, *unsure, ConductorStopped(reason))
    return ()


def _interrupted(state: State, ticket: Ticket, stage: Verifying, before: int) -> AttemptShelved | ApprovalRequested:
    """A gate without network is simply run again; what one with network did may last, so a person is asked (J3)."""
    gate = ticket.spec.verify[stage.gate]
    if gate.criteria is not None or not (gate.network or state.conductor.gates.network):
        return AttemptShelved(ticket.track, ticket.id, ticket.attempts)
    payload = UnknownPayload(
        f"run the gate of {ticket.id}, with network: {gate.command}",
        "Whether it was run to its end is not known. retry runs it (again), skip goes on without it (unverified),"
        " abort blocks the ticket.",
    )
    return ApprovalRequested(
        approval=f"A-{len(state.approvals) + before + 1}",
        kind="unknown",
        asker=f"worker:{ticket.id}/{ticket.attempts}",
        track=ticket.track,
        ticket=ticket.id,
        why="the workbench stopped in the middle",
        payload=payload,
        digest=digest(payload),
    )


def ask_landing(state: State, command: AskLanding, actor: str) -> Events:
    track = state.track(command.track)
    if track.status != "done":
        raise Rejected(f"track {track.id!r} is {track.status}; only a done track can be landed")
    if any(a.kind == "merge" and a.track == track.id for a in state.pending_approvals()):
        raise Rejected(f"landing track {track.id!r} is asked already")
    return (
        ApprovalRequested(
            approval=state.next_approval_id(),
            kind="merge",
            asker=actor,
            track=track.id,
            why=f"land track {track.id} on {command.payload.branch}",
            payload=command.payload,
            digest=digest(command.payload),
        ),
    )


def finish_landing(state: State, command: FinishLanding) -> Events:
    track = state.track(command.track)
    if track.landing is None or track.landing.state != "started":
        raise Rejected(f"track {track.id!r} is not being landed")
    return (TrackLanded(track.id, command.commit),)


def fail_landing(state: State, command: FailLanding) -> Events:
    track = state.track(command.track)
    if track.landing is None or track.landing.state != "started":
        raise Rejected(f"track {track.id!r} is not being landed")
    return (LandingFailed(track.id, command.reason),)


def _at(
    state: State,
    command: SubmitWork
    | FailWork
    | RedoAttempt
    | AskScript
    | AskWorker
    | StartSession
    | FinishTurn
    | FinishTool
    | ReportGate
    | FinishMerge,
    *stages: type[Stage],
) -> Ticket:
    """The ticket, if this report is about the attempt that is under way."""
    ticket = state.ticket(command.track, command.ticket)
    if ticket.attempts != command.attempt or type(ticket.stage) not in stages:
        raise Rejected(f"attempt {command.attempt} of ticket {ticket.name!r} is over")
    return ticket
