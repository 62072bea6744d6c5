"""A gate that fails repeatedly in the same way asks a person early; `do` asks after each failure."""

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

TOLD = Blob("5a", 1)


def worker(stuck_after: int = 3, *, returns: bool = False, loop: bool = False, approve_all: bool = False) -> Bench:
    found = Bench()
    spec = TicketSpec(id="T", verify=(Gate("make test", loop=loop),), returns=returns)
    found.send(AddTrack("x", "X", "", (spec,)))
    gates = GateDefaults(5, 300.0, stuck_after)
    found.send(StartConductor(4, True, approve_all, gates), SYSTEM)
    found.send(StartTrack("x"))
    return found


def failing(found: Bench, result: GateResult = FAIL, *, fresh: bool = False) -> list[str]:
    """A submission and its failed gate: the names of what is recorded."""
    found.submit("T")
    told = found.send(ReportGate("x", "T", 1, 0, result, "tree", "asked", TOLD, fresh), SYSTEM)
    return [type(event).__name__ for event in told]


def test_a_constant_failure_asks_at_the_third_time() -> None:
    found = worker()
    assert failing(found) == ["GateFinished"]
    assert failing(found) == ["GateFinished"]
    assert failing(found) == ["GateFinished", "ApprovalRequested"]
    payload = found.approval("A-1").payload
    assert isinstance(payload, GatePayload)
    assert (payload.attempts, payload.max_attempts, payload.message) == (3, 5, "asked")
    assert "always the same way" in found.approval("A-1").why
    found.answer("A-1", "retry")
    stage = found.ticket("T").stage
    assert isinstance(stage, Verifying | Queued)


def test_without_stuck_after_it_goes_on_to_the_last_attempt() -> None:
    found = worker(0)
    for _ in range(4):
        assert failing(found) == ["GateFinished"]
    assert failing(found) == ["GateFinished", "ApprovalRequested"]
    assert found.approval("A-1").why == "the gate failed 5 of 5 times"


def test_a_shrinking_list_of_failures_keeps_going() -> None:
    found = worker()
    for number in (4, 3, 2, 1):
        assert failing(found, replace(FAIL, stderr=f"{number} failed")) == ["GateFinished"]


def test_nobody_to_ask_blocks_it_early() -> None:
    found = worker(approve_all=True)
    failing(found)
    failing(found)
    assert failing(found) == ["GateFinished", "TicketBlocked", "TrackEnded"]
    stage = found.ticket("T").stage
    assert isinstance(stage, Blocked)
    assert "attempts 3/5, the same failure again and again" in stage.reason


def test_a_command_of_its_own_waits_for_a_word_after_each_failure() -> None:
    found = worker(returns=True)
    assert failing(found) == ["GateFinished", "ApprovalRequested"]
    stage = found.ticket("T").stage
    assert isinstance(stage, Escalated)
    assert stage.at.attempt_count == 1
    found.answer("A-1", "retry")
    again = found.ticket("T").stage
    working = again.then if isinstance(again, Queued) else again
    assert isinstance(working, Working)
    assert working.tried is not None
    assert (working.tried.attempt_count, found.ticket("T").session[-1]) == (1, TOLD)
    assert failing(found, replace(FAIL, stderr="other"), fresh=True) == ["GateFinished", "ApprovalRequested"]
    found.answer("A-2", "retry")
    assert (found.ticket("T").session, found.ticket("T").failures) == ((TOLD,), 1)


def test_with_loop_it_goes_on_by_itself() -> None:
    found = worker(returns=True, loop=True)
    assert failing(found) == ["GateFinished"]


def test_a_command_of_its_own_without_anybody_to_ask_is_blocked() -> None:
    found = worker(returns=True, approve_all=True)
    assert failing(found) == ["GateFinished", "TicketBlocked", "TrackEnded"]
    stage = found.ticket("T").stage
    assert isinstance(stage, Blocked)
    assert "attempts 1/5)" in stage.reason


def test_the_human_is_shown_the_evidence() -> None:
    text = stuck_question(FAIL, 3, 5, 3)
    assert text.startswith("## Shell Verification FAILED - Not Converging (3/5)\n")
    assert "**Evidence:** the same 3 times in a row" in text
    assert "gate_action: `retry`" in text


def lost(found: Bench) -> None:
    """The process dies while the worker is at work again; the next one goes on."""
    gates = found.state.conductor.gates
    found.send(Recover("it was killed"), SYSTEM)
    found.send(StartConductor(4, True, False, gates), SYSTEM)


def test_a_crash_does_not_reset_the_count() -> None:
    found = worker()
    failing(found)
    lost(found)
    stage = found.ticket("T").stage
    assert stage == Working(Tried(0, 1, (FAIL,)))
    found.submit("T")
    verifying = found.ticket("T").stage
    assert isinstance(verifying, Verifying)
    assert verifying.attempt_count == 1


def test_crashes_alone_never_use_up_the_attempts() -> None:
    for stuck_after, kept in ((3, 1), (1, 0), (0, 4)):
        found = worker(stuck_after)
        tried = Tried(0, 4, (FAIL,) * 4)
        found.state = put(found.state, replace(found.ticket("T"), stage=Working(tried)), AT)
        lost(found)
        stage = found.ticket("T").stage
        assert isinstance(stage, Working)
        assert stage.tried is not None
        assert (stage.tried.attempt_count, len(stage.tried.previous_results)) == (3, kept)
