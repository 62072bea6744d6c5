"""A question that is asked again keeps the edit of its first answer and names what changed."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import AskScript, AskWorker
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.step import replay
from interlock.domain.values.approvals import (
    Again,
    Answered,
    Change,
    SpawnPayload,
    ToolPayload,
    allows,
    digest,
    kept_edit,
)
from interlock.domain.values.tickets import Grant
from interlock.wire import decode_state, encode_state
from tests.domain.given import ADA, SCRIPT, Bench, bench, shell

OFF = replace(SCRIPT, script="make better", sandbox="off")


def asked_again(edited: str | None = "make better") -> Bench:
    project = bench(shell("T"))
    project.asked("T")
    project.answer("A-1", "approve", **({"edited": edited} if edited else {}))
    payload = OFF if edited else replace(SCRIPT, sandbox="off")
    project.send(AskScript("x", "T", 1, payload, "it changed", again_of="A-1"), SYSTEM)
    return project


def test_the_new_question_holds_the_edit_and_what_changed() -> None:
    project = asked_again()
    changes = (Change("sandbox", SCRIPT.sandbox, "off"),)
    assert project.approval("A-2").again == Again("A-1", changes, "make better")
    assert project.approval("A-1").again is UNSET
    assert replay(project.records) == project.state
    assert decode_state(encode_state(project.state)) == project.state
    assert asked_again(None).approval("A-2").again == Again("A-1", changes)


def test_approving_the_new_question_approves_the_edit() -> None:
    project = asked_again()
    assert project.answer("A-2", "approve")[0] == ApprovalAnswered(
        "A-2", "approve", edited="make better", digest=digest(OFF)
    )
    assert project.ticket("T").grant == Grant("A-2", digest(OFF), "make better")
    assert kept_edit(project.approval("A-2")) == "make better"


def test_another_edit_of_the_new_question_takes_the_place_of_the_first() -> None:
    project = asked_again()
    project.answer("A-2", "approve", edited="make best")
    assert project.ticket("T").grant == Grant("A-2", digest(replace(OFF, script="make best")), "make best")


def test_a_rejection_of_the_new_question_has_no_edit() -> None:
    (answered, _) = asked_again().answer("A-2", "reject")[:2]
    assert answered == ApprovalAnswered("A-2", "reject", digest=digest(OFF))


def test_approve_all_approves_the_edit_too() -> None:
    project = asked_again()
    project.send(StartConductor(approve_all=True), SYSTEM)
    state = project.approval("A-2").state
    assert isinstance(state, Answered)
    assert (state.edited, state.message) == ("make better", "--approve all")


def test_a_request_after_a_question_without_an_answer_has_no_changes() -> None:
    project = bench(shell("T"), shell("U"))
    project.asked("T")
    project.send(AskScript("x", "U", 1, SCRIPT, "it changed", again_of="A-1"), SYSTEM)
    assert project.approval("A-2").again == Again("A-1")


def test_an_edited_context_stays_when_only_the_prompt_is_edited_again() -> None:
    spawn = SpawnPayload("tier3-worker", "m", "prompt", "context")
    project = bench(shell("T"))
    project.send(AskWorker("x", "T", 1, spawn, "start"), SYSTEM)
    project.answer("A-1", "approve", edited_context="short")
    now = replace(spawn, model="n", context="short")
    project.send(AskWorker("x", "T", 1, now, "changed", "A-1"), SYSTEM)
    project.answer("A-2", "approve", edited="better")
    assert project.ticket("T").grant == Grant("A-2", digest(replace(now, prompt="better")), "better", "short")


@pytest.mark.parametrize("edited", [None, '{"a": 2}'])
def test_an_answer_allows_exactly_what_its_question_showed(edited: str | None) -> None:
    tool = ToolPayload("c", "edit", '{"a": 1}', "00", "Edit", 1, "+1", "/w")
    project = bench(shell("T"))
    project.send(AskWorker("x", "T", 1, tool, "ask"), SYSTEM)
    assert not allows(project.approval("A-1"), tool)
    project.answer("A-1", "approve", edited='{"a": 2}')
    assert allows(project.approval("A-1"), tool)
    assert not allows(project.approval("A-1"), replace(tool, diff="+2"))
    shown = replace(tool, arguments='{"a":2}', arguments_sha256="11", diff="+2")
    project.send(AskWorker("x", "T", 1, shown, "changed", "A-1"), SYSTEM)
    project.answer("A-2", "approve", ADA, **({"edited": edited} if edited else {}))
    assert allows(project.approval("A-2"), shown)
    assert not allows(project.approval("A-2"), replace(shown, diff="+3"))
    assert not allows(project.approval("A-2"), tool)
