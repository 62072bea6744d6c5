"""A gate that needs packages which the work added waits for a person, and is not counted as failed."""

import pytest
from msgspec.structs import replace

from interlock.domain.checks.gate_messages import packages_question
from interlock.domain.messages.commands.attempt_commands import ReportGate
from interlock.domain.values.approvals import GatePayload
from interlock.domain.values.gates import Blob, Gate, GateResult, NewPackages
from interlock.domain.values.tickets import Blocked, Escalated, Merging, Verifying
from interlock.views.inbox import approval_title
from tests.domain.given import FAIL, SAVED, SYSTEM, Bench, bench, shell

PACKAGES = NewPackages("k1", ("package.json",), ("npm ci",))
NOT_RUN = GateResult(
    status="error", exit_code=-1, command="npm test", duration_ms=0, stdout="+ left-pad\n", packages=PACKAGES
)


def waiting(**settings: bool) -> Bench:
    project = bench(shell("T", verify=[Gate("npm test")]), **settings)
    project.submit("T")
    project.send(ReportGate("x", "T", 1, 0, NOT_RUN, SAVED.tree), SYSTEM)
    return project


def test_new_packages_are_shown_with_the_commands_and_the_diff_of_their_lists() -> None:
    project = waiting()
    assert project.state.approvals["A-1"].payload == GatePayload(
        0,
        "npm test",
        0,
        2,
        packages_question(PACKAGES),
        gate_id="shell-verify-x/T/1",
        diff="+ left-pad\n",
        packages="k1",
    )
    assert approval_title(project.state.approvals["A-1"]) == "T: the work changes which packages are installed"
    assert project.ticket("T").stage == Escalated("A-1", Verifying(SAVED))


def test_retry_accepts_exactly_these_packages_and_verifies() -> None:
    project = waiting()
    project.answer("A-1", "retry")
    ticket = project.ticket("T")
    assert (ticket.packages, ticket.stage) == ("k1", Verifying(SAVED))


@pytest.mark.parametrize(("decision", "stage"), [("skip", Merging), ("abort", Blocked)])
def test_skip_and_abort_accept_no_packages(decision: str, stage: type) -> None:
    project = waiting()
    project.answer("A-1", decision)
    ticket = project.ticket("T")
    assert (ticket.packages, type(ticket.stage)) == ("", stage)


def test_other_packages_are_asked_about_again() -> None:
    project = waiting()
    project.answer("A-1", "retry")
    other = replace(NOT_RUN, packages=replace(PACKAGES, key="k2"), stdout_blob=Blob("1" * 64, 9000))
    project.send(ReportGate("x", "T", 1, 0, other, SAVED.tree), SYSTEM)
    payload = project.state.approvals["A-2"].payload
    assert isinstance(payload, GatePayload)
    assert (payload.packages, payload.diff_blob) == ("k2", Blob("1" * 64, 9000))


def test_a_question_about_packages_uses_up_no_attempt() -> None:
    project = waiting()
    project.answer("A-1", "retry")
    project.send(ReportGate("x", "T", 1, 0, FAIL, SAVED.tree), SYSTEM)
    assert project.ticket("T").stage == Verifying(SAVED, attempt_count=1, previous_results=(FAIL,))


def test_approve_all_installs_no_packages_that_the_work_added() -> None:
    project = waiting(approve_all=True)
    assert project.ticket("T").blocked_reason == (
        "it changes which packages are installed, which a person must review: package.json"
    )


def test_a_long_list_of_files_is_cut_in_the_question() -> None:
    text = packages_question(replace(PACKAGES, lists=tuple(f"p{number}/package.json" for number in range(25))))
    assert "- p19/package.json\n- and 5 more\n" in text
