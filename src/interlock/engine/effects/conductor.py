"""Runs and cancels the effects that the current state requires."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from interlock.domain.checks.deadlines import seconds_until
from interlock.domain.messages.commands.approval_commands import ExpireApproval
from interlock.domain.messages.commands.attempt_commands import FailWork, SubmitParts
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.discussion_commands import EndTurn
from interlock.domain.messages.commands.epic_commands import FailPlanning
from interlock.domain.messages.commands.landing_commands import FailLanding
from interlock.domain.messages.commands.ticket_commands import RetryTicket
from interlock.domain.messages.envelopes import SYSTEM, Recorded, is_rule, reporter
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.event_base import OfApproval, OfDiscussion, OfTicket
from interlock.domain.messages.events.subjects import epic_of, track_of
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Answered, Approval, Pending
from interlock.domain.values.discussions import Discussion, Doing, Thinking
from interlock.domain.values.epics import Epic
from interlock.domain.values.tickets import (
    Asking,
    Blocked,
    Completed,
    Escalated,
    Merging,
    Queued,
    Reviewing,
    Ticket,
    Verifying,
    Working,
)
from interlock.engine.agents.chat import Chat
from interlock.engine.agents.context import Send
from interlock.engine.agents.worker import HOW, Worker
from interlock.engine.bench.workbench import Workbench
from interlock.engine.effects.deadlines import deny_overdue
from interlock.engine.effects.effects import LAND, Effect, Effects, token_of, touched
from interlock.engine.effects.landing import ask_again, land_or_ask_again
from interlock.engine.effects.merge_queue import MergeQueue, commit_message
from interlock.engine.effects.review import request_review
from interlock.engine.effects.shell_attempt import do_work, run_gate
from interlock.engine.planning.planner import Planner
from interlock.errors import InterlockError, JournalError, Misconfigured, Rejected
from interlock.ports.front import Receipt
from interlock.ports.journal import Clock
from interlock.ports.work import Crew, GateRunner, Policy
from interlock.ports.workspaces import Workspaces

NO_MODEL = f"no model is configured to {{}} with; {HOW}"


class Agents(Protocol):
    """Makes the agents of a conductor; `send` submits their reports."""

    def worker(self, send: Send) -> Worker: ...
    def planner(self, send: Send) -> Planner | None: ...
    def chat(self, send: Send) -> Chat | None: ...


class Conductor:
    """Reacts to durable records. Call `start` first; nothing runs after `stop` returns."""

    def __init__(
        self,
        workbench: Workbench,
        workspaces: Workspaces,
        crew: Crew,
        gates: GateRunner,
        policy: Policy,
        clock: Clock,
        agents: Agents | None = None,
    ) -> None:
        """Without `agents` no model is configured: only shell tickets run."""
        self._workbench = workbench
        self._workspaces = workspaces
        self._crew = crew
        self._gates = gates
        self._policy = policy
        self._clock = clock
        self._effects = Effects(self._report)
        self._merges = MergeQueue(workspaces, gates, self._report)
        self._worker = agents.worker(self._report) if agents else None
        self._planner = agents.planner(self._report) if agents else None
        self._chat = agents.chat(self._report) if agents else None
        self._on = False
        self._branches: dict[str, asyncio.Future[None]] = {}

    async def start(self, settings: StartConductor) -> None:
        """Recovers from a crash, then starts the effects that the state requires."""
        state = self._workbench.state
        if state.conductor.on or state.busy:
            await self._workbench.submit(SYSTEM, Recover("the process that ran it is gone"))
        await deny_overdue(self._workbench, self._clock)
        await self._workspaces.sweep(frozenset(_with_workspace(self._workbench.state)))
        self._workbench.on_durable(self._react)
        self._on = True
        await self._workbench.submit(SYSTEM, settings)
        for name in _unsaved(self._workbench.state):  # there may be room now
            await self._workbench.submit(SYSTEM, RetryTicket(*name))
        self._catch_up(self._workbench.state)

    async def stop(self, reason: str) -> None:
        """Ends every effect; running attempts are recorded as lost or shelved."""
        self._on = False
        await self._effects.stop()
        if self._worker is not None:
            await self._worker.close()
        if self._workbench.broken is None and self._workbench.state.conductor.on:
            await self._workbench.submit(SYSTEM, Recover(reason))
        await self._workspaces.close()

    async def abandon(self) -> None:
        """Ends every effect without recording it, as `kill -9` would."""
        self._on = False
        await self._effects.stop()
        if self._worker is not None:
            await self._worker.close()

    # ── reacting ─────────────────────────────────────────────────────────────────────────

    def _react(self, records: Sequence[Recorded], state: State) -> None:
        if not self._on:
            return
        for ticket in touched(records, state):
            self._require_effect(ticket)
        tracks: dict[str, None] = {}  # a batch has many events of few tracks
        for recorded in records:
            event = recorded.event
            if track_id := track_of(event):
                tracks[track_id] = None
            if isinstance(event, OfTicket):
                continue  # it has no other subject
            if isinstance(event, ApprovalRequested) and event.deadline is not None:
                self._watch_deadline(state.approvals[event.approval])
            if discussion_id := _discussion_of(event, state):
                self._require_turn(state.discussions[discussion_id])
            if epic_id := epic_of(event):
                self._require_tracks(state.epics[epic_id])
        for track_id in tracks:
            if state.tracks[track_id].landing is not None:
                self._require_landing(state, track_id)
            if state.tracks[track_id].epic:
                self._require_plan(state.tracks[track_id])

    def _catch_up(self, state: State) -> None:
        """Starts the effects that were required before this process began."""
        for track_id in state.track_order:
            track = state.tracks[track_id]
            if track.counts.in_progress:
                for name in track.order:
                    self._require_effect(track.tickets[name])
            self._require_landing(state, track_id)
            self._require_plan(track)
        for epic in state.epics_in_order():
            self._require_tracks(epic)
        for discussion in state.discussions_in_order():
            self._require_turn(discussion)
        for approval in state.pending_approvals():
            self._watch_deadline(approval)

    def _require_effect(self, ticket: Ticket) -> None:
        token, name = token_of(ticket), (ticket.track, ticket.id, ticket.attempts)
        if self._worker is not None:
            self._worker.leave(ticket)
        effect = Effect(token, lambda: self._advance(ticket), lambda why: FailWork(*name, why)) if token else None
        self._effects.require(ticket.name, effect)

    def _require_landing(self, state: State, track_id: str) -> None:
        track, effect = state.tracks[track_id], None
        means = (self._workbench, self._workspaces, self._gates)
        failed = partial(FailLanding, track_id)
        if track.landing is not None and track.landing.state == "started":
            effect = Effect((LAND, track.landing.after), lambda: land_or_ask_again(track, *means), failed)
        elif track.landing is not None and track.is_asked_again:
            effect = Effect(("ask", track.landing.after), lambda: ask_again(track, *means), failed)
        self._effects.require(f"land {track_id}", effect)

    def _require_plan(self, track: Track) -> None:
        moves = self._workbench.state.conductor.runs_track(track)
        effect = None
        if moves and not track.planned and track.status == "proposed":
            effect = Effect(
                ("plan",), lambda: self._plan_track(track), lambda why: FailPlanning(track.epic, track.id, why)
            )
        self._effects.require(f"plan {track.id}", effect)

    def _require_tracks(self, epic: Epic) -> None:
        effect = None
        if epic.status == "planning" and self._workbench.state.conductor.runs_epic(epic.id):
            effect = Effect(("plan",), lambda: self._plan_epic(epic), lambda why: FailPlanning(epic.id, "", why))
        self._effects.require(f"plan {epic.id}", effect)

    def _require_turn(self, discussion: Discussion) -> None:
        effect = None
        if isinstance(discussion.stage, Thinking | Doing):
            token = ("turn", discussion.turns, discussion.resumes)
            effect = Effect(token, lambda: self._turn(discussion), lambda why: EndTurn(discussion.id, why))
        self._effects.require(f"discussion {discussion.id}", effect)

    def _watch_deadline(self, approval: Approval) -> None:
        if approval.deadline is None or not isinstance(approval.state, Pending):
            return
        left = seconds_until(approval.deadline, self._clock.now())
        asyncio.get_running_loop().call_later(max(left, 0), self._expire, approval.id)

    def _expire(self, approval_id: str) -> None:
        if self._on:
            self._workbench.send(SYSTEM, ExpireApproval(approval_id)).add_done_callback(_ignore_failure)

    # ── effects ──────────────────────────────────────────────────────────────────────────

    async def _advance(self, ticket: Ticket) -> Command | None:
        """Runs the effect that the ticket's stage requires."""
        if not isinstance(ticket.stage, (Working, Verifying, Reviewing, Merging)):
            return await self._remove(ticket)
        await self._branch(ticket.track)
        match ticket.stage:
            case Working():
                by_rule = self._is_granted_by_rule(ticket)
                keep = self._workbench.keep
                return await do_work(ticket, self._crew, self._policy, self._worker, keep, granted_by_rule=by_rule)
            case Verifying() as stage:
                bench, spaces = self._workbench, self._workspaces
                return await run_gate(ticket, stage, self._gates, bench.state, bench.keep, spaces)
            case Reviewing(parts=parts) as stage if parts:
                name = (ticket.track, ticket.id, ticket.attempts)
                return SubmitParts(
                    *name, await self._workspaces.take_parts(*name, stage.saved, parts, commit_message(ticket))
                )
            case Reviewing() as stage:
                bench = self._workbench
                return await request_review(ticket, stage, bench.state, bench.keep, self._workspaces)
            case Merging():
                return await self._merges.merge(ticket)

    def _is_granted_by_rule(self, ticket: Ticket) -> bool:
        if ticket.grant is None:
            return False
        answered = self._workbench.state.approvals[ticket.grant.approval].state
        return isinstance(answered, Answered) and is_rule(answered.by)

    async def _branch(self, track: str) -> None:
        """Creates the track's branch before its first ticket runs; retries if the last try failed."""
        branch = self._branches.get(track)
        if branch is None or (branch.done() and (branch.cancelled() or branch.exception() is not None)):
            branch = self._branches[track] = asyncio.ensure_future(self._start_branch(track))
        if not branch.done():
            await asyncio.wait((branch,))
        branch.result()

    async def _start_branch(self, track_id: str) -> None:
        """Refuses a branch with commits for tickets that this journal has not completed."""
        await self._workspaces.start_track(track_id)
        track = self._workbench.state.tracks[track_id]
        foreign = [
            name
            for name in sorted(await self._workspaces.merged_tickets(track_id))
            if name in track.tickets and not isinstance(track.tickets[name].stage, Completed | Merging)
        ]
        if foreign:
            raise Misconfigured(
                f"branch interlock/{track_id} holds commits for {', '.join(foreign[:5])} that are not in this journal;"
                f" rename or delete the branch (git branch -m interlock/{track_id} …), then retry"
            )

    async def _plan_epic(self, epic: Epic) -> Command:
        if self._planner is None:
            raise Misconfigured(NO_MODEL.format("plan"))
        return await self._planner.plan_epic(epic)

    async def _plan_track(self, track: Track) -> Command:
        if self._planner is None:
            raise Misconfigured(NO_MODEL.format("plan"))
        return await self._planner.plan_track(track)

    async def _turn(self, discussion: Discussion) -> Command:
        if self._chat is None:
            raise Misconfigured(NO_MODEL.format("talk"))
        return await self._chat.turn(discussion)

    async def _remove(self, ticket: Ticket) -> None:
        """Removes the ticket's folder. A failure is ignored: the next start sweeps the folder away."""
        with suppress(InterlockError):
            if self._worker is not None:
                await self._worker.forget(ticket)
            if isinstance(ticket.stage, Completed) and ticket.stage.commit is not None:
                await self._workspaces.remove(ticket.track, ticket.id)
            else:
                await self._workspaces.retire(ticket.track, ticket.id, ticket.attempts, commit_message(ticket))

    async def _report(self, outcome: Command) -> Receipt:
        """Submits an outcome; the receipt is empty if it was not recorded.

        Rejected: the attempt was killed, cancelled or answered otherwise in the meantime. JournalError: the workbench
        itself reports why it stopped.
        """
        try:
            return await self._workbench.submit(reporter(outcome), outcome)
        except (Rejected, JournalError):
            return Receipt(self._workbench.state.version, ())


def _discussion_of(event: Event, state: State) -> str:
    if isinstance(event, OfDiscussion):
        return event.discussion
    return state.approvals[event.approval].discussion if isinstance(event, OfApproval) else ""


def _with_workspace(state: State) -> set[tuple[str, str]]:
    """Tickets whose folder may still be needed."""
    live: set[tuple[str, str]] = set()
    for track_id in state.track_order:
        track = state.tracks[track_id]
        if track.counts.in_progress or track.counts.blocked or track.counts.todo:
            for name in track.order:
                ticket = track.tickets[name]
                needed = (
                    isinstance(ticket.stage, (Merging, Escalated, Queued, Reviewing, Verifying))
                    or ticket.unsaved is not None
                )
                if needed or (isinstance(ticket.stage, Asking) and ticket.session):
                    live.add((track_id, name))
    return live


def _unsaved(state: State) -> list[tuple[str, str]]:
    """Blocked tickets whose work is done and could not be saved."""
    tracks = [state.tracks[name] for name in state.track_order if state.conductor.runs_track(state.tracks[name])]
    return [
        (track.id, name)
        for track in tracks
        if track.counts.blocked and track.status != "aborted"
        for name in track.order
        if track.tickets[name].unsaved is not None and isinstance(track.tickets[name].stage, Blocked)
    ]


def _ignore_failure(answer: "asyncio.Future[Receipt]") -> None:
    answer.exception()
