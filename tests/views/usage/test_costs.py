"""Costs of models by tier, epic, track or ticket."""

from interlock.domain.messages.commands.attempt_commands import FinishTurn
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec
from interlock.views.usage.costs import UsageRow, cost_shown, usage_rows
from tests.domain.given import SYSTEM, Bench


def test_known_and_unknown_costs_are_listed_by_any_grouping() -> None:
    project = Bench()
    project.send(StartConductor(auto_queue=True), SYSTEM)
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"),)))
    project.send(StartTrack("x"))
    worker = CallOwner(track="x", ticket="T", attempt=1)
    project.send(ReserveCall(worker, "Tier 3", "m", 10), SYSTEM)
    project.send(FinishTurn("x", "T", 1, Blob("a" * 64, 1), "Tier 3", "m", Usage(1, 2, cost=7), "C-1"), SYSTEM)
    project.send(ReserveCall(worker, "Tier 4", "m", 5), SYSTEM)
    project.send(EndCall("C-2", None, "cut"), SYSTEM)
    project.send(FinishTurn("x", "T", 1, Blob("a" * 64, 1), "Tier 9", "m", Usage(1)), SYSTEM)  # from an older journal
    project.send(PlanEpic("goal"))
    project.send(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "m", 3), SYSTEM)
    used = Usage(1, 2, cost=7)
    assert usage_rows(project.state) == (
        UsageRow("Tier 1", Usage(), 3),
        UsageRow("Tier 3", used, 0),
        UsageRow("Tier 4", Usage(), 5),
        UsageRow("Tier 9", Usage(1), 0),
    )
    assert usage_rows(project.state, "ticket") == (UsageRow("x/T", used, 5),)
    assert usage_rows(project.state, "track") == (UsageRow("x", used, 5),)
    assert usage_rows(project.state, "epic") == (UsageRow("E-1", Usage(), 3),)


def test_an_unknown_cost_is_not_shown_as_zero() -> None:
    used = (Usage(cost=1_234_500), Usage(cost=10, unpriced=1), Usage(unpriced=2), Usage())
    assert [cost_shown(each) for each in used] == ["$1.2345", "$0.0000 + unknown", "unknown", "$0.0000"]
