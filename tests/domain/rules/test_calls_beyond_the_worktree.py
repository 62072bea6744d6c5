"""A worker's call that reaches beyond its worktree: recorded before it runs; after a crash a person decides."""

import pytest

from interlock.domain.messages.commands.attempt_commands import (
    AskWorker,
    BeginTool,
    FinishTool,
    FinishTurn,
    StartSession,
)
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.attempt_events import ToolBegun
from interlock.domain.values.approvals import ToolPayload, UnknownPayload
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Asking, Blocked, Queued, TicketSpec, Todo, Working
from interlock.errors import Rejected
from tests.domain.given import Bench

ONE, TWO, THREE = (Blob(digit * 64, 1) for digit in "123")
T = ("x", "T", 1)
FETCH = ToolPayload("c1", "fetch_url", "{}", "ab", "Fetch https://a.b/", 0, "", "/w", hosts=("a.b",))
BEGIN = BeginTool(*T, "c1", "fetch_url", "Fetch https://a.b/", "A-1")


def asked() -> Bench:
    project = Bench()
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"),)))
    project.send(StartConductor(4, True, False), SYSTEM)
    project.send(StartTrack("x"))
    project.send(StartSession(*T, ONE), SYSTEM)
    project.send(FinishTurn(*T, TWO, "Tier 3", "m", Usage(1, 1)), SYSTEM)
    project.send(AskWorker(*T, FETCH, "no rule"), SYSTEM)
    project.answer("A-1", "approve")
    return project


def cut_off() -> Bench:
    project = asked()
    project.send(BEGIN, SYSTEM)
    project.send(Recover("it was killed"), SYSTEM)
    return project


def test_the_beginning_is_recorded_and_forgotten_with_the_result() -> None:
    project = asked()
    assert project.send(BEGIN, SYSTEM) == (ToolBegun(*T, "c1", "fetch_url", "Fetch https://a.b/", "A-1"),)
    assert project.ticket("T").begun == "Fetch https://a.b/"
    project.send(FinishTool(*T, THREE, "fetch_url", False, "A-1"), SYSTEM)
    assert (project.ticket("T").begun, project.ticket("T").grant) == ("", None)
    project.send(Recover("it was killed"), SYSTEM)
    assert isinstance(project.ticket("T").stage, Todo)  # the attempt is lost, and nothing is unknown


def test_a_call_that_was_cut_off_is_asked_about_and_the_attempt_is_kept() -> None:
    project = cut_off()
    approval = project.approval("A-2")
    assert (approval.kind, project.ticket("T").stage) == ("unknown", Asking("A-2", Working()))
    assert isinstance(approval.payload, UnknownPayload)
    assert approval.payload.what == "Fetch https://a.b/"
    assert project.ticket("T").session == (ONE, TWO)


def test_retry_makes_the_call_again_under_the_same_answer() -> None:
    project = cut_off()
    project.answer("A-2", "retry")
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.begun, ticket.given_up) == (Queued(Working()), "", "")
    assert ticket.grant is not None
    assert ticket.grant.approval == "A-1"


def test_skip_gives_the_call_up_and_its_answer_counts_no_more() -> None:
    project = cut_off()
    project.answer("A-2", "skip")
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.begun, ticket.given_up) == (Queued(Working()), "", "Fetch https://a.b/")
    assert (ticket.grant, ticket.carried) == (None, ())


def test_abort_blocks_the_ticket() -> None:
    project = cut_off()
    project.answer("A-2", "abort", message="no")
    assert project.ticket("T").stage == Blocked("work aborted: no", failed=True)


def test_approving_everything_blocks_the_ticket() -> None:
    project = cut_off()
    project.send(StartConductor(4, True, True), SYSTEM)
    assert isinstance(project.ticket("T").stage, Blocked)


def test_a_late_beginning_is_refused() -> None:
    project = cut_off()
    with pytest.raises(Rejected, match="is over"):
        project.send(BEGIN, SYSTEM)
