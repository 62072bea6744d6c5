"""Rules for what the engine reports: work, gates, merges, landings, its own coming and going."""

from interlock.domain import discussion_rules
from interlock.domain.approvals import GatePayload, Kind, Payload, ScriptPayload, SpawnPayload, ToolPayload, digest
from interlock.domain.commands import (
    AskLanding,
    AskScript,
    AskWorker,
    FailLanding,
    FailWork,
    FinishLanding,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartConductor,
    StartSession,
    SubmitWork,
)
from interlock.domain.events import (
    ApprovalRequested,
    AttemptLost,
    AttemptReturned,
    AttemptShelved,
    ConductorStarted,
    ConductorStopped,
    Event,
    GateFinished,
    LandingFailed,
    SessionStarted,
    TicketBlocked,
    TicketCompleted,
    ToolFinished,
    TrackLanded,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.gates import GateDefaults, limits
from interlock.domain.state import State
from interlock.domain.tickets import Merging, Stage, Ticket, Verifying, Working
from interlock.errors import Rejected

Events = tuple[Event, ...]


def submit_work(state: State, command: SubmitWork) -> Events:
    ticket = _at(state, command, Working)
    if command.saved is not None:
        return (WorkSubmitted(ticket.track, ticket.id, command.attempt, command.saved, command.summary),)
    return (TicketCompleted(ticket.track, ticket.id, command.attempt, unverified=True, result=command.summary or None),)


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
    if tries < most:
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
        reason = f"verification failed: {gate.command} ({how}, attempts {tries}/{most})"
        return (finished, TicketBlocked(ticket.track, ticket.id, reason, failed=True))
    payload: Payload = GatePayload(command.gate, gate.command, tries, most, command.escalation)
    return (
        finished,
        ApprovalRequested(
            approval=state.next_approval_id(),
            kind="gate",
            asker=f"worker:{ticket.id}/{command.attempt}",
            track=ticket.track,
            ticket=ticket.id,
            why=f"the gate failed {tries} of {most} times",
            payload=payload,
            digest=digest(payload),
        ),
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
    gates = GateDefaults(command.gates.max_attempts, float(command.gates.timeout_s))
    deadline = command.deadline_s or None
    return (
        ConductorStarted(
            command.workers, command.auto_queue, command.approve_all, gates, deadline, command.caps, command.focus
        ),
    )


def stop_conductor(state: State, reason: str) -> Events:
    """Attempts in hand are lost, or shelved where their work is already saved."""
    lost: list[Event] = []
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
                    lost.append(AttemptShelved(track_id, name, ticket.attempts))
    unsure = discussion_rules.unsure(state)
    if state.conductor.on or lost or state.calls or unsure:
        return (*lost, *unsure, ConductorStopped(reason))
    return ()


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
