"""A worker's session: it starts after its approval, stores each message, and asks before each change."""

import pytest
from msgspec.structs import replace

from interlock.domain.checks.model_ladder import model_for
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskWorker,
    FailWork,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    EditTicket,
    KillWorker,
    RetryTicket,
    TicketChanges,
)
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.messages.events.attempt_events import AttemptResumed, GateFinished, ToolFinished
from interlock.domain.values.approvals import Answered, ScriptPayload, SpawnPayload, ToolPayload, digest
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.tickets import Asking, Grant, Merging, Queued, TicketSpec, Todo, Tried, Verifying, Working
from interlock.errors import Rejected
from tests.domain.given import ADA, FAIL, PASS, SAVED, SYSTEM, Bench
from tests.domain.given import AT as MOMENT

GATES = (Gate("lint"), Gate("test", max_attempts=3))
SPAWN = SpawnPayload("tier3-worker", "scripted", "do it", "## a.py")
EDIT = ToolPayload("c1", "edit_file", '{"path": "a.py"}', "ab", "edit a.py", 3, "+x", "/w")
SHELL = ScriptPayload("make test", "/w", ("PATH",), "bubblewrap", call="c2")
ONE, TWO, THREE = Blob("1" * 64, 1), Blob("2" * 64, 2), Blob("3" * 64, 3)
AT = ("x", "T", 1)


def bench(*gates: Gate, workers: int = 2) -> Bench:
    project = Bench()
    project.send(StartConductor(workers, auto_queue=True), SYSTEM)
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T", verify=gates),)))
    project.send(StartTrack("x"))
    return project


def talking(*gates: Gate) -> Bench:
    project = bench(*gates)
    project.send(AskWorker(*AT, SPAWN, "starts"), SYSTEM)
    project.send(AnswerApproval("A-1", "approve"))
    project.send(StartSession(*AT, ONE), SYSTEM)
    return project


def refused(project: Bench, *words: object, **more: object) -> str:
    with pytest.raises(Rejected) as refusal:
        project.send(AnswerApproval(*words, **more))  # type: ignore[arg-type]
    return str(refusal.value)


def test_a_worker_starts_only_when_it_may_and_its_first_message_is_kept() -> None:
    project = bench()
    project.send(AskWorker(*AT, SPAWN, "starts"), SYSTEM)
    assert project.state.approvals["A-1"].kind == "spawn"
    assert project.ticket("T").stage == Asking("A-1")
    project.send(AnswerApproval("A-1", "approve", "do it well"))
    grant = Grant("A-1", digest(SpawnPayload("tier3-worker", "scripted", "do it well", "## a.py")), "do it well")
    assert (project.ticket("T").stage, project.ticket("T").grant, project.ticket("T").resumes) == (Working(), grant, 1)
    project.send(StartSession(*AT, ONE), SYSTEM)
    ticket = project.ticket("T")
    assert (ticket.session, ticket.grant, ticket.spawn) == ((ONE,), None, grant)


def test_turns_and_tools_are_kept_and_usage_adds_up_by_tier() -> None:
    project = talking()
    project.send(FinishTurn(*AT, TWO, "Tier 3", "scripted", Usage(10, 2)), SYSTEM)
    project.send(FinishTool(*AT, THREE, "read_file", failed=False, by="policy:reading"), SYSTEM)
    project.send(FinishTurn(*AT, TWO, "Tier 3", "scripted", Usage(20, 3, 1, 1, 5)), SYSTEM)
    assert project.ticket("T").session == (ONE, TWO, THREE, TWO)
    assert dict(project.state.usage) == {"Tier 3": Usage(30, 5, 1, 1, 5)}


def test_an_edit_may_be_allowed_in_part_and_what_was_chosen_is_recorded() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, "no rule"), SYSTEM)
    assert project.send(AnswerApproval("A-2", "approve", hunks=(1, 3))) == (
        ApprovalAnswered("A-2", "approve", digest=digest(EDIT), hunks=(1, 3)),
        AttemptResumed(*AT),
    )
    assert project.send(FinishTool(*AT, TWO, "edit_file", False, "A-2"), SYSTEM) == (
        ToolFinished(*AT, TWO, "edit_file", False, "A-2"),
    )
    assert project.ticket("T").grant is None


def test_edited_arguments_and_scripts_are_what_the_digest_names() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
    project.send(AnswerApproval("A-2", "approve", '{"path": "b.py"}'))
    changed = ToolPayload("c1", "edit_file", '{"path": "b.py"}', "ab", "edit a.py", 3, "+x", "/w")
    assert project.ticket("T").grant == Grant("A-2", digest(changed), '{"path": "b.py"}')
    project = talking()
    project.send(AskWorker(*AT, SHELL, ""), SYSTEM)
    project.send(AnswerApproval("A-2", "approve", "make lint"))
    changed = ScriptPayload("make lint", "/w", ("PATH",), "bubblewrap", call="c2")
    assert project.ticket("T").grant == Grant("A-2", digest(changed), "make lint")


@pytest.mark.parametrize("payload", [EDIT, SHELL])
def test_a_rejected_call_goes_back_to_the_worker(payload: ToolPayload | ScriptPayload) -> None:
    project = talking()
    project.send(AskWorker(*AT, payload, ""), SYSTEM)
    project.send(AnswerApproval("A-2", "reject", message="not there"))
    ticket = project.ticket("T")
    assert ticket.stage == Working()
    assert ticket.grant is not None
    assert ticket.grant.approval == "A-2"


def test_a_rejected_start_blocks_and_abort_ends_the_track() -> None:
    project = bench()
    project.send(AskWorker(*AT, SPAWN, ""), SYSTEM)
    project.send(AnswerApproval("A-1", "reject", message="too vague"))
    assert project.ticket("T").blocked_reason == "too vague"
    project = talking()
    project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
    project.send(AnswerApproval("A-2", "abort"))
    assert (project.ticket("T").status, project.state.tracks["x"].status) == ("cancelled", "aborted")


def test_hunks_must_be_some_of_those_shown() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
    for hunks in ((), (0,), (4,)):
        assert "choose some of the hunks 1 to 3" in refused(project, "A-2", "approve", hunks=hunks)
    assert "choose some of the hunks" in refused(project, "A-2", "approve", edited="{}", hunks=(1,))
    assert "while approving a file edit" in refused(project, "A-2", "reject", hunks=(1,))
    project = bench()
    project.send(AskWorker(*AT, SPAWN, ""), SYSTEM)
    assert "while approving a file edit" in refused(project, "A-1", "approve", hunks=(1,))


def test_an_answered_worker_waits_for_a_free_slot() -> None:
    project = bench(workers=1)
    project.send(AskWorker(*AT, SPAWN, ""), SYSTEM)
    project.send(AddTrack("y", "Y", "", (TicketSpec(id="U"),)))
    project.send(StartTrack("y"))
    project.send(AnswerApproval("A-1", "approve"))
    assert project.ticket("T").stage == Queued(Working())


def test_a_failed_gate_goes_back_to_the_worker_and_the_count_goes_on() -> None:
    project = talking(*GATES)
    project.send(SubmitWork(*AT, SAVED), SYSTEM)
    project.send(ReportGate(*AT, 0, PASS), SYSTEM)
    assert project.send(ReportGate(*AT, 1, FAIL, "tree", "text", TWO), SYSTEM) == (
        GateFinished(*AT, 1, FAIL, "tree", TWO),
    )
    tried = Tried(1, 1, (FAIL,))
    assert (project.ticket("T").stage, project.ticket("T").session) == (Working(tried), (ONE, TWO))
    project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
    assert project.ticket("T").stage == Asking("A-2", Working(tried))
    project.send(AnswerApproval("A-2", "approve"))
    project.send(SubmitWork(*AT, SAVED), SYSTEM)
    assert project.ticket("T").stage == Verifying(SAVED, 0, tried=tried)
    project.send(ReportGate(*AT, 0, PASS), SYSTEM)
    assert project.ticket("T").stage == Verifying(SAVED, 1, 1, (FAIL,), tried=tried, took=(1,))
    project.send(ReportGate(*AT, 1, FAIL, "tree", "text", TWO), SYSTEM)
    project.send(SubmitWork(*AT, SAVED), SYSTEM)
    project.send(ReportGate(*AT, 0, PASS), SYSTEM)
    project.send(ReportGate(*AT, 1, FAIL, "tree", "the text"), SYSTEM)
    assert project.state.approvals["A-3"].kind == "gate"
    project.send(AnswerApproval("A-3", "retry"))
    project.send(ReportGate(*AT, 1, PASS), SYSTEM)
    assert project.ticket("T").stage == Merging(SAVED, unverified=False)


def test_a_lost_worker_starts_anew_without_being_asked_about_again() -> None:
    project = talking()
    project.send(FinishTurn(*AT, TWO, "Tier 3", "scripted", Usage(10, 2)), SYSTEM)
    project.send(Recover(), SYSTEM)
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.spawn) == (Todo(cleared=True), Grant("A-1", digest(SPAWN)))
    project.send(StartConductor(auto_queue=True), SYSTEM)
    assert (project.ticket("T").attempts, project.ticket("T").session) == (2, ())
    assert dict(project.state.usage) == {"Tier 3": Usage(10, 2)}


@pytest.mark.parametrize("payload", [EDIT, SHELL])
def test_an_answer_to_a_call_that_a_crash_cut_off_is_kept_until_that_call_has_run(
    payload: ToolPayload | ScriptPayload,
) -> None:
    project = talking()
    project.send(AskWorker(*AT, payload, ""), SYSTEM)
    project.send(AnswerApproval("A-2", "approve"))
    project.send(Recover(), SYSTEM)
    assert (project.ticket("T").grant, project.ticket("T").carried) == (None, ("A-2",))
    project.send(StartConductor(auto_queue=True), SYSTEM)
    again = ("x", "T", 2)
    project.send(StartSession(*again, ONE), SYSTEM)
    assert project.ticket("T").spawn == Grant("A-1", digest(SPAWN))
    project.send(FinishTool(*again, TWO, "read_file", failed=False, by="policy:reading"), SYSTEM)
    assert project.ticket("T").carried == ("A-2",)
    project.send(FinishTool(*again, TWO, "edit_file", failed=False, by="A-2"), SYSTEM)
    assert project.ticket("T").carried == ()


def test_a_ticket_that_is_edited_retried_or_completed_keeps_no_answer_to_a_call() -> None:
    def cut_off() -> Bench:
        project = talking()
        project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
        project.send(AnswerApproval("A-2", "approve"))
        project.send(Recover(), SYSTEM)
        return project

    edited, retried, completed = cut_off(), cut_off(), cut_off()
    edited.send(EditTicket("x", "T", TicketChanges(description="other")))
    retried.send(BlockTicket("x", "T", "wait"))
    retried.send(RetryTicket("x", "T"))
    completed.send(StartConductor(auto_queue=True), SYSTEM)
    completed.send(SubmitWork("x", "T", 2, SAVED), SYSTEM)
    assert completed.ticket("T").carried == ("A-2",), "a gate may fail, and then the same call comes again"
    completed.send(FinishMerge("x", "T", 2, "commit"), SYSTEM)
    assert [project.ticket("T").carried for project in (edited, retried, completed)] == [(), (), ()]
    assert retried.ticket("T").spawn is None, "a retry is a new start, and asks again"


def test_a_worker_whose_folder_is_gone_keeps_the_answer_to_its_call() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
    project.send(AnswerApproval("A-2", "approve"))
    project.send(RedoAttempt(*AT, "its folder was gone"), SYSTEM)
    project.send(StartSession("x", "T", 2, ONE), SYSTEM)
    assert (project.ticket("T").carried, project.ticket("T").spawn) == (("A-2",), Grant("A-1", digest(SPAWN)))


def test_a_fresh_session_begins_with_its_message_and_the_count_goes_on() -> None:
    project = talking(Gate("test", max_attempts=9))
    project.send(FinishTurn(*AT, TWO, "Tier 3", "scripted", Usage(10, 2)), SYSTEM)
    project.send(SubmitWork(*AT, SAVED), SYSTEM)
    assert project.send(ReportGate(*AT, 0, FAIL, "tree", "", THREE, fresh=True), SYSTEM) == (
        GateFinished(*AT, 0, FAIL, "tree", THREE, fresh=True),
    )
    ticket = project.ticket("T")
    assert (ticket.session, ticket.stage, ticket.attempts) == ((THREE,), Working(Tried(0, 1, (FAIL,))), 1)
    assert ticket.failures == 1


def test_failures_that_are_retried_are_counted_and_bring_stronger_models() -> None:
    project = talking(Gate("test", max_attempts=1))
    ladder, used = ("b", "c"), [model_for(project.ticket("T"), ("b", "c"))]
    for _ in range(3):
        project.send(FailWork("x", "T", project.ticket("T").attempts, "it cannot"), SYSTEM)
        project.send(RetryTicket("x", "T"))
        used.append(model_for(project.ticket("T"), ladder))
    assert used == [None, "b", "c", "c"]
    assert model_for(project.ticket("T"), ()) is None
    changed = replace(project.ticket("T"), spec=TicketSpec(id="T", model_override="own"))
    assert model_for(changed, ladder) == "own"


def test_a_gate_given_up_is_a_failure_but_a_persons_block_or_a_spent_budget_is_none() -> None:
    project = talking(Gate("test", max_attempts=1))
    project.send(SubmitWork(*AT, SAVED), SYSTEM)
    project.send(ReportGate(*AT, 0, FAIL, "tree", "text"), SYSTEM)
    project.send(AnswerApproval("A-2", "abort"))
    project.send(RetryTicket("x", "T"))
    assert project.ticket("T").failures == 1
    project.send(FailWork("x", "T", 2, "over budget", budget=True), SYSTEM)
    project.send(RetryTicket("x", "T"))
    project.send(KillWorker("x", "T"))
    project.send(RetryTicket("x", "T"))
    project.send(BlockTicket("x", "T", "wait"))
    project.send(RetryTicket("x", "T"))
    assert project.ticket("T").failures == 1


def test_the_context_of_a_start_can_be_edited_too_and_the_digest_covers_it() -> None:
    project = bench()
    project.send(AskWorker(*AT, replace(SPAWN, context_blob=ONE), "starts"), SYSTEM)
    answered = project.send(AnswerApproval("A-1", "approve", "do it well", edited_context="## b.py"))[0]
    allowed = digest(SpawnPayload("tier3-worker", "scripted", "do it well", "## b.py"))
    edits = ("do it well", allowed, None, "## b.py")
    assert answered == ApprovalAnswered("A-1", "approve", "", *edits)
    assert project.state.approvals["A-1"].state == Answered("approve", ADA, MOMENT, "", *edits)
    assert project.ticket("T").grant == Grant("A-1", allowed, "do it well", "## b.py")


def test_only_the_context_of_a_start_can_be_edited_within_bounds() -> None:
    project = bench()
    project.send(AskWorker(*AT, SPAWN, ""), SYSTEM)
    assert "while approving its start" in refused(project, "A-1", "reject", edited_context="x")
    assert "the most is 1,000,000" in refused(project, "A-1", "approve", edited_context="x" * 1_000_001)
    project.send(AnswerApproval("A-1", "approve", edited_context=""))
    assert project.ticket("T").grant == Grant("A-1", digest(replace(SPAWN, context="")), None, "")
    project.send(StartSession(*AT, ONE), SYSTEM)
    project.send(AskWorker(*AT, EDIT, ""), SYSTEM)
    assert "only a worker's context" in refused(project, "A-2", "approve", edited_context="x")


def test_answers_of_an_agents_attempt_that_is_lost_count_for_the_same_calls_again() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, "no rule"), SYSTEM)
    project.send(AnswerApproval("A-2", "approve"))
    project.send(FinishTool(*AT, TWO, "edit_file", failed=False, by="A-2", replayed=True), SYSTEM)
    project.send(FinishTool(*AT, THREE, "read_file", failed=False, by="policy:reads", replayed=True), SYSTEM)
    assert project.ticket("T").used == ("A-2",)
    project.send(RedoAttempt(*AT, "its process is gone", lost=True), SYSTEM)
    lost = project.ticket("T")
    assert (lost.carried, lost.used, lost.attempts, lost.why) == (("A-2",), (), 2, None)
    project.send(FinishTool("x", "T", 2, TWO, "edit_file", failed=False, by="A-2", replayed=True), SYSTEM)
    assert (project.ticket("T").carried, project.ticket("T").used) == ((), ("A-2",))


@pytest.mark.parametrize("name", ["cloude", "agent:", "agent:Big", "Claude", ""])
def test_a_ticket_is_assigned_to_a_role_or_an_agent(name: str) -> None:
    project = Bench()
    with pytest.raises(Rejected, match="'assigned_to' is one of tier3-worker"):
        project.send(AddTrack("x", "X", "", (TicketSpec(id="T", assigned_to=name),)))


@pytest.mark.parametrize(
    ("name", "agent", "changes"),
    [
        ("tier3-worker", "", True),
        ("tier4-qa", "", False),
        ("shell", "", False),
        ("claude", "claude", True),
        ("agent:mine", "mine", True),
    ],
)
def test_a_ticket_knows_its_agent(name: str, agent: str, changes: bool) -> None:
    spec = TicketSpec(id="T", assigned_to=name)
    assert (spec.agent, spec.changes_files) == (agent, changes)
