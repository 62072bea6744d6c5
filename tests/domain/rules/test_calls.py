"""Model calls need an active owner and enough budget; a call of unknown cost counts as spent."""

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import FinishTurn
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor, StopConductor
from interlock.domain.messages.commands.epic_commands import DropEpic, FailPlanning, PlanEpic, ProposeTracks
from interlock.domain.messages.commands.ticket_commands import KillWorker
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.values.budgets import Caps, Scope, Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner, OpenCall
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import OverBudget, Rejected
from tests.domain.given import AT, SYSTEM, Bench

WORKER = CallOwner(track="x", ticket="T", attempt=1)
TICKET, TRACK, EPIC = Scope("ticket", "x/T"), Scope("track", "x"), Scope("epic", "E-1")


def working(caps: Caps = Caps()) -> Bench:  # noqa: B008  frozen
    project = Bench()
    project.send(StartConductor(auto_queue=True, caps=caps), SYSTEM)
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"),)))
    project.send(StartTrack("x"))
    return project


def reserve(project: Bench, amount: int = 10, party: CallOwner = WORKER, tier: str = "Tier 3") -> str:
    (event,) = project.send(ReserveCall(party, tier, "m", amount), SYSTEM)
    assert isinstance(event, CallReserved)
    return event.call


def refused(project: Bench, command: Command) -> str:
    with pytest.raises(Rejected) as refusal:
        project.send(command, SYSTEM)
    return str(refusal.value)


def committed(project: Bench, scope: Scope) -> int:
    return project.state.ledger.committed(scope)


def test_the_maximal_cost_of_a_call_is_reserved_until_it_ends() -> None:
    project = working()
    assert reserve(project, 10) == "C-1"
    assert project.state.calls["C-1"] == OpenCall("C-1", WORKER, "Tier 3", "m", AT)
    assert (committed(project, TICKET), committed(project, TRACK), committed(project, Scope("tier", "Tier 3"))) == (
        10,
        10,
        10,
    )
    project.send(FinishTurn("x", "T", 1, Blob("a" * 64, 1), "Tier 3", "m", Usage(1, 2, cost=7), "C-1"), SYSTEM)
    assert (committed(project, TICKET), project.state.usage["Tier 3"]) == (7, Usage(1, 2, cost=7))
    assert not project.state.calls


def test_a_call_over_budget_is_not_made() -> None:
    project = working(Caps(ticket=15))
    reserve(project, 10)
    project.send(EndCall("C-1", Usage(cost=8), "429"), SYSTEM)
    with pytest.raises(OverBudget, match=r"ticket 'x/T' may spend \$0.000015, \$0.000008 is spent or reserved"):
        reserve(project, 8)
    assert reserve(project, 7) == "C-2"


@pytest.mark.parametrize("scope", [TICKET, TRACK, EPIC, Scope("tier", "Tier 2")])
def test_every_kind_of_budget_counts(scope: Scope) -> None:
    tier_2 = Caps(tiers=(("Tier 2", 5),))
    caps = {"epic": Caps(epic=5), "track": Caps(track=5), "ticket": Caps(ticket=5), "tier": tier_2}
    project = working(caps[scope.kind])
    party, tier = WORKER, "Tier 3"
    if scope.kind in ("epic", "tier"):
        project.send(PlanEpic("goal"))
        project.send(ProposeTracks("E-1", (TrackPlan("y", "Y"),)), SYSTEM)
        project.send(AnswerApproval("A-1", "approve"))
        party, tier = CallOwner(track="y"), "Tier 2"
    assert refused(project, ReserveCall(party, tier, "m", 6)).startswith(f"over budget: {scope.kind} {scope.name!r}")


def test_a_call_that_broke_off_counts_as_spent() -> None:
    project = working()
    reserve(project, 10)
    assert project.send(EndCall("C-1", None, "cut"), SYSTEM) == (CallEnded("C-1", "Tier 3", None, "cut"),)
    assert (committed(project, TICKET), len(project.state.calls), len(project.state.usage)) == (10, 0, 0)
    assert refused(project, EndCall("C-1", Usage(), "again")) == "call 'C-1' is over"


def test_calls_of_an_ended_owner_count_as_spent() -> None:
    project = working()
    reserve(project, 10)
    reserve(project, 5)  # a second reservation means that the first call was interrupted
    assert list(project.state.calls) == ["C-2"]
    project.send(KillWorker("x", "T"))
    assert (len(project.state.calls), committed(project, TICKET)) == (0, 15)


def test_calls_of_a_process_that_is_gone_count_as_spent() -> None:
    project = working()
    reserve(project, 10)
    project.send(Recover("killed"), SYSTEM)
    assert (len(project.state.calls), committed(project, TICKET)) == (0, 10)
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(PlanEpic("goal"))
    reserve(project, 3, CallOwner(epic="E-1"), "Tier 1")
    assert project.send(StopConductor("bye"), SYSTEM) == (ConductorStopped("bye"),)
    assert (len(project.state.calls), committed(project, EPIC)) == (0, 3)


def test_calls_for_planning_that_ends_count_as_spent() -> None:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    for number, command in enumerate((DropEpic("E-1"), FailPlanning("E-2", "", "no")), 1):
        project.send(PlanEpic("goal"))
        reserve(project, 3, CallOwner(epic=f"E-{number}"), "Tier 1")
        project.send(command, SYSTEM)
        assert (len(project.state.calls), committed(project, Scope("epic", f"E-{number}"))) == (0, 3)


def test_only_an_active_owner_makes_model_calls() -> None:
    project = working()
    project.send(PlanEpic("goal"))
    project.send(DropEpic("E-1"))
    wrong = {
        CallOwner(track="x", ticket="T", attempt=2): "attempt 2 of ticket 'x/T' is over",
        CallOwner(track="x"): "the planning of track 'x' is over",
        CallOwner(epic="E-1"): "the planning of epic E-1 is over",
        CallOwner(): "a model call needs an owner: a ticket, a track, an epic or a discussion",
    }
    for party, why in wrong.items():
        assert refused(project, ReserveCall(party, "Tier 3", "m", 1)) == why


def test_one_call_going_wrong_leaves_the_others() -> None:
    project = Bench()
    project.send(StartConductor(auto_queue=True), SYSTEM)
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"), TicketSpec(id="U"))))
    project.send(StartTrack("x"))
    other = CallOwner(track="x", ticket="U", attempt=1)
    reserve(project, 10)
    reserve(project, 5, other)
    project.send(KillWorker("x", "T"))
    assert [call.party for call in project.state.calls.values()] == [other]
    project.send(Recover("killed"), SYSTEM)
    assert committed(project, TRACK) == 15


def test_a_call_without_a_price_is_made_only_without_a_limit() -> None:
    project = working()
    (event,) = project.send(ReserveCall(WORKER, "Tier 3", "m", None), SYSTEM)
    assert event == CallReserved("C-1", WORKER, "Tier 3", "m", 0)
    limited = working(Caps(tiers=(("Tier 3", 5),)))
    with pytest.raises(OverBudget, match="the model 'm' has no price"):
        limited.send(ReserveCall(WORKER, "Tier 3", "m", None), SYSTEM)
