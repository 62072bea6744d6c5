"""A random run of random tracks: each step sends one command that is possible at that moment."""

import contextlib
from collections.abc import Callable
from random import Random
from typing import Any

from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.commands.approval_commands import AnswerApproval, ExpireApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskScript,
    FailWork,
    FinishMerge,
    RedoAttempt,
    ReportGate,
    SubmitWork,
)
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor, StopConductor
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
    TicketChanges,
)
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
)
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.attempt_events import TicketStarted
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ALLOWED
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Merging, Ticket, TicketSpec, Verifying, Working
from interlock.errors import Rejected
from tests.domain.given import ADA, FAIL, PASS, SAVED, SCRIPT, SLOW, Bench

PRIORITIES: Any = ("high", "medium", "low")


def random_specs(random: Random, count: int, prefix: str = "T", before: tuple[str, ...] = ()) -> tuple[TicketSpec, ...]:
    """Shuffled tickets; each depends on up to three earlier ones."""
    specs: list[TicketSpec] = []
    names = list(before)
    for number in range(count):
        depends_on = random.sample(names, min(len(names), random.randrange(4)))
        specs.append(
            TicketSpec(
                id=f"{prefix}{number}",
                assigned_to="shell",
                script="make",
                depends_on=tuple(depends_on),
                step_mode=random.random() < 0.2,
                priority=random.choice(PRIORITIES),
                verify=tuple(
                    Gate("true", max_attempts=random.choice((None, 1, 2))) for _ in range(random.randrange(3))
                ),
            )
        )
        names.append(specs[-1].id)
    random.shuffle(specs)
    return tuple(specs)


class Chaos:
    """Sends random commands; calls `check` with the state before and after each event."""

    def __init__(self, random: Random, check: Callable[[State, State, object], None] | None = None) -> None:
        self.random = random
        self.bench = Bench()
        self.check = check
        self.added = 0
        self.workers = random.randrange(1, 5)

    def live(self, steps: int = 40) -> None:
        """Random steps, then successful steps until no command is possible."""
        random = self.random
        self.send(AddTrack("x", "X", "", random_specs(random, random.randrange(1, 9))))
        self.send(AddTrack("y", "Y", "", random_specs(random, random.randrange(1, 4))))
        self._conduct(random.random() < 0.5, random.random() < 0.2)
        self.send(StartTrack("x"))
        self.send(StartTrack("y"))
        for _ in range(steps):
            self.attempt(random.choice(self.possible()))
        self.calm()

    def calm(self) -> None:
        """Every approval is given and every effect succeeds."""
        self.send(Recover())
        self._conduct(auto_queue=True, approve_all=False)
        for name in ("x", "y"):
            if self.bench.track(name).status in ("paused", "ready"):
                self.send(StartTrack(name))
        while moves := self.good_moves():
            for move in moves:
                self.attempt(move)

    def send(self, command: Command, by: str = SYSTEM) -> None:
        state, seen = self.bench.state, len(self.bench.records)
        self.bench.send(command, by)
        if self.check is not None:
            for recorded in self.bench.records[seen:]:
                after = evolve(state, recorded)
                self.check(state, after, recorded.event)
                state = after

    def attempt(self, move: Command) -> None:
        with contextlib.suppress(Rejected):
            self.send(move, ADA if isinstance(move, AnswerApproval) else SYSTEM)

    def good_moves(self) -> list[Command]:
        moves: list[Command] = []
        for approval in self.bench.state.pending_approvals():
            moves.append(AnswerApproval(approval.id, ALLOWED[approval.kind][0]))
        for ticket in self._tickets():
            name = (ticket.track, ticket.id, ticket.attempts)
            match ticket.stage:
                case Working():
                    moves.append(SubmitWork(*name, SAVED))
                case Verifying(gate=gate):
                    moves.append(ReportGate(*name, gate, PASS))
                case Merging():
                    moves.append(FinishMerge(*name, "merged"))
                case _:
                    pass
        return moves

    def possible(self) -> list[Command]:
        """The commands that may be sent now; some of them will be refused."""
        random = self.random
        moves: list[Command] = self.good_moves() * 2
        for approval in self.bench.state.pending_approvals():
            moves += [
                AnswerApproval(approval.id, decision) for decision in ALLOWED[approval.kind] if decision != "abort"
            ]
            moves.append(ExpireApproval(approval.id))
        for ticket in self._tickets():
            moves += self._about(ticket)
        for track in ("x", "y"):
            moves += [PauseTrack(track), ResumeTrack(track), StartTrack(track)]
        if random.random() < 0.05:
            moves.append(AbortTrack("y"))
        moves.append(AddTickets("x", self._more()))
        moves.append(StopConductor())
        moves.append(Recover())
        if not self.bench.state.conductor.on:
            moves += [self._conductor(random.random() < 0.5, random.random() < 0.2)] * 10
        return moves

    def _about(self, ticket: Ticket) -> list[Command]:
        random, stage = self.random, ticket.stage
        where = (ticket.track, ticket.id)
        name = (*where, ticket.attempts)
        late = (*where, ticket.attempts - 1)
        moves: list[Command] = [FailWork(*late, "late"), SubmitWork(*late, SAVED)]
        if isinstance(stage, Working):
            moves += [AskScript(*name, SCRIPT, "why", random.choice((None, "2026-02-01"))), SubmitWork(*name)]
            moves += [FailWork(*name, "broken"), RedoAttempt(*name, "again")]
        if isinstance(stage, Verifying):
            moves += [ReportGate(*name, stage.gate, FAIL), ReportGate(*name, stage.gate, SLOW)]
        if isinstance(stage, Merging):
            moves += [RedoAttempt(*name, "conflict"), ReportGate(*name, 0, FAIL)]
        moves += random.sample(
            [
                SkipTicket(*where),
                RetryTicket(*where),
                BlockTicket(*where, "later"),
                CancelTicket(*where),
                KillWorker(*where),
                MoveTicket(*where, random.randrange(10)),
                EditTicket(*where, TicketChanges(priority=random.choice(PRIORITIES))),
                EditTicket(*where, TicketChanges(step_mode=random.random() < 0.5, depends_on=self._some(ticket.track))),
                Bulk((RetryTicket(*where), SkipTicket(*where))),
            ],
            2,
        )
        return moves

    def _some(self, track: str) -> tuple[str, ...]:
        order = self.bench.track(track).order
        return tuple(self.random.sample(order, min(len(order), self.random.randrange(3))))

    def _more(self) -> tuple[TicketSpec, ...]:
        self.added += 1
        return random_specs(self.random, 2, f"N{self.added}-", self.bench.track("x").order)

    def _tickets(self) -> list[Ticket]:
        tracks = self.bench.state.tracks
        return [tracks[name].tickets[ticket] for name in self.bench.state.track_order for ticket in tracks[name].order]

    def _conductor(self, auto_queue: bool, approve_all: bool) -> StartConductor:
        return StartConductor(self.workers, auto_queue, approve_all)

    def _conduct(self, auto_queue: bool, approve_all: bool) -> None:
        self.send(self._conductor(auto_queue, approve_all))


def no_start_before_its_dependencies(before: State, after: State, event: object) -> None:
    if isinstance(event, TicketStarted):
        tickets = before.tracks[event.track].tickets
        assert {tickets[name].status for name in tickets[event.ticket].spec.depends_on} <= {"completed"}
        assert before.tracks[event.track].status == "running"
    if isinstance(event, ApprovalRequested) and event.kind == "step":
        assert event.ticket not in before.tracks[event.track].schedule.waiting
