"""Helpers of the domain tests: events given, a command sent, events expected."""

from collections.abc import Sequence

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript, SubmitWork
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM, Recorded, Submission
from interlock.domain.messages.events.event import Event
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.step import replay, step
from interlock.domain.values.approvals import Approval, ScriptPayload
from interlock.domain.values.gates import Gate, GateDefaults, GateResult
from interlock.domain.values.tickets import Saved, Ticket, TicketSpec

AT = "2026-01-01T00:00:00.000000Z"
LATER = "2026-01-01T00:01:00.000000Z"
ADA = "human:ada"
SAVED = Saved("base", "commit", "tree")
SCRIPT = ScriptPayload("make", "/work", ("PATH",), "bubblewrap")
PASS = GateResult(status="passed", exit_code=0, command="true", duration_ms=1)
FAIL = GateResult(status="failed", exit_code=1, command="true", duration_ms=1, stderr="no")
SLOW = GateResult(status="timed_out", exit_code=-1, command="true", duration_ms=1)


def shell(name: str, *depends_on: str, step_mode: bool = False, verify: Sequence[Gate] = ()) -> TicketSpec:
    return TicketSpec(
        id=name,
        assigned_to="shell",
        script="make",
        depends_on=depends_on,
        step_mode=step_mode,
        verify=tuple(verify),
    )


def given(*events: Event, by: str = SYSTEM) -> State:
    """The state after these events."""
    return replay(Recorded(number, AT, by, "given", event) for number, event in enumerate(events, 1))


def when(command: Command, by: str = ADA) -> Submission:
    return Submission("when", by, command)


class Bench:
    """A project in memory that records every event for a replay."""

    def __init__(self) -> None:
        self.state = State()
        self.records: list[Recorded] = []

    def send(self, command: Command, by: str = ADA, at: str = AT) -> tuple[Event, ...]:
        done = step(self.state, Submission("s", by, command), at)
        self.state = done.state
        self.records.extend(done.records)
        return tuple(record.event for record in done.records)

    def track(self, name: str = "x") -> Track:
        return self.state.tracks[name]

    def ticket(self, name: str, track: str = "x") -> Ticket:
        return self.track(track).tickets[name]

    def approval(self, name: str) -> Approval:
        return self.state.approvals[name]

    def answer(self, approval: str, decision: str, by: str = ADA, **more: str) -> tuple[Event, ...]:
        return self.send(AnswerApproval(approval, decision, **more), by)  # type: ignore[arg-type]  # some tests send an invalid decision

    def asked(self, ticket: str, deadline: str | None = None) -> str:
        """Lets a working ticket request its script; returns the approval's id."""
        self.send(AskScript("x", ticket, self.ticket(ticket).attempts, SCRIPT, "by the rules", deadline), SYSTEM)
        return f"A-{len(self.state.approvals)}"

    def submit(self, ticket: str, saved: Saved | None = SAVED, summary: str = "") -> tuple[Event, ...]:
        return self.send(SubmitWork("x", ticket, self.ticket(ticket).attempts, saved, summary), SYSTEM)


def bench(
    *specs: TicketSpec,
    workers: int = 4,
    auto_queue: bool = True,
    approve_all: bool = False,
    max_attempts: int = 2,
    start: bool = True,
) -> Bench:
    """A running track `x` of these tickets."""
    project = Bench()
    project.send(AddTrack("x", "X", "", specs))
    project.send(StartConductor(workers, auto_queue, approve_all, GateDefaults(max_attempts, 300.0)), SYSTEM)
    if start:
        project.send(StartTrack("x"))
    return project
