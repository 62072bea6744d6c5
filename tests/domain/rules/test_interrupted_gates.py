"""The effects of a gate with network may last: after a crash a person decides whether it runs again."""

import pytest

from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.values.approvals import UnknownPayload
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import Blocked, Escalated, Merging, Queued, Verifying
from tests.domain.given import SAVED, Bench, shell


def interrupted(*gates: Gate, network: bool = False) -> Bench:
    """Two tickets whose first gate runs when the process dies."""
    found = Bench()
    found.send(AddTrack("x", "X", "", (shell("T", verify=gates), shell("U", verify=gates))))
    found.send(StartConductor(4, True, False, GateDefaults(network=network)), SYSTEM)
    found.send(StartTrack("x"))
    found.submit("T")
    found.submit("U")
    found.send(Recover("it was killed"), SYSTEM)
    return found


def test_a_gate_without_network_is_simply_run_again() -> None:
    found = interrupted(Gate("make test"))
    assert not found.state.pending
    assert found.ticket("T").stage == Queued(Verifying(SAVED))
    assert interrupted(Gate("", criteria="reads well"), network=True).ticket("T").stage == Queued(Verifying(SAVED))


@pytest.mark.parametrize(("gate", "network"), [(Gate("publish", network=True), False), (Gate("publish"), True)])
def test_a_gate_with_network_is_asked_about(gate: Gate, network: bool) -> None:
    found = interrupted(gate, network=network)
    assert [found.state.approval(name).kind for name in ("A-1", "A-2")] == ["unknown", "unknown"]
    payload = found.approval("A-1").payload
    assert isinstance(payload, UnknownPayload)
    assert payload.what == "run the gate of T, with network: publish"
    assert found.ticket("T").stage == Escalated("A-1", Verifying(SAVED))


def test_the_person_says_what_becomes_of_it() -> None:
    found = interrupted(Gate("publish", network=True), Gate("make test"))
    found.answer("A-1", "retry")
    assert found.ticket("T").stage == Queued(Verifying(SAVED))
    found.answer("A-2", "skip")
    assert found.ticket("U").stage == Queued(Verifying(SAVED, 1, skipped=True))
    found = interrupted(Gate("publish", network=True))
    found.answer("A-1", "skip")
    assert found.ticket("T").stage == Merging(SAVED, unverified=True)
    found.answer("A-2", "abort")
    stage = found.ticket("U").stage
    assert isinstance(stage, Blocked)
    assert found.track().status == "running"
