"""Asks: a program outside Interlock requests an approval and waits for the answer."""

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ExpireApproval
from interlock.domain.messages.commands.external_ask_commands import AskPerson, WithdrawAsk
from interlock.domain.messages.envelopes import SYSTEM, Submission
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn
from interlock.domain.rules.external_ask_rules import earlier_ask
from interlock.domain.state.state import State
from interlock.domain.step import step
from interlock.domain.values.approvals import Answered, ToolPayload, Withdrawn, digest
from interlock.errors import Rejected
from tests.domain.given import ADA, AT, bench, shell

SHA = "5a1"
QUESTION = AskPerson("Bash", '{"command":"ls"}', SHA, "program:claude", key="k1", directory="/p", why="before a tool")


def after(*commands: AskPerson | WithdrawAsk | AnswerApproval | ExpireApproval, state: State | None = None) -> State:
    state = state or State()
    for command in commands:
        state = step(state, Submission("s", SYSTEM if isinstance(command, AskPerson) else ADA, command), AT).state
    return state


def test_an_ask_is_an_approval_with_the_exact_arguments() -> None:
    asked = after(QUESTION).approval("A-1")
    payload = asked.payload
    assert isinstance(payload, ToolPayload)
    assert (asked.kind, asked.asker, payload.tool, payload.arguments) == (
        "ask",
        "program:claude",
        "Bash",
        '{"command":"ls"}',
    )
    assert asked.digest == digest(payload)


def test_the_answer_is_all_that_follows_from_an_ask() -> None:
    for decision in ("approve", "reject"):
        taken = step(after(QUESTION), Submission("s", ADA, AnswerApproval("A-1", decision, message="m")), AT)
        assert [type(r.event) for r in taken.records] == [ApprovalAnswered]


def test_edited_arguments_must_be_an_object() -> None:
    state = after(QUESTION, AnswerApproval("A-1", "approve", edited='{"command":"pwd"}'))
    answered = state.approval("A-1").state
    assert isinstance(answered, Answered)
    assert answered.edited == '{"command":"pwd"}'
    for wrong in ("[1]", "{", "ls"):
        with pytest.raises(Rejected, match="JSON object"):
            after(QUESTION, AnswerApproval("A-1", "approve", edited=wrong))


def test_an_ask_whose_asker_has_gone_is_withdrawn_once() -> None:
    state = after(QUESTION, WithdrawAsk("A-1", "gone"))
    assert state.approval("A-1").state == Withdrawn("gone", AT)
    taken = step(state, Submission("s", ADA, WithdrawAsk("A-1")), AT)
    assert taken.records == ()
    with pytest.raises(Rejected, match="withdrawn: gone"):
        after(AnswerApproval("A-1", "approve"), state=state)


def test_an_answer_stands_when_the_asker_leaves_at_the_same_moment() -> None:
    state = after(QUESTION, AnswerApproval("A-1", "approve"), WithdrawAsk("A-1"))
    assert isinstance(state.approval("A-1").state, Answered)


def test_only_asks_are_withdrawn() -> None:
    project = bench(shell("T"))
    project.asked("T")
    with pytest.raises(Rejected, match="only an ask can be withdrawn"):
        after(WithdrawAsk("A-1"), state=project.state)


def test_an_ask_has_a_deadline_that_denies() -> None:
    late = AskPerson("Bash", "{}", SHA, "program:x", deadline="2026-01-01T00:00:05.000000Z")
    state = after(late, ExpireApproval("A-1"))
    answered = state.approval("A-1").state
    assert isinstance(answered, Answered)
    assert (answered.decision, "deadline" in answered.message) == ("reject", True)


@pytest.mark.parametrize(
    "wrong",
    [
        AskPerson(" ", "{}", SHA, "program:x"),
        AskPerson("t" * 201, "{}", SHA, "program:x"),
    ],
    ids=["no tool", "long name"],
)
def test_an_invalid_ask_is_refused(wrong: AskPerson) -> None:
    with pytest.raises(Rejected):
        after(wrong)


def test_an_asker_that_reconnects_finds_its_ask_by_its_key() -> None:
    state = after(QUESTION)
    ask = earlier_ask(state, QUESTION)
    assert ask is not None
    assert ask.id == "A-1"
    assert earlier_ask(state, AskPerson("Bash", '{"command":"ls"}', SHA, "program:claude")) is None
    assert earlier_ask(state, AskPerson("Bash", "{}", SHA, "program:claude", key="k2")) is None
    with pytest.raises(Rejected, match="about something else"):
        earlier_ask(state, AskPerson("Bash", '{"command":"rm"}', "other", "program:claude", key="k1"))


def test_an_ask_and_its_withdrawal_are_the_only_events() -> None:
    asked = step(State(), Submission("s", SYSTEM, QUESTION), AT)
    gone = step(asked.state, Submission("s", SYSTEM, WithdrawAsk("A-1", "gone")), AT)
    assert [type(r.event) for r in (*asked.records, *gone.records)] == [ApprovalRequested, ApprovalWithdrawn]
