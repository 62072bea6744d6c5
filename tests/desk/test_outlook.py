"""The window computes the order of the inbox and the forecast once per change that matters."""

from random import Random

from msgspec.structs import replace

from interlock.desk.outlook import Outlook
from tests.domain.given import Bench, bench, shell
from tests.views.outlook.simulated_track import simulated


def asked() -> Bench:
    project = bench(shell("A"), shell("B"), shell("B1", "B"))
    project.asked("A")
    project.asked("B")
    return project


def test_the_inbox_begins_with_what_holds_up_most() -> None:
    project, outlook = asked(), Outlook()
    outlook.take(project.state, project.state.pending_approvals(), None)
    assert [approval.ticket for approval in outlook.pending] == ["B", "A"]
    assert outlook.urgency["A-2"].reason == "holds up 1 ticket, 4 workers idle"
    project.answer("A-2", "approve")
    outlook.take(project.state, project.state.pending_approvals(), None)
    assert [approval.ticket for approval in outlook.pending] == ["A"]


def test_nothing_is_computed_again_while_no_ticket_changes_its_state() -> None:
    project, outlook = asked(), Outlook()
    run = simulated(Random(1), 30, 4, 10)
    outlook.take(run.state, project.state.pending_approvals(), run.track)
    before, order = outlook.forecast, outlook.pending
    assert before is not None
    outlook.take(run.state, project.state.pending_approvals(), replace(run.track, updated_at=run.track.created_at))
    assert outlook.forecast is before and outlook.pending is order
    outlook.take(run.state, (), replace(run.track, status="done"))
    assert outlook.forecast is None and outlook.pending == ()
