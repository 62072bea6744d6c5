"""A workbench with hands: runs what the state calls for, through the ports."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from interlock.domain.messages.commands.approval_commands import ExpireApproval
from interlock.domain.messages.commands.attempt_commands import FailWork
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.discussion_commands import EndTurn
from interlock.domain.messages.commands.epic_commands import FailPlanning
from interlock.domain.messages.commands.landing_commands import FailLanding
from interlock.domain.messages.envelopes import SYSTEM, Actor, Recorded
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.event_base import OfApproval, OfDiscussion
from interlock.domain.messages.events.subjects import epic_of, track_of
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval, Pending
from interlock.domain.values.discussions import Discussion, Doing, Thinking
from interlock.domain.values.epics import Epic
from interlock.domain.values.tickets import Asking, Completed, Escalated, Merging, Queued, Ticket, Verifying, Working
from interlock.engine.agents.chat import Chat
from interlock.engine.agents.worker import Send, Worker
from interlock.engine.bench.workbench import Workbench
from interlock.engine.effects import landing
from interlock.engine.effects.effects import CLEAN, Effects, Running, token_of, touched
from interlock.engine.effects.failures import guarded
from interlock.engine.effects.merge_queue import MergeQueue, commit_message
from interlock.engine.effects.shell_attempt import HOW, do_work, run_gate
from interlock.engine.planning.planner import Planner
from interlock.errors import InterlockError, JournalError, Misconfigured, Rejected
from interlock.ports.front import Following, Receipt
from interlock.ports.journal import Clock
from interlock.ports.work import Crew, GateRunner, Policy
from interlock.ports.workspaces import Workspaces

NO_MODEL = f"no model is configured to {{}} with; {HOW}"


class Conductor:
    """Reacts to durable records. `start` first; `stop` leaves nothing running."""

    def __init__(
        self,
        workbench: Workbench,
        workspaces: Workspaces,
        crew: Crew,
        gates: GateRunner,
        policy: Policy,
        clock: Clock,
        hire: Callable[[Send], Worker] | None = None,
        planner: Callable[[Send], Planner] | None = None,
        chat: Callable[[Send], Chat] | None = None,
    ) -> None:
        self._workbench = workbench
        self._workspaces = workspaces
        self._crew = crew
        self._gates = gates
        self._policy = policy
        self._clock = clock
        self._effects = Effects()
        self._merges = MergeQueue(workspaces, gates, self._report)
        self._worker = hire(self._report) if hire else None
        self._planner = planner(self._report) if planner else None
        self._chat = chat(self._report) if chat else None
        self._on = False
        self._branches: dict[str, asyncio.Future[None]] = {}

    @property
    def state(self) -> State:
        return self._workbench.state

    async def submit(self, actor: Actor, command: Command) -> Receipt:
        return await self._workbench.submit(actor, command)

    def follow(self, after: int) -> Following:
        return self._workbench.follow(after)

    async def ask_landing(self, actor: Actor, track: str) -> Receipt:
        return await landing.ask_landing(self._workbench, self._workspaces, actor, track)

    async def start(self, settings: StartConductor) -> None:
        """Put right what a crash left, then begin."""
        state = self._workbench.state
        if state.conductor.on or state.busy:
            await self._workbench.submit(SYSTEM, Recover("the process that ran it is gone"))
        await self._workspaces.sweep(frozenset(_with_workspace(self._workbench.state)))
        self._workbench.on_durable(self._react)
        self._on = True
        await self._workbench.submit(SYSTEM, settings)
        self._catch_up(self._workbench.state)

    async def stop(self, reason: str) -> None:
        """No effect survives this; attempts in hand are recorded as lost or shelved."""
        self._on = False
        await self._effects.stop()
        if self._workbench.broken is None and self._workbench.state.conductor.on:
            await self._workbench.submit(SYSTEM, Recover(reason))

    async def die(self) -> None:
        """As `kill -9` would leave it: nothing runs any more and nothing was recorded about that."""
        self._on = False
        await self._effects.stop()

    # ── reacting ─────────────────────────────────────────────────────────────────────────

    def _react(self, records: Sequence[Recorded], state: State) -> None:
        if not self._on:
            return
        for ticket in touched(records, state):
            self._want(ticket)
        for recorded in records:
            event = recorded.event
            if isinstance(event, ApprovalRequested) and event.deadline is not None:
                self._watch_deadline(state.approvals[event.approval])
            if track_id := track_of(event):
                if state.tracks[track_id].landing is not None:
                    self._want_landing(state, track_id)
                if state.tracks[track_id].epic:
                    self._want_plan(state.tracks[track_id])
            if discussion_id := _discussion_of(event, state):
                self._want_turn(state.discussions[discussion_id])
            if epic_id := epic_of(event):
                self._want_tracks(state.epics[epic_id])

    def _catch_up(self, state: State) -> None:
        """What was called for before this process began."""
        for track_id in state.track_order:
            track = state.tracks[track_id]
            if track.counts.in_progress:
                for name in track.order:
                    self._want(track.tickets[name])
            self._want_landing(state, track_id)
            self._want_plan(track)
        for epic in state.epics_in_order():
            self._want_tracks(epic)
        for found in state.discussions_in_order():
            self._want_turn(found)
        for approval in state.pending_approvals():
            self._watch_deadline(approval)

    def _want(self, ticket: Ticket) -> None:
        self._effects.want(ticket.name, token_of(ticket), lambda running: self._perform(running, ticket))

    def _want_landing(self, state: State, track_id: str) -> None:
        found = state.tracks[track_id].landing
        wanted = ("land", found.after) if found is not None and found.state == "started" else None
        self._effects.want(f"land {track_id}", wanted, lambda running: self._land(running, track_id))

    def _want_plan(self, track: Track) -> None:
        moves = self._workbench.state.conductor.moves(track.id)
        wanted = ("plan",) if moves and not track.planned and track.status == "proposed" else None
        self._effects.want(
            f"plan {track.id}",
            wanted,
            lambda running: self._finish(
                running, self._plan_track(track), lambda why: FailPlanning(track.epic, track.id, why)
            ),
        )

    def _want_tracks(self, epic: Epic) -> None:
        self._effects.want(
            f"plan {epic.id}",
            ("plan",) if epic.status == "planning" and self._workbench.state.conductor.focus is None else None,
            lambda running: self._finish(running, self._plan_epic(epic), lambda why: FailPlanning(epic.id, "", why)),
        )

    def _want_turn(self, found: Discussion) -> None:
        thinks = isinstance(found.stage, Thinking | Doing)
        self._effects.want(
            f"discussion {found.id}",
            ("turn", found.turns, found.resumes) if thinks else None,
            lambda running: self._finish(running, self._turn(found), lambda why: EndTurn(found.id, why)),
        )

    def _watch_deadline(self, approval: Approval) -> None:
        if approval.deadline is None or not isinstance(approval.state, Pending):
            return
        left = (_moment(approval.deadline) - _moment(self._clock.now())).total_seconds()
        asyncio.get_running_loop().call_later(max(left, 0), self._expire, approval.id)

    def _expire(self, approval_id: str) -> None:
        if self._on:
            self._workbench.send(SYSTEM, ExpireApproval(approval_id)).add_done_callback(_quietly)

    # ── effects ──────────────────────────────────────────────────────────────────────────

    async def _perform(self, running: Running, ticket: Ticket) -> None:
        if running.token[0] == CLEAN:
            await self._remove(ticket)
            return
        name = (ticket.track, ticket.id, ticket.attempts)
        await self._finish(running, self._outcome(ticket), lambda why: FailWork(*name, why))

    async def _outcome(self, ticket: Ticket) -> Command:
        await self._branch(ticket.track)
        match ticket.stage:
            case Working():
                return await do_work(ticket, self._crew, self._policy, self._worker)
            case Verifying() as stage:
                bench, spaces = self._workbench, self._workspaces
                return await run_gate(ticket, stage, self._gates, bench.state, bench.keep, spaces)
            case _:
                return await self._merges.merge(ticket)

    async def _branch(self, track: str) -> None:
        """The track's branch exists before anything of it runs."""
        made = self._branches.get(track)
        if made is None or (made.done() and (made.cancelled() or made.exception() is not None)):
            made = self._branches[track] = asyncio.ensure_future(self._start_branch(track))
        if not made.done():
            await asyncio.wait((made,))
        made.result()

    async def _start_branch(self, track_id: str) -> None:
        """What is on the branch must be this journal's own work: else tickets would only seem to be merged."""
        await self._workspaces.start_track(track_id)
        track = self._workbench.state.tracks[track_id]
        foreign = [
            name
            for name in sorted(await self._workspaces.merged_tickets(track_id))
            if name in track.tickets and not isinstance(track.tickets[name].stage, Completed | Merging)
        ]
        if foreign:
            raise Misconfigured(
                f"branch interlock/{track_id} holds work for {', '.join(foreign[:5])} that this journal knows nothing"
                f" of; rename or delete it (git branch -m interlock/{track_id} …), then retry"
            )

    async def _land(self, running: Running, track_id: str) -> None:
        work = landing.do_landing(self._workbench.state.tracks[track_id], self._workspaces)
        await self._finish(running, work, lambda why: FailLanding(track_id, why))

    async def _plan_epic(self, epic: Epic) -> Command:
        """Disposable: what a planner has said is recorded, and a call that was cut off is made again."""
        if self._planner is None:
            raise Misconfigured(NO_MODEL.format("plan"))
        return await self._planner.plan_epic(epic)

    async def _plan_track(self, track: Track) -> Command:
        if self._planner is None:
            raise Misconfigured(NO_MODEL.format("plan"))
        return await self._planner.plan_track(track)

    async def _turn(self, found: Discussion) -> Command:
        if self._chat is None:
            raise Misconfigured(NO_MODEL.format("talk"))
        return await self._chat.turn(found)

    async def _remove(self, ticket: Ticket) -> None:
        try:
            if isinstance(ticket.stage, Completed):
                await self._workspaces.remove(ticket.track, ticket.id)
            else:
                await self._workspaces.retire(ticket.track, ticket.id, ticket.attempts, commit_message(ticket))
        except InterlockError:
            return  # the next start sweeps it away

    async def _finish(self, running: Running, work: Awaitable[Command], failed: Callable[[str], Command]) -> None:
        await self._hand_in(running, await guarded(work, failed))

    async def _hand_in(self, running: Running, outcome: Command) -> None:
        running.reporting = True
        await self._report(outcome)

    async def _report(self, outcome: Command) -> Receipt:
        try:
            return await self._workbench.submit(SYSTEM, outcome)
        except Rejected:
            # The attempt was killed, cancelled or answered otherwise meanwhile: its outcome is nobody's.
            return Receipt(self._workbench.state.version, ())
        except JournalError:
            return Receipt(self._workbench.state.version, ())  # the workbench itself says why it stopped


def _discussion_of(event: Event, state: State) -> str:
    if isinstance(event, OfDiscussion):
        return event.discussion
    return state.approvals[event.approval].discussion if isinstance(event, OfApproval) else ""


def _with_workspace(state: State) -> set[tuple[str, str]]:
    """Tickets whose folder may still be of use."""
    live: set[tuple[str, str]] = set()
    for track_id in state.track_order:
        track = state.tracks[track_id]
        if track.counts.in_progress:
            for name in track.order:
                ticket = track.tickets[name]
                kept = isinstance(ticket.stage, (Merging, Escalated, Queued, Verifying))
                if kept or (isinstance(ticket.stage, Asking) and ticket.session):
                    live.add((track_id, name))
    return live


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _quietly(answer: "asyncio.Future[Receipt]") -> None:
    answer.exception()
