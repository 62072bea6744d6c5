"""A model is asked only by somebody still at work, and only with money left; what is not known counts as spent."""

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
    made = Bench()
    made.send(StartConductor(auto_queue=True, caps=caps), SYSTEM)
    made.send(AddTrack("x", "X", "", (TicketSpec(id="T"),)))
    made.send(StartTrack("x"))
    return made


def reserve(made: Bench, amount: int = 10, party: CallOwner = WORKER, tier: str = "Tier 3") -> str:
    (event,) = made.send(ReserveCall(party, tier, "m", amount), SYSTEM)
    assert isinstance(event, CallReserved)
    return event.call


def refused(made: Bench, command: Command) -> str:
    with pytest.raises(Rejected) as refusal:
        made.send(command, SYSTEM)
    return str(refusal.value)


def committed(made: Bench, scope: Scope) -> int:
    return made.state.ledger.committed(scope)


def test_what_a_call_may_cost_is_set_aside_until_it_is_known() -> None:
    made = working()
    assert reserve(made, 10) == "C-1"
    assert made.state.calls["C-1"] == OpenCall("C-1", WORKER, "Tier 3", "m", AT)
    assert (committed(made, TICKET), committed(made, TRACK), committed(made, Scope("tier", "Tier 3"))) == (10, 10, 10)
    made.send(FinishTurn("x", "T", 1, Blob("a" * 64, 1), "Tier 3", "m", Usage(1, 2, cost=7), "C-1"), SYSTEM)
    assert (committed(made, TICKET), made.state.usage["Tier 3"]) == (7, Usage(1, 2, cost=7))
    assert not made.state.calls


def test_a_call_over_budget_is_not_made() -> None:
    made = working(Caps(ticket=15))
    reserve(made, 10)
    made.send(EndCall("C-1", Usage(cost=8), "429"), SYSTEM)
    with pytest.raises(OverBudget, match=r"ticket 'x/T' may spend \$0.000015, \$0.000008 is spent or reserved"):
        reserve(made, 8)
    assert reserve(made, 7) == "C-2"


@pytest.mark.parametrize("scope", [TICKET, TRACK, EPIC, Scope("tier", "Tier 2")])
def test_every_kind_of_budget_counts(scope: Scope) -> None:
    tier_2 = Caps(tiers=(("Tier 2", 5),))
    caps = {"epic": Caps(epic=5), "track": Caps(track=5), "ticket": Caps(ticket=5), "tier": tier_2}
    made = working(caps[scope.kind])
    party, tier = WORKER, "Tier 3"
    if scope.kind in ("epic", "tier"):
        made.send(PlanEpic("goal"))
        made.send(ProposeTracks("E-1", (TrackPlan("y", "Y"),)), SYSTEM)
        made.send(AnswerApproval("A-1", "approve"))
        party, tier = CallOwner(track="y"), "Tier 2"
    assert refused(made, ReserveCall(party, tier, "m", 6)).startswith(f"over budget: {scope.kind} {scope.name!r}")


def test_a_call_that_broke_off_counts_as_spent() -> None:
    made = working()
    reserve(made, 10)
    assert made.send(EndCall("C-1", None, "cut"), SYSTEM) == (CallEnded("C-1", "Tier 3", None, "cut"),)
    assert (committed(made, TICKET), len(made.state.calls), len(made.state.usage)) == (10, 0, 0)
    assert refused(made, EndCall("C-1", Usage(), "again")) == "call 'C-1' is over"


def test_calls_of_whoever_is_gone_count_as_spent() -> None:
    made = working()
    reserve(made, 10)
    reserve(made, 5)  # the first was cut off, or there would be no second
    assert list(made.state.calls) == ["C-2"]
    made.send(KillWorker("x", "T"))
    assert (len(made.state.calls), committed(made, TICKET)) == (0, 15)


def test_calls_of_a_process_that_is_gone_count_as_spent() -> None:
    made = working()
    reserve(made, 10)
    made.send(Recover("killed"), SYSTEM)
    assert (len(made.state.calls), committed(made, TICKET)) == (0, 10)
    made = Bench()
    made.send(StartConductor(), SYSTEM)
    made.send(PlanEpic("goal"))
    reserve(made, 3, CallOwner(epic="E-1"), "Tier 1")
    assert made.send(StopConductor("bye"), SYSTEM) == (ConductorStopped("bye"),)
    assert (len(made.state.calls), committed(made, EPIC)) == (0, 3)


def test_calls_for_planning_that_ends_count_as_spent() -> None:
    made = Bench()
    made.send(StartConductor(), SYSTEM)
    for number, command in enumerate((DropEpic("E-1"), FailPlanning("E-2", "", "no")), 1):
        made.send(PlanEpic("goal"))
        reserve(made, 3, CallOwner(epic=f"E-{number}"), "Tier 1")
        made.send(command, SYSTEM)
        assert (len(made.state.calls), committed(made, Scope("epic", f"E-{number}"))) == (0, 3)


def test_only_somebody_at_work_asks_a_model() -> None:
    made = working()
    made.send(PlanEpic("goal"))
    made.send(DropEpic("E-1"))
    wrong = {
        CallOwner(track="x", ticket="T", attempt=2): "attempt 2 of ticket 'x/T' is over",
        CallOwner(track="x"): "the planning of track 'x' is over",
        CallOwner(epic="E-1"): "the planning of epic E-1 is over",
        CallOwner(): "a model call needs an owner: a ticket, a track, an epic or a discussion",
    }
    for party, why in wrong.items():
        assert refused(made, ReserveCall(party, "Tier 3", "m", 1)) == why


def test_one_call_going_wrong_leaves_the_others() -> None:
    made = Bench()
    made.send(StartConductor(auto_queue=True), SYSTEM)
    made.send(AddTrack("x", "X", "", (TicketSpec(id="T"), TicketSpec(id="U"))))
    made.send(StartTrack("x"))
    other = CallOwner(track="x", ticket="U", attempt=1)
    reserve(made, 10)
    reserve(made, 5, other)
    made.send(KillWorker("x", "T"))
    assert [call.party for call in made.state.calls.values()] == [other]
    made.send(Recover("killed"), SYSTEM)
    assert committed(made, TRACK) == 15


def test_a_call_that_nobody_can_price_is_made_only_where_nothing_limits_it() -> None:
    made = working()
    (event,) = made.send(ReserveCall(WORKER, "Tier 3", "m", None), SYSTEM)
    assert event == CallReserved("C-1", WORKER, "Tier 3", "m", 0)
    limited = working(Caps(tiers=(("Tier 3", 5),)))
    with pytest.raises(OverBudget, match="the model 'm' has no price"):
        limited.send(ReserveCall(WORKER, "Tier 3", "m", None), SYSTEM)
