"""A gate that repeats the same failure requests an approval early; a ticket of `do` requests one after each failure."""

from msgspec.structs import replace

from interlock.domain.checks.gate_messages import stuck_question
from interlock.domain.messages.commands.attempt_commands import ReportGate
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.ticket_update import put
from interlock.domain.values.approvals import GatePayload
from interlock.domain.values.gates import Blob, Gate, GateDefaults, GateResult
from interlock.domain.values.tickets import Blocked, Escalated, Queued, TicketSpec, Tried, Verifying, Working
from tests.domain.given import AT, FAIL, Bench

FEEDBACK = Blob("5a", 1)


def worker(stuck_after: int = 3, *, returns: bool = False, loop: bool = False, approve_all: bool = False) -> Bench:
    project = Bench()
    spec = TicketSpec(id="T", verify=(Gate("make test", loop=loop),), returns=returns)
    project.send(AddTrack("x", "X", "", (spec,)))
    gates = GateDefaults(5, 300.0, stuck_after)
    project.send(StartConductor(4, True, approve_all, gates), SYSTEM)
    project.send(StartTrack("x"))
    return project


def failing(project: Bench, result: GateResult = FAIL, *, fresh: bool = False) -> list[str]:
    """Submits the work and fails its gate; returns the names of the recorded events."""
    project.submit("T")
    events = project.send(ReportGate("x", "T", 1, 0, result, "tree", "asked", FEEDBACK, fresh), SYSTEM)
    return [type(event).__name__ for event in events]


def test_a_constant_failure_asks_at_the_third_time() -> None:
    project = worker()
    assert failing(project) == ["GateFinished"]
    assert failing(project) == ["GateFinished"]
    assert failing(project) == ["GateFinished", "ApprovalRequested"]
    payload = project.approval("A-1").payload
    assert isinstance(payload, GatePayload)
    assert (payload.attempts, payload.max_attempts, payload.message) == (3, 5, "asked")
    assert "always the same way" in project.approval("A-1").why
    project.answer("A-1", "retry")
    stage = project.ticket("T").stage
    assert isinstance(stage, Verifying | Queued)


def test_without_stuck_after_it_goes_on_to_the_last_attempt() -> None:
    project = worker(0)
    for _ in range(4):
        assert failing(project) == ["GateFinished"]
    assert failing(project) == ["GateFinished", "ApprovalRequested"]
    assert project.approval("A-1").why == "the gate failed 5 of 5 times"


def test_a_shrinking_list_of_failures_keeps_going() -> None:
    project = worker()
    for number in (4, 3, 2, 1):
        assert failing(project, replace(FAIL, stderr=f"{number} failed")) == ["GateFinished"]


def test_a_repeated_failure_blocks_early_when_no_person_can_answer() -> None:
    project = worker(approve_all=True)
    failing(project)
    failing(project)
    assert failing(project) == ["GateFinished", "TicketBlocked", "TrackEnded"]
    stage = project.ticket("T").stage
    assert isinstance(stage, Blocked)
    assert "attempts 3/5, the same failure again and again" in stage.reason


def test_a_ticket_of_do_waits_for_an_answer_after_each_failure() -> None:
    project = worker(returns=True)
    assert failing(project) == ["GateFinished", "ApprovalRequested"]
    stage = project.ticket("T").stage
    assert isinstance(stage, Escalated)
    assert stage.at.attempt_count == 1
    project.answer("A-1", "retry")
    again = project.ticket("T").stage
    working = again.then if isinstance(again, Queued) else again
    assert isinstance(working, Working)
    assert working.tried is not None
    assert (working.tried.attempt_count, project.ticket("T").session[-1]) == (1, FEEDBACK)
    assert failing(project, replace(FAIL, stderr="other"), fresh=True) == ["GateFinished", "ApprovalRequested"]
    project.answer("A-2", "retry")
    assert (project.ticket("T").session, project.ticket("T").failures) == ((FEEDBACK,), 1)


def test_a_ticket_of_do_with_loop_continues_automatically() -> None:
    project = worker(returns=True, loop=True)
    assert failing(project) == ["GateFinished"]


def test_a_ticket_of_do_is_blocked_when_no_person_can_answer() -> None:
    project = worker(returns=True, approve_all=True)
    assert failing(project) == ["GateFinished", "TicketBlocked", "TrackEnded"]
    stage = project.ticket("T").stage
    assert isinstance(stage, Blocked)
    assert "attempts 1/5)" in stage.reason


def test_the_human_is_shown_the_evidence() -> None:
    text = stuck_question(FAIL, 3, 5, 3)
    assert text.startswith("## Shell Verification FAILED - Not Converging (3/5)\n")
    assert "**Evidence:** the same 3 times in a row" in text
    assert "gate_action: `retry`" in text


def lost(project: Bench) -> None:
    """The process is killed while the worker runs again; the next process continues."""
    gates = project.state.conductor.gates
    project.send(Recover("it was killed"), SYSTEM)
    project.send(StartConductor(4, True, False, gates), SYSTEM)


def test_a_crash_does_not_reset_the_count() -> None:
    project = worker()
    failing(project)
    lost(project)
    stage = project.ticket("T").stage
    assert stage == Working(Tried(0, 1, (FAIL,)))
    project.submit("T")
    verifying = project.ticket("T").stage
    assert isinstance(verifying, Verifying)
    assert verifying.attempt_count == 1


def test_crashes_alone_never_use_up_the_attempts() -> None:
    for stuck_after, kept in ((3, 1), (1, 0), (0, 4)):
        project = worker(stuck_after)
        tried = Tried(0, 4, (FAIL,) * 4)
        project.state = put(project.state, replace(project.ticket("T"), stage=Working(tried)), AT)
        lost(project)
        stage = project.ticket("T").stage
        assert isinstance(stage, Working)
        assert stage.tried is not None
        assert (stage.tried.attempt_count, len(stage.tried.previous_results)) == (3, kept)
