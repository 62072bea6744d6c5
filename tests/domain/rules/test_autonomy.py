"""Autonomy: contained work runs without a question, and its diff is reviewed before it is merged."""

import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskReview,
    AskScript,
    AskWorker,
    ReportGate,
    SubmitParts,
    SubmitWork,
)
from interlock.domain.messages.commands.conductor_commands import StartConductor, StopConductor
from interlock.domain.messages.commands.steering_commands import Hear, SetAutonomy, Tell
from interlock.domain.messages.commands.ticket_commands import CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import APPROVE_ALL, APPROVED_STEP, CONTAINED, is_rule
from interlock.domain.review.comments import changes_note, parts_note
from interlock.domain.state.autonomy import is_contained
from interlock.domain.step import replay
from interlock.domain.values.approvals import (
    Answered,
    Comment,
    MergePayload,
    Payload,
    Pending,
    ReviewFile,
    ReviewPayload,
    SpawnPayload,
    ToolPayload,
    Withdrawn,
)
from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.gates import Blob, Gate, GateDefaults
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import (
    Asking,
    Blocked,
    Escalated,
    Merging,
    Queued,
    Reviewing,
    Saved,
    TicketSpec,
    Verifying,
    Working,
)
from interlock.errors import BadValue, NotFound, Rejected
from tests.domain.given import ADA, FAIL, PASS, SAVED, SCRIPT, SYSTEM, Bench, shell

GATE = Gate("make test", max_attempts=1)
EDIT = ToolPayload("c1", "edit_file", "{}", "ab", "Edit", 1, "+x", "/w")
SPAWN = SpawnPayload("tier3-worker", "m", "do it", "context")
REVIEW = ReviewPayload("base", "commit", "tree", "+x", files=(ReviewFile("a.py", 1, 0),))
WORKER = TicketSpec(id="T", description="do it", verify=(GATE,))


def bench(
    *specs: TicketSpec,
    level: Autonomy = "review",
    contained: bool = True,
    auto_queue: bool = True,
    approve_all: bool = False,
) -> Bench:
    project = Bench()
    project.send(AddTrack("x", "X", "", specs or (WORKER,)))
    settings = StartConductor(4, auto_queue, approve_all, GateDefaults(1, 300.0), autonomy=level, contained=contained)
    project.send(settings, SYSTEM)
    project.send(StartTrack("x"))
    return project


def ask(project: Bench, payload: SpawnPayload | ToolPayload, ticket: str = "T") -> None:
    project.send(AskWorker("x", ticket, project.ticket(ticket).attempts, payload, "why"), f"worker:{ticket}/1")


def finish(project: Bench, saved: Saved = SAVED, ticket: str = "T") -> None:
    attempt = project.ticket(ticket).attempts
    project.send(SubmitWork("x", ticket, attempt, saved, "done"), f"worker:{ticket}/{attempt}")
    if project.ticket(ticket).spec.verify:
        project.send(ReportGate("x", ticket, attempt, 0, PASS, saved.tree), SYSTEM)


def review(project: Bench, payload: ReviewPayload = REVIEW, ticket: str = "T") -> str:
    project.send(AskReview("x", ticket, project.ticket(ticket).attempts, payload), SYSTEM)
    return f"A-{len(project.state.approvals)}"


def reviewed_once(level: Autonomy = "review") -> Bench:
    """A ticket whose finished work waits for its review, as A-2."""
    project = bench(level=level)
    ask(project, EDIT)
    finish(project)
    review(project)
    return project


@pytest.mark.parametrize("payload", [SPAWN, EDIT, replace(EDIT, tool="write_file")])
@pytest.mark.parametrize("level", ["review", "land"])
def test_contained_work_is_answered_by_the_rule_and_recorded(level: Autonomy, payload: ToolPayload) -> None:
    project = bench(level=level)
    ask(project, payload)
    answer = project.approval("A-1").state
    assert isinstance(answer, Answered)
    assert (answer.decision, answer.by, answer.digest) == ("approve", CONTAINED, project.approval("A-1").digest)
    assert level in answer.message
    assert project.ticket("T").unseen == ("A-1",)
    assert project.ticket("T").stage == Working()


def test_with_ask_every_change_asks() -> None:
    project = bench(level="ask")
    ask(project, EDIT)
    assert project.ticket("T").stage == Asking("A-1")


def test_without_a_sandbox_every_change_asks() -> None:
    project = bench(level="land", contained=False)
    ask(project, EDIT)
    assert project.approval("A-1").state == Pending()


def test_a_script_is_contained_in_the_sandbox_without_network_only() -> None:
    assert is_contained(SCRIPT)
    assert not is_contained(replace(SCRIPT, network=True))
    assert not is_contained(replace(SCRIPT, sandbox="off"))
    assert not is_contained(replace(SCRIPT, sandbox="landlock")), "it does not govern modes and times of other files"


@pytest.mark.parametrize(
    "payload", [replace(EDIT, tool="fetch_url"), replace(EDIT, tool="mcp__x__y"), MergePayload("main", "a", "b", "")]
)
def test_what_may_leave_the_worktree_is_not_contained(payload: Payload) -> None:
    assert not is_contained(payload)


def test_a_script_with_network_asks_in_every_level() -> None:
    project = bench(shell("S"), level="land")
    project.send(AskScript("x", "S", 1, replace(SCRIPT, network=True), "why"), "worker:S/1")
    assert project.ticket("S").stage == Asking("A-1")


def test_finished_work_waits_for_its_review_and_is_merged_after_it() -> None:
    project = reviewed_once()
    assert project.ticket("T").stage == Reviewing(SAVED, unverified=False, approval="A-2", took=(1,))
    assert project.approval("A-2").kind == "review"
    project.answer("A-2", "approve")
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.unseen, ticket.rounds) == (Merging(SAVED, unverified=False), (), 1)


def test_a_review_is_requested_once_and_for_the_saved_commit_only() -> None:
    project = bench()
    finish(project)
    with pytest.raises(Rejected, match="already requested"):
        review(project, replace(REVIEW, commit="another"))
    review(project)
    with pytest.raises(Rejected, match="already requested"):
        review(project)


def test_with_land_nothing_asks_before_the_landing() -> None:
    project = bench(level="land")
    ask(project, EDIT)
    finish(project)
    assert project.ticket("T").stage == Merging(SAVED, unverified=False)


def test_work_that_ran_unasked_is_reviewed_although_the_level_was_changed_to_ask() -> None:
    project = bench(level="land")
    ask(project, EDIT)
    project.send(SetAutonomy("ask"))
    finish(project)
    assert project.ticket("T").stage == Reviewing(SAVED, unverified=False, took=(1,))


def test_a_new_attempt_starts_without_unseen_work() -> None:
    project = bench()
    ask(project, EDIT)
    project.send(StopConductor("killed"), SYSTEM)
    project.send(StartConductor(4, True, gates=GateDefaults(1, 300.0)), SYSTEM)
    assert project.ticket("T").attempts == 2
    assert project.ticket("T").unseen == ()


def test_work_that_changed_nothing_is_not_reviewed() -> None:
    project = bench(shell("S"))
    finish(project, replace(SAVED, empty=True), "S")
    assert project.ticket("S").stage == Merging(replace(SAVED, empty=True), unverified=True)


def test_a_ticket_without_a_gate_is_reviewed_as_unverified() -> None:
    project = bench(shell("S"))
    finish(project, ticket="S")
    assert project.ticket("S").stage == Reviewing(SAVED, unverified=True)


def test_changed_tests_ask_before_the_review() -> None:
    project = bench(replace(WORKER, verify=()))
    project.send(SubmitWork("x", "T", 1, SAVED, tampered=("tests/a.py@1",)), "worker:T/1")
    assert project.ticket("T").stage == Escalated("A-1", Verifying(SAVED))
    project.answer("A-1", "skip")
    assert project.ticket("T").stage == Reviewing(SAVED, unverified=True)


def test_a_skipped_gate_leads_to_the_review() -> None:
    project = bench()
    project.send(SubmitWork("x", "T", 1, SAVED), "worker:T/1")
    project.send(ReportGate("x", "T", 1, 0, FAIL, "tree"), SYSTEM)
    project.answer("A-1", "skip")
    assert project.ticket("T").stage == Reviewing(SAVED, unverified=True, took=(-1,))


def test_requested_changes_go_back_to_the_worker_in_its_worktree() -> None:
    project = reviewed_once()
    project.send(AnswerApproval("A-2", "changes", message="Rename it.", comments=(Comment("a.py", "why?", 3),)))
    ticket = project.ticket("T")
    assert ticket.stage == Working()
    assert (ticket.attempts, ticket.reviewed, ticket.rounds) == (1, "commit", 1)
    assert ticket.notes == (changes_note("A-2", "Rename it.", (Comment("a.py", "why?", 3),)),)
    answer = project.approval("A-2").state
    assert isinstance(answer, Answered)
    assert answer.comments == (Comment("a.py", "why?", 3),)


def test_the_next_round_is_a_review_of_the_new_commit() -> None:
    project = reviewed_once()
    project.answer("A-2", "changes", message="Rename it.")
    second = Saved("base", "second", "tree2")
    project.send(SubmitWork("x", "T", 1, second), "worker:T/1")
    assert project.ticket("T").stage == Working()  # it has not read the request yet
    project.send(Hear(CallOwner(track="x", ticket="T", attempt=1), Blob("m", 1)), SYSTEM)
    finish(project, second)
    assert project.ticket("T").stage == Reviewing(second, unverified=False, took=(1,))
    assert review(project, replace(REVIEW, commit="second", round=2, since="commit")) == "A-3"
    project.answer("A-3", "approve")
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.reviewed, ticket.rounds) == (Merging(second, unverified=False), "", 2)


def partly_accepted(*specs: TicketSpec) -> Bench:
    """A ticket of whose work a person accepted the first of two parts."""
    project = bench(*specs)
    finish(project, ticket=project.track().order[0])
    review(project, replace(REVIEW, parts=2), project.track().order[0])
    project.send(AnswerApproval("A-1", "approve", message="only this", hunks=(1,)))
    return project


def test_accepted_parts_are_verified_again_and_then_merged_without_another_review() -> None:
    project = partly_accepted()
    assert project.ticket("T").stage == Reviewing(SAVED, unverified=False, parts=(1,))
    with pytest.raises(Rejected, match="already requested"):
        review(project)
    some = Saved("base", "some", "tree of some")
    project.send(SubmitParts("x", "T", 1, some), SYSTEM)
    assert project.ticket("T").stage == Verifying(some)
    project.send(ReportGate("x", "T", 1, 0, PASS, some.tree), SYSTEM)
    assert project.ticket("T").stage == Merging(some, unverified=False)
    assert replay(project.records) == project.state


def test_accepted_parts_of_a_ticket_without_gates_are_merged_unverified() -> None:
    project = partly_accepted(shell("S"))
    some = Saved("base", "some", "tree of some")
    project.send(SubmitParts("x", "S", 1, some), SYSTEM)
    assert project.ticket("S").stage == Merging(some, unverified=True)


def test_a_worker_learns_that_only_parts_were_accepted_when_a_gate_fails_on_them() -> None:
    project = partly_accepted(replace(WORKER, verify=(replace(GATE, max_attempts=2),)))
    project.send(SubmitParts("x", "T", 1, Saved("base", "some", "some")), SYSTEM)
    project.send(ReportGate("x", "T", 1, 0, FAIL, "some", feedback=Blob("f", 1)), SYSTEM)
    ticket = project.ticket("T")
    assert isinstance(ticket.stage, Working)
    assert ticket.notes == (parts_note("A-1", "only this", ()),)
    project.submit("T", Saved("base", "fixed", "fixed"))
    assert isinstance(project.ticket("T").stage, Working)  # it has not read the note yet


def test_parts_are_taken_only_where_a_person_chose_some() -> None:
    with pytest.raises(Rejected, match="no parts of the work"):
        reviewed_once().send(SubmitParts("x", "T", 1, SAVED), SYSTEM)


def test_a_rule_that_asks_is_not_answered_by_autonomy() -> None:
    project = bench(WORKER, shell("S"))
    project.send(AskWorker("x", "T", 1, EDIT, "why", asked_by="careful"), "worker:T/1")
    project.send(AskScript("x", "S", 1, SCRIPT, "why", asked_by="careful"), "worker:S/1")
    assert [one.asked_by for one in project.state.pending_approvals()] == ["careful", "careful"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (AnswerApproval("A-2", "changes"), "say which changes"),
        (AnswerApproval("A-2", "changes", comments=(Comment("", "x"),)), "a file, a line"),
        (AnswerApproval("A-2", "changes", comments=(Comment("a", " "),)), "a file, a line"),
        (AnswerApproval("A-2", "changes", comments=(Comment("a", "x", -1),)), "a file, a line"),
        (AnswerApproval("A-2", "changes", comments=(Comment("a", "x"),) * 101), "at most 100 comments"),
        (AnswerApproval("A-2", "approve", message="x" * 20_000), "at most 16,000 characters"),
        (AnswerApproval("A-2", "skip"), "answer approve or changes or reject or abort"),
        (AnswerApproval("A-2", "approve", edited="x"), "can be edited"),
    ],
)
def test_a_review_that_says_nothing_usable_is_refused(command: AnswerApproval, why: str) -> None:
    with pytest.raises(BadValue, match=why):
        reviewed_once().send(command)


def test_a_script_cannot_react_to_a_review() -> None:
    project = bench(shell("S"))
    finish(project, ticket="S")
    review(project, ticket="S")
    with pytest.raises(BadValue, match="is a script"):
        project.answer("A-1", "changes", message="more")


def test_comments_belong_to_reviews() -> None:
    project = bench(level="ask")
    ask(project, EDIT)
    with pytest.raises(BadValue, match="belong to a review or a landing"):
        project.send(AnswerApproval("A-1", "approve", comments=(Comment("a.py", "x"),)))


def test_an_agent_may_not_review_its_own_work() -> None:
    with pytest.raises(Rejected, match="its own request"):
        reviewed_once().answer("A-2", "approve", by="worker:T/1")


def test_a_rejected_review_blocks_the_ticket() -> None:
    project = reviewed_once()
    project.answer("A-2", "reject", message="not like this")
    assert project.ticket("T").stage == Blocked("not like this")


def test_a_cancelled_ticket_withdraws_its_review() -> None:
    project = reviewed_once()
    project.send(CancelTicket("x", "T"))
    assert isinstance(project.approval("A-2").state, Withdrawn)


def test_a_ticket_whose_review_is_not_requested_yet_has_no_approval() -> None:
    project = bench()
    finish(project)
    assert project.state.approval_of("x", "T") is None


def test_a_note_to_work_under_review_names_the_review() -> None:
    with pytest.raises(Rejected, match="request changes there"):
        reviewed_once().send(Tell("hurry", "x", "T"))


def test_approve_all_answers_a_review_and_says_so() -> None:
    project = bench(approve_all=True)
    finish(project)
    review(project)
    answer = project.approval("A-1").state
    assert isinstance(answer, Answered)
    assert answer.by == "policy:approve-all"


def test_choosing_review_answers_the_contained_questions_that_wait() -> None:
    project = bench(WORKER, shell("S"), level="ask")
    ask(project, EDIT)
    project.send(AskScript("x", "S", 1, replace(SCRIPT, network=True), "why"), "worker:S/1")
    project.send(SetAutonomy("review"))
    assert isinstance(project.approval("A-1").state, Answered)
    assert project.approval("A-2").state == Pending()


def test_a_tickets_level_counts_before_its_tracks_and_the_projects() -> None:
    project = bench(WORKER, replace(WORKER, id="U"), level="ask")
    project.send(SetAutonomy("land"))
    project.send(SetAutonomy("review", "x"))
    project.send(SetAutonomy("ask", "x", "U"))
    ask(project, EDIT)
    ask(project, EDIT, "U")
    assert isinstance(project.approval("A-1").state, Answered)
    assert project.approval("A-2").state == Pending()
    project.send(SetAutonomy(None, "x", "U"))
    project.send(SetAutonomy(None, "x"))
    assert isinstance(project.approval("A-2").state, Answered)
    assert project.state.conductor.levels == (("", "land"),)


def test_a_level_of_something_unknown_is_refused() -> None:
    with pytest.raises(NotFound, match="no track 'y'"):
        bench().send(SetAutonomy("review", "y"))
    with pytest.raises(NotFound, match="no ticket 'V'"):
        bench().send(SetAutonomy("review", "x", "V"))


def test_an_agent_does_not_choose_its_autonomy() -> None:
    with pytest.raises(Rejected, match="does not command"):
        bench().send(SetAutonomy("land"), by="worker:T/1")


def test_the_chosen_levels_survive_a_restart() -> None:
    project = bench(level="ask")
    project.send(SetAutonomy("review"))
    project.send(StopConductor("bye"), SYSTEM)
    project.send(StartConductor(contained=True), SYSTEM)
    assert project.state.conductor.levels == (("", "review"),)
    assert replay(project.records) == project.state


def test_with_review_tickets_start_by_themselves_but_not_those_in_step_mode() -> None:
    project = bench(WORKER, replace(WORKER, id="U", step_mode=True), auto_queue=False)
    assert project.ticket("T").stage == Working()
    assert project.approval("A-1").ticket == "U"


def test_a_person_may_review_while_another_ticket_goes_on() -> None:
    project = bench(WORKER, replace(WORKER, id="U", depends_on=("T",)))
    finish(project)
    review(project)
    assert project.ticket("U").status == "todo"
    project.answer("A-1", "approve", by=ADA)
    assert isinstance(project.ticket("T").stage, Merging)
    assert not isinstance(project.ticket("T").stage, Queued)


@pytest.mark.parametrize(
    ("actor", "rule"),
    [("policy:mine", True), (CONTAINED, False), (APPROVE_ALL, False), (APPROVED_STEP, False), ("human:ada", False)],
)
def test_only_rules_of_the_policy_are_asked_again_before_something_runs(actor: str, rule: bool) -> None:
    assert is_rule(actor) is rule


def test_unseen_work_is_reviewed_also_where_nothing_is_contained_any_more() -> None:
    project = bench(level="land")
    ask(project, EDIT)
    project.send(StartConductor(4, True, gates=GateDefaults(1, 300.0), contained=False), SYSTEM)
    finish(project)
    assert isinstance(project.ticket("T").stage, Reviewing)


def test_an_agent_which_asks_nothing_starts_only_by_a_person() -> None:
    payload = SpawnPayload("mine", "mine", "do it", "", terms=("asks nothing",), unsupervised=True)
    assert not is_contained(payload)
    for approve_all in (False, True):
        project = Bench()
        project.send(StartConductor(2, auto_queue=True, approve_all=approve_all, autonomy="land", contained=True))
        project.send(AddTrack("x", "X", "", (TicketSpec(id="T", assigned_to="agent:mine"),)))
        project.send(StartTrack("x"))
        project.send(AskWorker("x", "T", 1, payload, "starts"))
        assert project.state.approvals["A-1"].state == Pending()
