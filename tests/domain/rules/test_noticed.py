"""Small rules that single-line bugs broke without a test noticing."""

import pytest

from interlock.domain.checks.deadlines import seconds_until
from interlock.domain.checks.test_tampering import ChangedFile, tampered_files
from interlock.domain.messages.commands.approval_commands import ApproveTask
from interlock.domain.messages.commands.attempt_commands import (
    AskWorker,
    FailWork,
    FinishMerge,
    ReportGate,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.conductor_commands import EndInherited, Recover, StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.external_ask_commands import AskPerson
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.commands.ticket_commands import CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.rules.external_ask_rules import earlier_ask
from interlock.domain.values.approvals import SpawnPayload
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.tickets import Escalated, TicketSpec, Verifying
from interlock.errors import Rejected
from tests.domain.given import FAIL, PASS, SAVED, SYSTEM, Bench, bench, shell

ONE = Blob("1" * 64, 1)


def test_a_track_with_a_cancelled_ticket_is_not_done() -> None:
    project = bench(shell("a"), shell("b"), workers=1)
    project.send(CancelTicket("x", "b", "no"))
    project.submit("a", saved=None)
    assert project.track().status == "blocked"


def test_approving_a_task_approves_no_script() -> None:
    project = bench(shell("T"))
    project.asked("T")
    with pytest.raises(Rejected, match="does not wait for a step approval"):
        project.send(ApproveTask("x", "T"))


def test_changes_to_tests_that_a_person_accepted_are_not_asked_about_again() -> None:
    project = bench(TicketSpec(id="T", verify=(Gate("true", max_attempts=5),)))
    tampered = ("tests/a@1",)
    project.send(SubmitWork("x", "T", 1, SAVED, "", tampered), SYSTEM)
    project.answer("A-1", "retry")
    project.send(ReportGate("x", "T", 1, 0, FAIL, feedback=ONE), SYSTEM)
    project.send(SubmitWork("x", "T", 1, SAVED, "", tampered), SYSTEM)
    assert len(project.state.approvals) == 1
    assert isinstance(project.ticket("T").stage, Verifying)


def test_a_result_of_an_earlier_gate_is_refused() -> None:
    project = bench(shell("T", verify=[Gate("a"), Gate("b")]))
    project.submit("T")
    project.send(ReportGate("x", "T", 1, 0, PASS), SYSTEM)
    with pytest.raises(Rejected, match="is not at gate 0"):
        project.send(ReportGate("x", "T", 1, 0, FAIL), SYSTEM)


def test_a_track_with_a_blocked_ticket_loses_its_other_attempts_too() -> None:
    project = bench(shell("a"), shell("b"))
    project.send(FailWork("x", "a", 1, "no"), SYSTEM)
    project.send(Recover("gone"), SYSTEM)
    assert project.ticket("b").status == "todo"


def test_long_proposed_ids_with_the_same_beginning_stay_different() -> None:
    project, start = Bench(), "a" * 58
    for end in "xy":
        project.send(AddTrack(start + end, "T", "", ()))
    project.send(PlanEpic("do it"))
    project.send(ProposeTracks("E-1", tuple(TrackPlan(start + end, "T", "") for end in "xy")), SYSTEM)
    assert [plan.id for plan in project.state.epic("E-1").proposed] == [f"{start}-2", f"{start}-3"]


def test_an_ask_without_a_key_is_never_an_earlier_one() -> None:
    project, ask = Bench(), AskPerson("tool", "{}", "ab", "agent")
    project.send(ask)
    assert earlier_ask(project.state, ask) is None


def test_a_worker_whose_gate_waits_for_a_person_takes_notes() -> None:
    project = bench(TicketSpec(id="T", verify=(Gate("true", max_attempts=1),)))
    project.send(SubmitWork("x", "T", 1, SAVED, ""), SYSTEM)
    project.send(ReportGate("x", "T", 1, 0, FAIL), SYSTEM)
    assert isinstance(project.ticket("T").stage, Escalated)
    project.send(Tell(text="use the other way", track="x", ticket="T"))
    assert project.ticket("T").notes == ("use the other way",)


def test_repeated_dependencies_are_named_once_and_none_is_lost() -> None:
    project = bench(shell("a"), shell("b"), shell("c", "a", "b", "a"))
    assert project.ticket("c").spec.depends_on == ("a", "b")


def test_a_track_that_is_started_joins_the_focus() -> None:
    project = bench(shell("a"), start=False)
    project.send(AddTrack("y", "Y", "", (shell("b"),)))
    project.send(StartConductor(4, auto_queue=True, focus=("y",)), SYSTEM)
    project.send(StartTrack("x"))
    assert project.state.conductor.focus == ("y", "x")


def test_a_completed_ticket_has_no_unused_answer() -> None:
    project = bench(shell("T"))
    project.asked("T")
    project.answer("A-1", "approve")
    project.submit("T", saved=None)
    assert project.ticket("T").grant is None


def test_withdrawing_the_answer_of_a_completed_ticket_leaves_its_dependants_alone() -> None:
    project = bench(TicketSpec(id="T"), shell("U", "T"), workers=1)
    project.send(AskWorker("x", "T", 1, SpawnPayload("tier3-worker", "m", "do", ""), "starts"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(StartSession("x", "T", 1, ONE), SYSTEM)
    project.send(SubmitWork("x", "T", 1, SAVED, ""), SYSTEM)
    project.send(FinishMerge("x", "T", 1, "c"), SYSTEM)
    assert project.ticket("U").status == "in_progress"
    project.send(EndInherited("from elsewhere"), SYSTEM)
    assert (project.ticket("T").status, project.ticket("T").spawn) == ("completed", None)


def test_many_open_approvals_are_listed_oldest_first() -> None:
    names = [f"T{number}" for number in range(70)]
    project = bench(*map(shell, names), workers=100)
    for name in names:
        project.asked(name)
    assert [approval.ticket for approval in project.state.pending_approvals()] == names


def test_a_deadline_in_another_time_zone_is_the_same_moment() -> None:
    assert seconds_until("2026-01-01T02:00:10+02:00", "2026-01-01T00:00:00Z") == 10


def test_files_that_the_settings_call_tests_are_tests() -> None:
    changed = [ChangedFile("changed", "checks/all.sh", "abc")]
    assert tampered_files(changed, [Gate("make")], ["checks/**"]) == ("checks/all.sh@abc",)
    assert tampered_files(changed, [Gate("make")], []) == ()
