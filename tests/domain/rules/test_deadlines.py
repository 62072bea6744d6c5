"""An approval that nobody answered by its deadline is denied, also if no process noticed the moment."""

import pytest

from interlock.domain.checks.deadlines import is_overdue, seconds_until, time_after
from interlock.domain.messages.commands.approval_commands import AnswerApproval, ApproveTask, ExpireApproval
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.errors import Rejected
from tests.domain.given import AT, Bench, bench, shell

DEADLINE = "2026-01-01T00:01:00Z"
LATE = "2026-01-01T00:01:00.000001Z"


def asking() -> Bench:
    project = bench(shell("T"))
    project.asked("T", deadline=DEADLINE)
    return project


@pytest.mark.parametrize("decision", ["approve", "reject"])
@pytest.mark.parametrize("at", [DEADLINE, LATE])
def test_an_answer_at_the_deadline_or_later_is_refused(decision: str, at: str) -> None:
    project = asking()
    command = AnswerApproval("A-1", decision)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Rejected, match="A-1 was not answered by its deadline, 2026-01-01T00:01:00Z: it is denied"):
        project.send(command, at=at)
    assert project.send(ExpireApproval("A-1"), SYSTEM, at)
    with pytest.raises(Rejected, match="already answered by system: reject"):
        project.send(command, at=at)


def test_an_answer_before_the_deadline_counts() -> None:
    assert asking().send(AnswerApproval("A-1", "approve"), at="2026-01-01T00:00:59.999999Z")


def test_a_step_that_is_overdue_cannot_be_approved_by_its_ticket() -> None:
    project = bench(shell("T", step_mode=True), start=False)
    project.send(StartConductor(deadline_s=60), SYSTEM)
    project.send(StartTrack("x"))
    with pytest.raises(Rejected, match="by its deadline"):
        project.send(ApproveTask("x", "T"), at=LATE)
    assert project.send(ApproveTask("x", "T"))


def test_an_unknown_approval_is_refused_as_before() -> None:
    with pytest.raises(Rejected, match="no approval"):
        asking().send(AnswerApproval("A-9", "approve"), at=LATE)


def test_times_with_and_without_a_zone_are_compared() -> None:
    assert seconds_until("2026-01-01", "2026-01-01T00:00:01Z") == -1
    assert time_after(AT, 60) == "2026-01-01T00:01:00.000000Z"
    approval = asking().approval("A-1")
    assert (is_overdue(approval, AT), is_overdue(approval, DEADLINE)) == (False, True)
