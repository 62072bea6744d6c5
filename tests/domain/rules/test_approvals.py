"""Answering approvals: once, by an allowed actor, with a fitting decision; and landing a track."""

from collections.abc import Callable

import pytest

from interlock.domain.consequences import APPROVE_ALL
from interlock.domain.messages.commands.approval_commands import AnswerApproval, ExpireApproval
from interlock.domain.messages.commands.attempt_commands import AskScript, ReportGate
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.commands.ticket_commands import KillWorker, SkipTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
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
    found = bench(shell("T"))
    found.asked("T")
    return found


def escalated() -> Bench:
    found = bench(shell("T", verify=[Gate("true", max_attempts=1)]))
    found.submit("T")
    found.send(ReportGate("x", "T", 1, 0, FAIL), SYSTEM)
    return found


def done() -> Bench:
    found = bench(shell("T"))
    found.submit("T", saved=None)
    return found


def landing() -> Bench:
    found = done()
    found.send(AskLanding("x", LANDING))
    return found


def refused(found: Bench, approval: str, decision: str, by: str = ADA, **more: str) -> str:
    before = found.state
    with pytest.raises(Rejected) as refusal:
        found.answer(approval, decision, by, **more)
    assert found.state is before
    return str(refusal.value)


def test_an_approval_shows_who_asks_what_and_names_exactly_what_would_run() -> None:
    found = asking()
    asked = found.approval("A-1")
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
    assert found.ticket("T").stage == Asking("A-1")


def test_any_change_to_what_would_run_is_another_digest() -> None:
    others = [
        ScriptPayload("make ", "/work", ("PATH",), "bubblewrap"),
        ScriptPayload("make", "/work2", ("PATH",), "bubblewrap"),
        ScriptPayload("make", "/work", ("PATH", "HOME"), "bubblewrap"),
        ScriptPayload("make", "/work", ("PATH",), "off"),
        ScriptPayload("make", "/work", ("PATH",), "bubblewrap", network=True),
    ]
    assert len({digest(SCRIPT), *(digest(other) for other in others)}) == 6


def test_a_yes_is_to_exactly_what_was_shown() -> None:
    found = asking()
    assert found.answer("A-1", "approve")[0] == ApprovalAnswered("A-1", "approve", digest=digest(SCRIPT))
    assert found.ticket("T").grant == Grant("A-1", digest(SCRIPT))
    assert found.ticket("T").stage == Working()
    assert found.approval("A-1").state == Answered("approve", ADA, AT, digest=digest(SCRIPT))


def test_a_yes_with_edits_is_to_the_edited_text() -> None:
    found = asking()
    found.answer("A-1", "approve", edited="make safe")
    edited = digest(ScriptPayload("make safe", "/work", ("PATH",), "bubblewrap"))
    assert found.ticket("T").grant == Grant("A-1", edited, "make safe")


def test_a_rejection_blocks_the_ticket_with_the_message() -> None:
    found = asking()
    assert found.answer("A-1", "reject", message="rm is too much")[:2] == (
        ApprovalAnswered("A-1", "reject", "rm is too much", digest=digest(SCRIPT)),
        TicketBlocked("x", "T", "rm is too much"),
    )


def test_an_abort_ends_the_whole_track() -> None:
    found = bench(shell("T"), shell("U"), shell("V", "T"))
    found.asked("T")
    found.asked("U")
    assert found.answer("A-1", "abort") == (
        ApprovalAnswered("A-1", "abort", digest=digest(SCRIPT)),
        ApprovalWithdrawn("A-2", "track aborted: aborted at A-1"),
        TicketCancelled("x", "T", "track aborted: aborted at A-1"),
        TicketCancelled("x", "U", "track aborted: aborted at A-1"),
        TicketCancelled("x", "V", "track aborted: aborted at A-1"),
        TrackAborted("x", "aborted at A-1"),
    )
    assert found.approval("A-2").state == Withdrawn("track aborted: aborted at A-1", AT)


def test_the_first_answer_wins_and_later_ones_are_told_whose_it_was() -> None:
    found = asking()
    found.answer("A-1", "approve")
    expected = f"approval A-1 was already answered by human:ada: approve, at {AT}"
    assert refused(found, "A-1", "reject", "human:bob") == expected


def test_many_can_wait_at_once_and_be_answered_in_any_order() -> None:
    found = bench(*(shell(name, step_mode=True) for name in "abcdefghijkl"), workers=12)
    assert [approval.id for approval in found.state.pending_approvals()] == [f"A-{n}" for n in range(1, 13)]
    for number in (12, 1, 7):
        found.answer(f"A-{number}", "approve")
    assert [name for name in found.track().order if found.ticket(name).status == "in_progress"] == ["a", "g", "l"]
    assert len(found.state.pending_approvals()) == 9


def test_what_was_taken_back_cannot_be_answered() -> None:
    found = asking()
    found.send(KillWorker("x", "T"))
    assert refused(found, "A-1", "approve") == "approval A-1 was withdrawn: the worker was killed"


def test_an_agent_can_never_answer() -> None:
    assert refused(asking(), "A-1", "approve", "worker:T/1") == "an agent can never answer its own request"
    assert refused(asking(), "A-1", "approve", "worker:U/1") == "an agent can never answer an approval"


@pytest.mark.parametrize("decision", ALLOWED["gate"])
def test_a_rule_can_never_answer_a_gate(decision: str) -> None:
    assert refused(escalated(), "A-1", decision, APPROVE_ALL) == "a gate approval is answered by a person"


def test_a_rule_may_answer_the_other_kinds() -> None:
    found = asking()
    found.answer("A-1", "approve", "policy:make-is-fine")
    assert found.ticket("T").stage == Working()


def test_what_a_rule_allows_is_asked_and_answered_in_one_batch() -> None:
    found = bench(shell("T"), approve_all=True)
    found.send(AskScript("x", "T", 1, SCRIPT, "make does no harm", allowed_by="make-is-fine"), SYSTEM)
    asked, answered = found.records[-3:-1]
    assert isinstance(asked.event, ApprovalRequested)
    assert (answered.actor, answered.event) == (
        "policy:make-is-fine",
        ApprovalAnswered("A-1", "approve", "make does no harm", digest=digest(SCRIPT)),
    )
    assert found.ticket("T").stage == Working()


@pytest.mark.parametrize(("setup", "decision"), [(asking, "retry"), (asking, "skip"), (escalated, "approve")])
def test_an_answer_must_fit_the_question(setup: Callable[[], Bench], decision: str) -> None:
    assert f"not {decision}" in refused(setup(), "A-1", decision)


def test_an_answer_that_does_not_fit_is_told_which_would() -> None:
    expected = "approval A-1 asks about a gate: answer retry or skip or abort, not approve"
    assert refused(escalated(), "A-1", "approve") == expected


def test_there_must_be_such_an_approval() -> None:
    assert refused(asking(), "A-9", "approve") == "no approval 'A-9'"


NO_EDIT = "only a script, a worker's prompt, a tool's arguments or proposed tracks can be edited, while approving them"


@pytest.mark.parametrize(
    ("setup", "decision", "problem"),
    [(asking, "reject", NO_EDIT), (escalated, "retry", NO_EDIT)],
)
def test_an_edit_comes_only_with_a_yes_to_a_script(setup: Callable[[], Bench], decision: str, problem: str) -> None:
    assert refused(setup(), "A-1", decision, edited="make") == problem


def test_an_empty_edit_is_refused() -> None:
    assert refused(asking(), "A-1", "approve", edited=" \n") == "the edited text is empty; reject it instead"


@pytest.mark.parametrize(
    ("setup", "decision", "reason"),
    [(asking, "reject", ""), (escalated, "abort", "verification aborted: ")],
)
def test_a_deadline_denies_with_the_reason(setup: Callable[[], Bench], decision: Decision, reason: str) -> None:
    found = setup()
    asked = found.approval("A-1")
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
    before = [record.event for record in found.records]
    state = given(*(event if record == before[-1] else record for record in before))
    message = "no answer by its deadline, 2026-02-01"
    assert decide(state, when(ExpireApproval("A-2"), SYSTEM)) == (
        ApprovalAnswered("A-2", decision, message, digest=asked.digest),
        TicketBlocked("x", "T", f"{reason}{message}", failed=decision == "abort"),
    )


def test_without_a_deadline_or_after_an_answer_nothing_expires() -> None:
    found = asking()
    assert found.send(ExpireApproval("A-1"), SYSTEM) == ()
    found = bench(shell("T"))
    found.asked("T", deadline="2026-02-01")
    found.answer("A-1", "approve")
    assert found.send(ExpireApproval("A-1"), SYSTEM) == ()


def test_every_kind_knows_its_answers() -> None:
    kinds: set[Kind] = {"script", "tool", "step", "spawn", "ask", "tracks", "gate", "merge", "unknown"}
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
    found = asking()
    events = [record.event for record in found.records]
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
    found = bench(shell("T"))
    with pytest.raises(Rejected, match="track 'x' is running; only a done track can be landed"):
        found.send(AskLanding("x", LANDING))
    with pytest.raises(Rejected, match="the landing of track 'x' is already requested"):
        landing().send(AskLanding("x", LANDING))


def test_a_yes_begins_the_landing_and_its_outcome_ends_it() -> None:
    found = landing()
    asked = found.approval("A-1")
    assert (asked.kind, asked.asker, asked.ticket, asked.why) == ("merge", ADA, None, "land track x on main")
    assert found.answer("A-1", "approve") == (
        ApprovalAnswered("A-1", "approve", digest=digest(LANDING)),
        LandingStarted("x", "main", "b4", "af"),
    )
    assert found.track().landing == TrackLanding("main", "b4", "af", "started")
    assert found.send(FinishLanding("x", "af"), SYSTEM) == (TrackLanded("x", "af"),)
    assert found.track().landing == TrackLanding("main", "b4", "af", "landed")


def test_a_landing_that_failed_says_why() -> None:
    found = landing()
    found.answer("A-1", "approve")
    assert found.send(FailLanding("x", "dirty"), SYSTEM) == (LandingFailed("x", "dirty"),)
    assert found.track().landing == TrackLanding("main", "b4", "af", "failed", "dirty")
    found.send(AskLanding("x", LANDING))
    assert found.approval("A-2").state == Pending()


@pytest.mark.parametrize(("message", "reason"), [("", "landing was rejected"), ("later", "later")])
def test_a_rejected_landing_touches_nothing(message: str, reason: str) -> None:
    found = landing()
    assert found.answer("A-1", "reject", message=message)[1:] == (LandingFailed("x", reason),)
    assert found.track().landing is None


@pytest.mark.parametrize("command", [FinishLanding("x", "af"), FailLanding("x", "no")])
def test_the_outcome_of_a_landing_that_never_began_is_refused(command: FinishLanding | FailLanding) -> None:
    with pytest.raises(Rejected, match="track 'x' is not being landed"):
        done().send(command, SYSTEM)
    found = landing()
    found.answer("A-1", "approve")
    found.send(FinishLanding("x", "af"), SYSTEM)
    with pytest.raises(Rejected, match="track 'x' is not being landed"):
        found.send(command, SYSTEM)


def test_a_landing_recorded_without_its_beginning_is_still_a_fact() -> None:
    before = [record.event for record in done().records]
    assert given(*before, TrackLanded("x", "af")).tracks["x"].landing == TrackLanding("", "", "af", "landed")


def test_approve_all_lands_too() -> None:
    found = done()
    found.send(StartConductor(1, True, approve_all=True), SYSTEM)
    found.send(AskLanding("x", LANDING))
    assert [(record.actor, type(record.event)) for record in found.records[-3:]] == [
        (ADA, ApprovalRequested),
        (APPROVE_ALL, ApprovalAnswered),
        (SYSTEM, LandingStarted),
    ]


def test_the_stage_tells_which_approval_a_ticket_waits_for() -> None:
    found = escalated()
    assert isinstance(found.ticket("T").stage, Escalated)
    assert found.state.approval_of("x", "T") == found.approval("A-1")
    merged = bench(shell("T"))
    merged.submit("T")
    assert isinstance(merged.ticket("T").stage, Merging)
    assert merged.state.approval_of("x", "T") is None


def test_an_agent_commands_nothing() -> None:
    found = asking()
    for command in (StartConductor(approve_all=True), KillWorker("x", "T"), SkipTicket("x", "T")):
        with pytest.raises(Rejected, match="does not command the workbench"):
            found.send(command, by="worker:T/1")


def test_with_a_deadline_every_question_has_one() -> None:
    found = Bench()
    found.send(StartConductor(auto_queue=True, deadline_s=90), SYSTEM)
    found.send(AddTrack("x", "X", "", (shell("T", step_mode=True),)))
    found.send(StartTrack("x"))
    assert found.state.approvals["A-1"].deadline == "2026-01-01T00:01:30.000000Z"
