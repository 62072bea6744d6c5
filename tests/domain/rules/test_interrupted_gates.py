"""A gate with network access may have lasting effects: after a crash a person decides whether it runs again."""

import pytest

from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.values.approvals import UnknownPayload
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import Blocked, Escalated, Merging, Queued, Verifying
from tests.domain.given import SAVED, Bench, shell


def interrupted(*gates: Gate, network: bool = False) -> Bench:
    """Two tickets whose first gate was running when the process was killed."""
    project = Bench()
    project.send(AddTrack("x", "X", "", (shell("T", verify=gates), shell("U", verify=gates))))
    project.send(StartConductor(4, True, False, GateDefaults(network=network)), SYSTEM)
    project.send(StartTrack("x"))
    project.submit("T")
    project.submit("U")
    project.send(Recover("it was killed"), SYSTEM)
    return project


def test_a_gate_without_network_is_simply_run_again() -> None:
    project = interrupted(Gate("make test"))
    assert not project.state.pending
    assert project.ticket("T").stage == Queued(Verifying(SAVED))
    assert interrupted(Gate("", criteria="reads well"), network=True).ticket("T").stage == Queued(Verifying(SAVED))


@pytest.mark.parametrize(("gate", "network"), [(Gate("publish", network=True), False), (Gate("publish"), True)])
def test_a_gate_with_network_is_asked_about(gate: Gate, network: bool) -> None:
    project = interrupted(gate, network=network)
    assert [project.state.approval(name).kind for name in ("A-1", "A-2")] == ["unknown", "unknown"]
    payload = project.approval("A-1").payload
    assert isinstance(payload, UnknownPayload)
    assert payload.what == "run the gate of T, with network: publish"
    assert project.ticket("T").stage == Escalated("A-1", Verifying(SAVED))


def test_the_person_decides_about_an_interrupted_gate() -> None:
    project = interrupted(Gate("publish", network=True), Gate("make test"))
    project.answer("A-1", "retry")
    assert project.ticket("T").stage == Queued(Verifying(SAVED))
    project.answer("A-2", "skip")
    assert project.ticket("U").stage == Queued(Verifying(SAVED, 1, skipped=True, took=(-1,)))
    project = interrupted(Gate("publish", network=True))
    project.answer("A-1", "skip")
    assert project.ticket("T").stage == Merging(SAVED, unverified=True)
    project.answer("A-2", "abort")
    stage = project.ticket("U").stage
    assert isinstance(stage, Blocked)
    assert project.track().status == "running"
