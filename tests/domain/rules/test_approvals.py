"""Answering approvals: once, by an allowed actor, with an allowed decision; and landing a track."""

from collections.abc import Callable

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ExpireApproval
from interlock.domain.messages.commands.attempt_commands import AskScript, FailWork, ReportGate
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.commands.ticket_commands import CancelTicket, KillWorker, SkipTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import APPROVE_ALL, SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.ticket_events import TicketBlocked, TicketCancelled
from interlock.domain.messages.events.track_events import LandingFailed, LandingStarted, TrackAborted, TrackLanded
from interlock.domain.rules.decide import decide
from interlock.domain.state.tracks import TrackLanding
from interlock.domain.values.approvals import (
    ALLOWED,
    Answered,
    Decision,
    Kind,
    MergePayload,
    Pending,
    ScriptPayload,
    UnknownPayload,
    Withdrawn,
    approval_number,
    digest,
)
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Asking, Escalated, Grant, Merging, Queued, Working
from interlock.errors import Rejected
from tests.domain.given import ADA, AT, FAIL, SCRIPT, Bench, bench, given, shell, when

LANDING = MergePayload("main", "b4", "af", "diff")


def asking() -> Bench:
    project = bench(shell("T"))
    project.asked("T")
    return project


def escalated() -> Bench:
    project = bench(shell("T", verify=[Gate("true", max_attempts=1)]))
    project.submit("T")
    project.send(ReportGate("x", "T", 1, 0, FAIL), SYSTEM)
    return project


def done() -> Bench:
    project = bench(shell("T"))
    project.submit("T", saved=None)
    return project


def landing() -> Bench:
    project = done()
    project.send(AskLanding("x", LANDING))
    return project


def refused(project: Bench, approval: str, decision: str, by: str = ADA, **more: str) -> str:
    before = project.state
    with pytest.raises(Rejected) as refusal:
        project.answer(approval, decision, by, **more)
    assert project.state is before
    return str(refusal.value)


def test_an_approval_shows_its_asker_and_the_exact_command() -> None:
    project = asking()
    asked = project.approval("A-1")
    assert (
        asked.kind,
        asked.asker,
        asked.track,
        asked.ticket,
        asked.why,
        asked.payload,
        asked.digest,
        asked.state,
    ) == (
        "script",
        "worker:T/1",
        "x",
        "T",
        "by the rules",
        SCRIPT,
        digest(SCRIPT),
        Pending(),
    )
    assert project.ticket("T").stage == Asking("A-1")


def test_any_change_to_the_payload_changes_the_digest() -> None:
    others = [
        ScriptPayload("make ", "/work", ("PATH",), "bubblewrap"),
        ScriptPayload("make", "/work2", ("PATH",), "bubblewrap"),
        ScriptPayload("make", "/work", ("PATH", "HOME"), "bubblewrap"),
        ScriptPayload("make", "/work", ("PATH",), "off"),
        ScriptPayload("make", "/work", ("PATH",), "bubblewrap", network=True),
    ]
    assert len({digest(SCRIPT), *(digest(other) for other in others)}) == 6


def test_an_approval_holds_only_for_the_payload_that_was_shown() -> None:
    project = asking()
    assert project.answer("A-1", "approve")[0] == ApprovalAnswered("A-1", "approve", digest=digest(SCRIPT))
    assert project.ticket("T").grant == Grant("A-1", digest(SCRIPT))
    assert project.ticket("T").stage == Working()
    assert project.approval("A-1").state == Answered("approve", ADA, AT, digest=digest(SCRIPT))


def test_an_approval_with_edits_holds_for_the_edited_text() -> None:
    project = asking()
    project.answer("A-1", "approve", edited="make safe")
    edited = digest(ScriptPayload("make safe", "/work", ("PATH",), "bubblewrap"))
    assert project.ticket("T").grant == Grant("A-1", edited, "make safe")


def test_a_rejection_blocks_the_ticket_with_the_message() -> None:
    project = asking()
    assert project.answer("A-1", "reject", message="rm is too much")[:2] == (
        ApprovalAnswered("A-1", "reject", "rm is too much", digest=digest(SCRIPT)),
        TicketBlocked("x", "T", "rm is too much"),
    )


def test_an_abort_ends_the_whole_track() -> None:
    project = bench(shell("T"), shell("U"), shell("V", "T"))
    project.asked("T")
    project.asked("U")
    assert project.answer("A-1", "abort") == (
        ApprovalAnswered("A-1", "abort", digest=digest(SCRIPT)),
        ApprovalWithdrawn("A-2", "track aborted: aborted at A-1"),
        TicketCancelled("x", "T", "track aborted: aborted at A-1"),
        TicketCancelled("x", "U", "track aborted: aborted at A-1"),
        TicketCancelled("x", "V", "track aborted: aborted at A-1"),
        TrackAborted("x", "aborted at A-1"),
    )
    assert project.approval("A-2").state == Withdrawn("track aborted: aborted at A-1", AT)


def test_the_first_answer_wins_and_later_ones_are_refused_with_its_actor() -> None:
    project = asking()
    project.answer("A-1", "approve")
    expected = f"approval A-1 was already answered by human:ada: approve, at {AT}"
    assert refused(project, "A-1", "reject", "human:bob") == expected


def test_many_can_wait_at_once_and_be_answered_in_any_order() -> None:
    project = bench(*(shell(name, step_mode=True) for name in "abcdefghijkl"), workers=12)
    assert [approval.id for approval in project.state.pending_approvals()] == [f"A-{n}" for n in range(1, 13)]
    for number in (12, 1, 7):
        project.answer(f"A-{number}", "approve")
    assert [name for name in project.track().order if project.ticket(name).status == "in_progress"] == ["a", "g", "l"]
    assert len(project.state.pending_approvals()) == 9


def test_a_withdrawn_approval_cannot_be_answered() -> None:
    project = asking()
    project.send(KillWorker("x", "T"))
    assert refused(project, "A-1", "approve") == "approval A-1 was withdrawn: the worker was killed"


def test_an_agent_can_never_answer() -> None:
    assert refused(asking(), "A-1", "approve", "worker:T/1") == "an agent can never answer its own request"
    assert refused(asking(), "A-1", "approve", "worker:U/1") == "an agent can never answer an approval"
    assert refused(asking(), "A-1", "approve", "program:editor") == "an agent can never answer an approval"


@pytest.mark.parametrize("decision", ALLOWED["gate"])
def test_a_rule_can_never_answer_a_gate(decision: str) -> None:
    assert refused(escalated(), "A-1", decision, APPROVE_ALL) == "a gate approval is answered by a person"


def test_a_rule_may_answer_the_other_kinds() -> None:
    project = asking()
    project.answer("A-1", "approve", "policy:make-is-fine")
    assert project.ticket("T").stage == Working()


def test_what_a_rule_allows_is_asked_and_answered_in_one_batch() -> None:
    project = bench(shell("T"), approve_all=True)
    project.send(AskScript("x", "T", 1, SCRIPT, "make does no harm", allowed_by="make-is-fine"), SYSTEM)
    asked, answered = project.records[-3:-1]
    assert isinstance(asked.event, ApprovalRequested)
    assert (answered.actor, answered.event) == (
        "policy:make-is-fine",
        ApprovalAnswered("A-1", "approve", "make does no harm", digest=digest(SCRIPT)),
    )
    assert project.ticket("T").stage == Working()


@pytest.mark.parametrize(("setup", "decision"), [(asking, "retry"), (asking, "skip"), (escalated, "approve")])
def test_an_answer_must_fit_the_question(setup: Callable[[], Bench], decision: str) -> None:
    assert f"not {decision}" in refused(setup(), "A-1", decision)


def test_an_answer_that_does_not_fit_is_refused_with_the_allowed_ones() -> None:
    expected = "approval A-1 asks about a gate: answer retry or skip or abort, not approve"
    assert refused(escalated(), "A-1", "approve") == expected


def test_there_must_be_such_an_approval() -> None:
    assert refused(asking(), "A-9", "approve") == "no approval 'A-9'"


NO_EDIT = "only a script, a worker's prompt, a tool's arguments or proposed tracks can be edited, while approving them"


@pytest.mark.parametrize(
    ("setup", "decision", "problem"),
    [(asking, "reject", NO_EDIT), (escalated, "retry", NO_EDIT)],
)
def test_an_edit_comes_only_with_the_approval_of_a_script(
    setup: Callable[[], Bench], decision: str, problem: str
) -> None:
    assert refused(setup(), "A-1", decision, edited="make") == problem


def test_an_empty_edit_is_refused() -> None:
    assert refused(asking(), "A-1", "approve", edited=" \n") == "the edited text is empty; reject it instead"


@pytest.mark.parametrize(
    ("setup", "decision", "reason"),
    [(asking, "reject", ""), (escalated, "abort", "verification aborted: ")],
)
def test_a_deadline_denies_with_the_reason(setup: Callable[[], Bench], decision: Decision, reason: str) -> None:
    project = setup()
    asked = project.approval("A-1")
    event = ApprovalRequested(
        approval="A-2",
        kind=asked.kind,
        asker=asked.asker,
        track="x",
        ticket="T",
        payload=asked.payload,
        digest=asked.digest,
        deadline="2026-02-01",
    )
    before = [record.event for record in project.records]
    state = given(*(event if record == before[-1] else record for record in before))
    message = "no answer by its deadline, 2026-02-01"
    assert decide(state, when(ExpireApproval("A-2"), SYSTEM)) == (
        ApprovalAnswered("A-2", decision, message, digest=asked.digest),
        TicketBlocked("x", "T", f"{reason}{message}", failed=decision == "abort"),
    )


def test_without_a_deadline_or_after_an_answer_nothing_expires() -> None:
    project = asking()
    assert project.send(ExpireApproval("A-1"), SYSTEM) == ()
    project = bench(shell("T"))
    project.asked("T", deadline="2026-02-01")
    project.answer("A-1", "approve")
    assert project.send(ExpireApproval("A-1"), SYSTEM) == ()


def test_every_kind_has_its_allowed_answers() -> None:
    kinds: set[Kind] = {"script", "tool", "step", "spawn", "ask", "tracks", "gate", "merge", "unknown", "review"}
    assert set(ALLOWED) == kinds
    assert approval_number("A-17") == 17


def test_an_unknown_outcome_is_decided_by_a_person() -> None:
    payload = UnknownPayload("landing", "did it happen?")
    asked = ApprovalRequested(
        approval="A-1", kind="unknown", asker="system", track="x", ticket="T", payload=payload, digest=digest(payload)
    )
    before = [record.event for record in bench(shell("T")).records]
    state = given(*before, asked)
    assert state.tracks["x"].tickets["T"].stage == Asking("A-1")
    again = decide(state, when(AnswerApproval("A-1", "retry")))
    assert again == (ApprovalAnswered("A-1", "retry", digest=digest(payload)),)
    assert given(*before, asked, *again).tracks["x"].tickets["T"].stage == Queued(Working())


def test_an_answer_to_a_ticket_that_has_gone_on_changes_only_the_approval() -> None:
    project = asking()
    events = [record.event for record in project.records]
    late = ApprovalAnswered("A-1", "approve", digest=digest(SCRIPT))
    state = given(*events, TicketBlocked("x", "T", "meanwhile"), late)
    assert state.tracks["x"].tickets["T"].blocked_reason == "meanwhile"
    assert state.pending_approvals() == ()


def test_an_approval_closed_twice_stays_closed() -> None:
    events = [record.event for record in asking().records]
    state = given(*events, ApprovalWithdrawn("A-1", "one"), ApprovalWithdrawn("A-1", "two"))
    assert state.approvals["A-1"].state == Withdrawn("two", AT)
    assert state.pending_approvals() == ()


# ── landing ──────────────────────────────────────────────────────────────────────────────


def test_only_a_done_track_is_landed_and_asked_about_once() -> None:
    project = bench(shell("T"))
    with pytest.raises(Rejected, match="track 'x' is running; only a track that has ended can be landed"):
        project.send(AskLanding("x", LANDING))
    with pytest.raises(Rejected, match="the landing of track 'x' is already requested"):
        landing().send(AskLanding("x", LANDING))


def test_a_track_with_cancelled_and_blocked_tickets_is_landed_in_part_and_names_them() -> None:
    project = bench(shell("A"), shell("B"), shell("C"), shell("D", "B"))
    project.send(CancelTicket("x", "B", "not needed"))
    project.send(FailWork("x", "C", 1, "broken\nlong output"), SYSTEM)
    with pytest.raises(Rejected, match="track 'x' is running"):
        project.send(AskLanding("x", LANDING))
    project.submit("A", None)
    project.send(AskLanding("x", LANDING))
    payload = project.approval("A-1").payload
    assert isinstance(payload, MergePayload)
    assert payload.left_out == ("B: cancelled: not needed", "C: blocked: broken", "D: todo")
    assert project.approval("A-1").digest == digest(payload)


def test_a_track_without_a_completed_ticket_has_nothing_to_land() -> None:
    project = bench(shell("A"))
    project.send(CancelTicket("x", "A", ""))
    with pytest.raises(Rejected, match="no ticket of track 'x' is completed"):
        project.send(AskLanding("x", LANDING))


def test_a_cancelled_ticket_without_a_reason_is_named() -> None:
    project = bench(shell("A"), shell("B"))
    project.send(CancelTicket("x", "B", ""))
    project.submit("A", None)
    project.send(AskLanding("x", LANDING, "the branch moved"))
    approval = project.approval("A-1")
    assert isinstance(approval.payload, MergePayload)
    assert (approval.payload.left_out, approval.why) == (("B: cancelled",), "the branch moved")


def test_an_approval_begins_the_landing_and_its_outcome_ends_it() -> None:
    project = landing()
    asked = project.approval("A-1")
    assert (asked.kind, asked.asker, asked.ticket, asked.why) == ("merge", ADA, None, "land track x on main")
    assert project.answer("A-1", "approve") == (
        ApprovalAnswered("A-1", "approve", digest=digest(LANDING)),
        LandingStarted("x", "main", "b4", "af"),
    )
    assert project.track().landing == TrackLanding("main", "b4", "af", "started")
    assert project.send(FinishLanding("x", "af"), SYSTEM) == (TrackLanded("x", "af"),)
    assert project.track().landing == TrackLanding("main", "b4", "af", "landed")


def test_a_landing_that_failed_says_why() -> None:
    project = landing()
    project.answer("A-1", "approve")
    assert project.send(FailLanding("x", "dirty"), SYSTEM) == (LandingFailed("x", "dirty"),)
    assert project.track().landing == TrackLanding("main", "b4", "af", "failed", "dirty")
    project.send(AskLanding("x", LANDING))
    assert project.approval("A-2").state == Pending()


@pytest.mark.parametrize(("message", "reason"), [("", "landing was rejected"), ("later", "later")])
def test_a_rejected_landing_touches_nothing(message: str, reason: str) -> None:
    project = landing()
    assert project.answer("A-1", "reject", message=message)[1:] == (LandingFailed("x", reason),)
    assert project.track().landing is None


@pytest.mark.parametrize("command", [FinishLanding("x", "af"), FailLanding("x", "no")])
def test_the_outcome_of_a_landing_that_never_began_is_refused(command: FinishLanding | FailLanding) -> None:
    with pytest.raises(Rejected, match="track 'x' is not being landed"):
        done().send(command, SYSTEM)
    project = landing()
    project.answer("A-1", "approve")
    project.send(FinishLanding("x", "af"), SYSTEM)
    with pytest.raises(Rejected, match="track 'x' is not being landed"):
        project.send(command, SYSTEM)


def test_a_landing_recorded_without_its_beginning_is_still_a_fact() -> None:
    before = [record.event for record in done().records]
    assert given(*before, TrackLanded("x", "af")).tracks["x"].landing == TrackLanding("", "", "af", "landed")


def test_approve_all_lands_too() -> None:
    project = done()
    project.send(StartConductor(1, True, approve_all=True), SYSTEM)
    project.send(AskLanding("x", LANDING))
    assert [(record.actor, type(record.event)) for record in project.records[-3:]] == [
        (ADA, ApprovalRequested),
        (APPROVE_ALL, ApprovalAnswered),
        (SYSTEM, LandingStarted),
    ]


def test_the_stage_names_the_approval_that_a_ticket_waits_for() -> None:
    project = escalated()
    assert isinstance(project.ticket("T").stage, Escalated)
    assert project.state.approval_of("x", "T") == project.approval("A-1")
    merged = bench(shell("T"))
    merged.submit("T")
    assert isinstance(merged.ticket("T").stage, Merging)
    assert merged.state.approval_of("x", "T") is None


def test_an_agent_commands_nothing() -> None:
    project = asking()
    for command in (StartConductor(approve_all=True), KillWorker("x", "T"), SkipTicket("x", "T")):
        with pytest.raises(Rejected, match="does not command the workbench"):
            project.send(command, by="worker:T/1")


def test_an_agent_reports_on_its_own_attempt_only() -> None:
    project = bench(shell("T"), shell("U"))
    with pytest.raises(Rejected, match="works on its own ticket"):
        project.send(AskScript("x", "T", 1, SCRIPT, ""), by="worker:U/1")
    with pytest.raises(Rejected, match="works on its own ticket"):
        project.send(FailWork("x", "T", 1, "no"), by="worker:T/1")
    project.send(AskScript("x", "T", 1, SCRIPT, ""), by="worker:T/1")
    assert project.records[-1].actor == "worker:T/1"


def test_with_a_deadline_every_question_has_one() -> None:
    project = Bench()
    project.send(StartConductor(auto_queue=True, deadline_s=90), SYSTEM)
    project.send(AddTrack("x", "X", "", (shell("T", step_mode=True),)))
    project.send(StartTrack("x"))
    assert project.state.approvals["A-1"].deadline == "2026-01-01T00:01:30.000000Z"


def test_approve_all_blocks_the_tickets_whose_questions_only_a_person_answers() -> None:
    project = escalated()
    events = project.send(StartConductor(approve_all=True, auto_queue=True), SYSTEM)
    reason = "a person must decide (A-1, gate), and --approve all does not"
    assert events[1:3] == (
        ApprovalWithdrawn("A-1", "--approve all answers no approval of this kind"),
        TicketBlocked("x", "T", reason, failed=True),
    )
    assert (project.state.pending_approvals(), project.track().status) == ((), "blocked")


def test_approve_all_for_one_track_leaves_the_questions_of_others() -> None:
    project = escalated()
    project.send(StartConductor(approve_all=True, focus=("other",)), SYSTEM)
    assert [approval.id for approval in project.state.pending_approvals()] == ["A-1"]


def test_without_approve_all_a_restart_leaves_the_question_to_a_person() -> None:
    project = escalated()
    project.send(StartConductor(), SYSTEM)
    assert [approval.id for approval in project.state.pending_approvals()] == ["A-1"]
