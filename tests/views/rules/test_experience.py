"""What people answered: which questions are experience, how often rules answered, and when a rule is stale."""

import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import AskWorker
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    Again,
    Answered,
    Approval,
    Payload,
    ScriptPayload,
    StepPayload,
    ToolPayload,
)
from interlock.domain.values.tickets import TicketSpec
from interlock.views.rules.experience import Question, RuleUse, answered_questions, is_stale, journal_days, rule_uses
from tests.domain.given import ADA, AT, LATER, Bench, bench

MAKE = ScriptPayload("make", "/w", ("PATH",), "bubblewrap", call="c")
EDIT = ToolPayload("c", "edit_file", "{}", "", "Edit src/a.py", 1, "+x", "/w")


def asked(payload: ScriptPayload | ToolPayload, decision: str = "approve", by: str = ADA, **more: str) -> Bench:
    project = bench(TicketSpec(id="a", assigned_to="tier3-worker"))
    project.send(AskWorker("x", "a", 1, payload, "may it?"), SYSTEM)
    project.answer("A-1", decision, by, **more)
    return project


def with_answer(approval: Approval, by: str, at: str = AT, **more: object) -> State:
    answered = replace(approval, state=Answered("approve", by, at), **more)
    return replace(State(), approvals=State().approvals.set(answered.id, answered))


def approval(payload: Payload, kind: str = "script") -> Approval:
    return Approval(id="A-1", kind=kind, asker="w", track="x", payload=payload, digest="d", requested_at=AT)  # type: ignore[arg-type]  # some tests need an odd pair


@pytest.mark.parametrize(
    ("decision", "more", "reply"),
    [("approve", {}, "approved"), ("approve", {"edited": "make x"}, "edited"), ("reject", {}, "rejected")],
)
def test_a_persons_answer_about_a_script_is_experience(decision: str, more: dict[str, str], reply: str) -> None:
    (question,) = answered_questions(asked(MAKE, decision, **more).state)
    assert question == Question("A-1", "script", "make", reply, AT, "/w")  # type: ignore[arg-type]  # from a table


def test_a_tool_has_the_file_of_its_title() -> None:
    assert [q.paths for q in answered_questions(asked(EDIT).state)] == [("src/a.py",)]
    several = replace(EDIT, title="Change 2 files: a, b")
    assert [q.paths for q in answered_questions(asked(several).state)] == [()]
    other = replace(EDIT, tool="deploy", title="Edit src/a.py")
    assert [q.paths for q in answered_questions(asked(other).state)] == [()]


def test_chosen_hunks_and_an_edit_of_an_earlier_question_count_as_edited() -> None:
    state = with_answer(approval(EDIT, "tool"), ADA)
    hunks = replace(state.approvals["A-1"], state=Answered("approve", ADA, AT, hunks=(1,)))
    assert answered_questions(replace(state, approvals=state.approvals.set("A-1", hunks)))[0].reply == "edited"
    again = with_answer(approval(MAKE), ADA, again=Again("A-0", edited="make"))
    assert answered_questions(again)[0].reply == "edited"


def test_answers_of_rules_and_tests_and_other_kinds_are_no_experience() -> None:
    assert answered_questions(asked(MAKE, by="test:1").state) == ()
    assert answered_questions(with_answer(approval(MAKE), "policy:make")) == ()
    assert answered_questions(with_answer(approval(StepPayload("d", "r"), "step"), ADA)) == ()
    assert answered_questions(with_answer(approval(replace(MAKE, network=True)), ADA)) == ()
    assert answered_questions(with_answer(approval(replace(MAKE, script="x [concealed:00]")), ADA)) == ()
    assert answered_questions(with_answer(approval(EDIT, "ask"), ADA)) == ()
    assert answered_questions(replace(State(), approvals=State().approvals.set("A-1", approval(MAKE)))) == ()


def test_the_uses_of_a_rule_are_counted_also_beside_others() -> None:
    state = with_answer(approval(MAKE), "policy:make+ls")
    second = replace(approval(MAKE), id="A-2", state=Answered("approve", "policy:make", LATER))
    state = replace(state, approvals=state.approvals.set("A-2", second))
    state = replace(state, approvals=state.approvals.set("A-3", replace(approval(MAKE), id="A-3")))
    assert rule_uses(state) == {"make": RuleUse(2, LATER), "ls": RuleUse(1, AT)}
    assert (journal_days(state), journal_days(State())) == ((AT, AT), ("", ""))


@pytest.mark.parametrize(
    ("last", "since", "stale"),
    [
        ("2026-03-01T00:00:00.000000Z", "", False),  # used 30 days ago
        ("2026-02-28T00:00:00.000000Z", "", True),
        ("", "2026-03-30", False),  # new
        ("", "2026-01-30", True),
        ("", "", True),  # never used since the journal began
        ("", "some day", False),  # not known
    ],
)
def test_a_rule_is_stale_after_thirty_days_of_the_journal_without_an_answer(last: str, since: str, stale: bool) -> None:
    assert is_stale(RuleUse(1, last), since, ("2026-01-01T00:00:00Z", "2026-03-31T00:00:00.000000Z")) is stale


def test_no_rule_is_stale_in_an_empty_journal() -> None:
    assert not is_stale(RuleUse(), "2020-01-01", ("", ""))
