"""The journal as a log: every event has a line."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from msgspec.structs import replace

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalsAnswered
from interlock.domain.messages.events.attempt_events import (
    GateFinished,
    PartsTaken,
    TicketStarted,
    ToolBegun,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.discussion_events import DiscussionReplied, DiscussionTurnEnded
from interlock.domain.messages.events.epic_events import PlannerAnswered, TracksProposed
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.steering_events import AutonomySet
from interlock.domain.messages.events.test_history_events import TestExecuted, TestReportRead, TestsForgotten
from interlock.domain.messages.events.ticket_events import TicketBlocked, TicketCompleted
from interlock.domain.messages.events.track_events import LandingFailed, LandingReturned, TrackEnded, TrackStarted
from interlock.domain.values.approvals import Again, Change, ScriptPayload
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, GateResult
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.test_history import SuiteReport
from interlock.views.journal_lines import JournalLine, error_line, journal_line
from interlock.views.verification import seconds
from tests.domain.given import AT, FAIL, PASS, SAVED
from tests.domain.runs import ran
from tests.wire.anything import anything

BLOB = Blob("0" * 64, 1)
USED = Usage(1_200, 34)


def line_of(event: Event, by: str = "human:ada") -> JournalLine:
    return journal_line(Recorded(7, AT, by, "c", event))


def ask(allowed_by: str = "") -> ApprovalRequested:
    payload = ScriptPayload("make", "/w", (), "bubblewrap")
    return ApprovalRequested(
        approval="A-1",
        kind="script",
        asker="w",
        track="t",
        ticket="a",
        payload=payload,
        digest="d",
        allowed_by=allowed_by,
    )


CASES: Sequence[tuple[Event, str, str]] = (
    (TestExecuted(ran(1)), "test", "Click: Save  passed, 10 ms"),
    (TestExecuted(ran(1, "timeout")), "test", "Click: Save  timeout, 10 ms"),
    (TestReportRead(SuiteReport("ab", "junit.xml", 1_200, 3)), "test", "junit.xml: 1,200 runs, 3 skipped"),
    (TestsForgotten(7), "test", "the first 7 are not shown any more"),
    (TicketStarted("t", "a", 2), "ticket", "started, attempt 2"),
    (WorkSubmitted("t", "a", 1, SAVED), "ticket", "submitted its work"),
    (WorkSubmitted("t", "a", 1, SAVED, "all\nof it"), "ticket", "submitted: all"),
    (GateFinished("t", "a", 1, 0, PASS), "gate", "true  passed, 1 ms"),
    (GateFinished("t", "a", 1, 0, FAIL), "gate", "true  failed, exit 1"),
    (TicketCompleted("t", "a", 1, "abcdef0123456"), "ticket", "verified, merged as abcdef0123"),
    (TicketCompleted("t", "a", 1, unverified=True), "ticket", "done, unverified"),
    (TicketBlocked("t", "a", "no\nway"), "ticket", "blocked: no"),
    (ToolBegun("t", "a", 1, "c", "fetch_url", "Fetch it", "A-1"), "tool", "begins: Fetch it   by A-1"),
    (ToolFinished("t", "a", 1, BLOB, "edit_file", False, "A-1"), "tool", "edit_file  done   by A-1"),
    (ToolFinished("t", "a", 1, BLOB, "edit_file", True, "A-1"), "tool", "edit_file  failed   by A-1"),
    (
        ToolFinished("t", "a", 1, BLOB, "edit_file", True, "A-1", "rejected"),
        "tool",
        "edit_file  rejected, not run   by A-1",
    ),
    (TurnFinished("t", "a", 1, BLOB, "Tier 3", "m", USED), "turn", "m answered, 1,200 in, 34 out"),
    (DiscussionReplied("D-1", BLOB, "Discussion", "m", USED, "c"), "chat", "m answered, 1,200 in, 34 out"),
    (PlannerAnswered("E-1", "", (BLOB,), "Tier 1", "m", USED, "c"), "plan", "Tier 1 answered, 1,200 in, 34 out"),
    (TracksProposed("E-1", (TrackPlan("a", "A"), TrackPlan("b", "B"))), "plan", "proposed: A, B"),
    (CallReserved("c", CallOwner(), "Tier 1", "m", 1), "call", "Tier 1 asks m"),
    (CallEnded("c", "Tier 1", None, "429"), "call", "failed: 429"),
    (CallEnded("c", "Tier 1", None, ""), "call", "ended"),
    (ask(), "asks", "A-1 run the script of a"),
    (ask(allowed_by="policy:ls"), "asks", "A-1 run the script of a   allowed by policy:ls"),
    (ApprovalAnswered("A-1", "reject", "not so"), "asks", "A-1 reject by human:ada: not so"),
    (ApprovalAnswered("A-1", "approve"), "asks", "A-1 approve by human:ada"),
    (ApprovalsAnswered("r", "reject", ("A-1", "A-2")), "asks", "reject by human:ada: answered 2 of 2"),
    (TrackEnded("t", "done"), "track", "the track is done"),
    (TrackEnded("t", "blocked"), "track", "the track is blocked"),
    (TrackStarted("t"), "track", "track started"),
    (LandingFailed("t", "dirty"), "land", "landing failed: dirty"),
    (DiscussionTurnEnded("D-1", "broke"), "chat", "discussion turn ended: broke"),
)


REVIEWS: list[tuple[Event, str, str]] = [
    (PartsTaken("t", "a", 1, SAVED), "ticket", "only the accepted parts are left"),
    (
        LandingReturned("t", "A-3", "main", "b", "c", (1, 2)),
        "land",
        "the landing is asked about again: 2 parts accepted in A-3",
    ),
    (
        LandingReturned("t", "A-3", "main", "b", "c"),
        "land",
        "the landing is asked about again: changes requested in A-3",
    ),
    (AutonomySet("review"), "asks", "autonomy of the project: review"),
    (AutonomySet(None, "t"), "asks", "autonomy of t: not chosen any more"),
    (AutonomySet("land", "t", "a"), "asks", "autonomy of t/a: land"),
]


@pytest.mark.parametrize(("event", "kind", "text"), [*CASES, *REVIEWS])
def test_a_fact_is_one_line(event: Event, kind: str, text: str) -> None:
    line = line_of(event)
    assert (line.version, line.at, line.kind, line.text) == (7, AT, kind, text)


def test_a_failure_is_red_and_shows_the_decisive_line() -> None:
    failed = line_of(GateFinished("t", "a", 1, 0, FAIL))
    assert (failed.more, failed.whose) == ("no", "a")
    assert line_of(TicketBlocked("t", "a", "no")).text_role == "bad"


def test_the_error_line_is_the_first_error_else_the_last_line() -> None:
    def result(stderr: str, explanation: str = "") -> GateResult:
        return GateResult(
            status="failed", exit_code=1, command="x", duration_ms=1, stderr=stderr, explanation=explanation
        )

    assert error_line(result("a\nValueError: b\nc\n")) == "ValueError: b"
    assert error_line(result("a\nb\n")) == "b"
    assert error_line(result("")) == ""
    without_output = result("", explanation="not found"), result("")
    assert [line_of(GateFinished("t", "a", 1, 0, one)).more for one in without_output] == ["not found", "failed"]


def test_durations_are_short() -> None:
    assert (seconds(999), seconds(4_100)) == ("999 ms", "4.1 s")


@given(anything(Recorded))
def test_whatever_happened_has_a_line_without_control_characters(recorded: Recorded) -> None:
    found = journal_line(recorded)
    assert "\n" not in found.text
    assert "\x1b" not in found.text


def test_the_line_of_a_question_that_is_asked_again_says_what_changed() -> None:
    again = Again("A-0", (Change("sandbox", "bubblewrap", "off"),))
    line = line_of(replace(ask(), again=again))
    assert line.more == "asked again: what was approved as A-0 has changed; sandbox: bubblewrap -> off"
