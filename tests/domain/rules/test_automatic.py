"""Answers without a person: rules and `--approve all`, and what both leave to a person."""

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ExpireApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskScript,
    AskWorker,
    FinishMerge,
    ReportGate,
    SubmitWork,
)
from interlock.domain.messages.commands.command import Bulk
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import APPROVE_ALL
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.rules.approval_rules import MOST_CONTEXT, automatic_answer
from interlock.domain.values.approvals import (
    ALLOWED,
    NEVER_AUTOMATIC,
    Answered,
    GatePayload,
    Pending,
    SpawnPayload,
    ToolPayload,
    UnknownPayload,
)
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import Blocked, Completed, Escalated, Merging, Saved, TicketSpec
from interlock.errors import BadValue, Rejected
from tests.domain.given import ADA, AT, FAIL, LATER, SAVED, SCRIPT, SYSTEM, Bench, bench, shell

NETWORK = Gate("curl", network=True, max_attempts=1)
EDIT = ToolPayload("c1", "edit_file", "{}", "ab", "Edit", 3, "+x", "/w")
SPAWN = SpawnPayload("tier3-worker", "m", "do it", "context")


def interrupted() -> Bench:
    """A gate with network was running when the process ended: whether it ran is unknown."""
    project = bench(shell("T", verify=[NETWORK]))
    project.submit("T")
    project.send(Recover("gone"), SYSTEM)
    return project


def test_only_a_person_answers_gates_and_unknown_outcomes() -> None:
    assert frozenset({"gate", "unknown"}) == NEVER_AUTOMATIC
    project = interrupted()
    assert isinstance(project.approval("A-1").payload, UnknownPayload)
    assert automatic_answer(project.approval("A-1")) is None
    for decision in ALLOWED["unknown"]:
        with pytest.raises(Rejected, match="answered by a person"):
            project.answer("A-1", decision, by="policy:x")


def test_a_rule_may_not_answer_with_a_decision_that_the_kind_does_not_have() -> None:
    project = bench(shell("T"))
    project.asked("T")
    with pytest.raises(BadValue, match="answer approve or reject or abort, not skip"):
        project.answer("A-1", "skip", by="policy:x")


def test_a_landing_is_approved_returned_or_rejected() -> None:
    assert ALLOWED["merge"] == ("approve", "changes", "reject")


def test_an_empty_bulk_operation_is_refused() -> None:
    with pytest.raises(Rejected, match="the bulk operation is empty"):
        bench(shell("T")).send(Bulk(()))


def test_a_deadline_that_the_request_names_is_kept() -> None:
    project = Bench()
    project.send(StartConductor(auto_queue=True, deadline_s=10), SYSTEM)
    project.send(AddTrack("x", "X", "", (shell("T"), shell("U"))))
    project.send(StartTrack("x"))
    project.asked("T", deadline=LATER)
    project.asked("U")
    assert project.approval("A-1").deadline == LATER
    assert project.approval("A-2").deadline == "2026-01-01T00:00:10.000000Z"


def test_a_step_that_a_consequence_asks_is_answered_at_once_by_approve_all() -> None:
    project = bench(shell("a"), shell("b", "a", step_mode=True), approve_all=True)
    project.submit("a", saved=None)
    answered = project.approval("A-1").state
    assert isinstance(answered, Answered)
    assert answered.by == APPROVE_ALL
    assert project.ticket("b").status == "in_progress"


def test_approve_all_leaves_a_new_question_about_a_gate_to_the_next_process() -> None:
    project = bench(shell("T", verify=[NETWORK]), approve_all=True)
    project.submit("T")
    project.send(Recover("gone"), SYSTEM)
    assert project.approval("A-1").state == Pending()
    assert isinstance(project.ticket("T").stage, Escalated)


def test_a_run_without_the_track_answers_nothing_of_it_and_starts_nothing_of_it() -> None:
    project = bench(shell("T"), shell("U"), workers=1)
    project.asked("T")
    project.send(Recover("gone"), SYSTEM)
    project.send(AddTrack("y", "Y", "", (shell("V"),)))
    project.send(StartConductor(4, auto_queue=True, approve_all=True, focus=("y",)), SYSTEM)
    assert project.approval("A-1").state == Pending()
    project.send(StartTrack("y"))
    assert (project.ticket("U").status, project.ticket("V", "y").status) == ("todo", "in_progress")


def test_a_track_with_unfinished_tickets_that_can_start_has_not_ended() -> None:
    project = bench(shell("a"), shell("b"), workers=1)
    project.submit("a", saved=None)
    assert project.track().status == "running"
    project.submit("b", saved=None)
    assert project.track().status == "done"


def test_no_more_tickets_run_at_once_than_there_are_workers() -> None:
    project = bench(shell("a"), shell("b"), shell("c"), workers=2)
    assert [project.ticket(name).status for name in "abc"] == ["in_progress", "in_progress", "todo"]


def test_an_expired_question_is_denied_only_once() -> None:
    project = bench(shell("T"))
    project.asked("T", deadline=LATER)
    project.answer("A-1", "approve")
    assert project.send(ExpireApproval("A-1"), SYSTEM) == ()
    assert project.approval("A-1").state == Answered("approve", ADA, AT, digest=project.approval("A-1").digest)


def test_an_expired_question_about_a_call_goes_back_to_the_worker_as_a_rejection() -> None:
    project = bench(shell("T"))
    project.send(AskScript("x", "T", 1, SCRIPT, "why", LATER), SYSTEM)
    project.send(ExpireApproval("A-1"), SYSTEM, at=LATER)
    answered = project.approval("A-1").state
    assert isinstance(answered, Answered)
    assert (answered.decision, answered.by) == ("reject", SYSTEM)


def asked(payload: ToolPayload | SpawnPayload) -> Bench:
    project = Bench()
    project.send(StartConductor(auto_queue=True), SYSTEM)
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"),)))
    project.send(StartTrack("x"))
    project.send(AskWorker("x", "T", 1, payload, "why"), SYSTEM)
    return project


@pytest.mark.parametrize("hunks", [(4,), (0,), ()])
def test_only_hunks_that_exist_can_be_chosen(hunks: tuple[int, ...]) -> None:
    project = asked(EDIT)
    with pytest.raises(BadValue, match="hunks 1 to 3"):
        project.send(AnswerApproval("A-1", "approve", hunks=hunks))
    project.send(AnswerApproval("A-1", "approve", hunks=(3,)))


def test_hunks_of_a_call_without_hunks_cannot_be_chosen() -> None:
    project = asked(ToolPayload("c1", "write", "{}", "ab", "Write", 0, "", "/w"))
    with pytest.raises(BadValue, match="hunks are chosen while approving a file edit"):
        project.send(AnswerApproval("A-1", "approve", hunks=(1,)))


def test_an_edited_text_of_blanks_is_empty_and_arguments_are_an_object() -> None:
    project = asked(EDIT)
    with pytest.raises(BadValue, match="the edited text is empty"):
        project.answer("A-1", "approve", edited=" \n")
    with pytest.raises(BadValue, match="must be a JSON object"):
        project.answer("A-1", "approve", edited="[1]")


def test_the_longest_edited_context_is_accepted() -> None:
    project = asked(SPAWN)
    with pytest.raises(BadValue, match="the most is"):
        project.answer("A-1", "approve", edited_context="x" * (MOST_CONTEXT + 1))
    project.answer("A-1", "approve", edited_context="x" * MOST_CONTEXT)
    grant = project.ticket("T").grant
    assert grant is not None
    assert grant.context == "x" * MOST_CONTEXT


def test_an_aborted_gate_counts_as_a_failure_of_the_work() -> None:
    project = bench(shell("T", verify=[Gate("true", max_attempts=1)]))
    project.submit("T")
    project.send(ReportGate("x", "T", 1, 0, FAIL), SYSTEM)
    project.answer("A-1", "abort")
    assert project.ticket("T").stage == Blocked("verification aborted", failed=True)


def tampering(*accepted: str, approve_all: bool = False) -> Bench:
    project = bench(TicketSpec(id="T", verify=(Gate("true"),)), approve_all=approve_all)
    project.send(SubmitWork("x", "T", 1, SAVED, "", ("tests/a@1", *accepted)), SYSTEM)
    return project


def test_changed_tests_are_asked_about_and_accepted_ones_not_again() -> None:
    project = tampering()
    asked_about = project.approval("A-1").payload
    assert isinstance(asked_about, GatePayload)
    assert asked_about.files == ("tests/a@1",)
    project.answer("A-1", "retry")
    assert project.ticket("T").accepted == ("tests/a@1",)
    assert len(project.state.approvals) == 1


def test_changed_tests_block_where_no_person_answers() -> None:
    project = tampering(approve_all=True)
    stage = project.ticket("T").stage
    assert isinstance(stage, Blocked)
    assert "a person must review: tests/a@1" in stage.reason
    assert stage.failed


def test_an_empty_result_of_a_ticket_that_returns_is_no_question() -> None:
    project = bench(TicketSpec(id="T", returns=True, verify=(Gate("true"),)))
    empty = Saved("base", "commit", "tree", True)
    events = project.send(SubmitWork("x", "T", 1, empty, "said"), SYSTEM)
    assert not any(isinstance(event, ApprovalRequested) for event in events)


def test_a_result_of_another_gate_is_refused_and_an_unverified_merge_stays_unverified() -> None:
    project = bench(shell("T", verify=[Gate("a"), Gate("b")]))
    project.submit("T")
    with pytest.raises(Rejected, match="is not at gate 1"):
        project.send(ReportGate("x", "T", 1, 1, FAIL), SYSTEM)
    other = bench(shell("U"))
    other.submit("U")
    assert isinstance(other.ticket("U").stage, Merging)
    other.send(FinishMerge("x", "U", 1, "c"), SYSTEM)
    assert (other.ticket("U").stage, other.ticket("U").unverified) == (Completed("c"), True)


def test_a_failed_gate_while_merging_is_recorded_and_changes_nothing_else() -> None:
    project = bench(shell("U"))
    project.submit("U")
    project.send(ReportGate("x", "U", 1, 0, FAIL), SYSTEM)
    assert isinstance(project.ticket("U").stage, Merging)


def test_workers_are_counted_from_one() -> None:
    for workers in (0, 257):
        with pytest.raises(Rejected, match="from 1 to 256"):
            Bench().send(StartConductor(workers), SYSTEM)


def test_two_interrupted_gates_with_network_get_two_questions() -> None:
    project = bench(shell("T", verify=[NETWORK]), shell("U", verify=[Gate("curl")]), shell("V", verify=[NETWORK]))
    project.send(StartConductor(4, True, False, GateDefaults(2, 300, network=True)), SYSTEM)
    for name in "TUV":
        project.submit(name)
    project.send(Recover("gone"), SYSTEM)
    assert [approval.ticket for approval in project.state.pending_approvals()] == ["T", "U", "V"]
