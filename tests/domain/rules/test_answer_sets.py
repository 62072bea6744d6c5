"""One answer to many approvals: bound to what was seen, member by member, all or nothing in the journal."""

from itertools import pairwise

import pytest
from hypothesis import given as generated
from hypothesis import strategies as st
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApprovals
from interlock.domain.messages.commands.attempt_commands import AskWorker, ReportGate
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.envelopes import SYSTEM, worker
from interlock.domain.messages.events.approval_events import ApprovalsAnswered, ApprovalWithdrawn
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.domain.values.answer_sets import LeftOut, Seen, SetDecision, merkle_root
from interlock.domain.values.approvals import Answered, MergePayload, ScriptPayload
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import BadValue, Rejected
from interlock.views.answer_sets import SetCheck
from tests.domain.given import ADA, FAIL, LATER, Bench, bench, shell

PAIRS = st.sets(st.builds(Seen, st.from_regex(r"A-[1-9]\d?", fullmatch=True), st.text("0123456789abcdef", max_size=4)))


def asked(count: int) -> Bench:
    """Tickets that each wait for their script."""
    names = [f"t{number}" for number in range(1, count + 1)]
    project = bench(*(shell(name) for name in names), workers=count)
    for name in names:
        project.asked(name)
    return project


def pairs(state: State, *names: str) -> tuple[Seen, ...]:
    return tuple(Seen(name, state.approval(name).digest) for name in names)


def together(
    project: Bench, *names: str, decision: SetDecision = "approve", by: str = ADA, selected: bool = False
) -> ApprovalsAnswered:
    command = AnswerApprovals(pairs(project.state, *names), decision, "fine", selected)
    (event,) = [event for event in project.send(command, by) if isinstance(event, ApprovalsAnswered)]
    return event


def test_one_answer_answers_all_and_binds_them_to_one_root() -> None:
    project = asked(3)
    seen = pairs(project.state, "A-1", "A-2", "A-3")
    event = together(project, "A-3", "A-1", "A-2")
    assert event == ApprovalsAnswered(merkle_root(seen), "approve", ("A-1", "A-2", "A-3"), (), "fine")
    for name in ("A-1", "A-2", "A-3"):
        answer = project.approval(name).state
        assert isinstance(answer, Answered)
        assert (answer.decision, answer.by, answer.message, answer.together) == ("approve", ADA, "fine", event.root)
        assert answer.digest == project.approval(name).digest
    assert replay(project.records) == project.state
    check = SetCheck()
    assert [problem for record in project.records if (problem := check.take(record.event))] == []


def test_what_changed_since_is_left_out_and_named() -> None:
    project = asked(5)
    seen = pairs(project.state, "A-1", "A-2", "A-3", "A-4", "A-5")
    project.answer("A-2", "reject", "human:bob")
    project.answer("A-3", "abort")  # ends the track: everything else is withdrawn
    command = AnswerApprovals((*seen, Seen("A-77", "x")), "approve")
    with pytest.raises(Rejected, match=r"none of 6 was answered: A-1 withdrawn: .*, A-2 already answered by human:bob"):
        project.send(command)
    project = asked(3)
    changed = replace(project.approval("A-2"), digest="other")
    project.state = replace(project.state, approvals=project.state.approvals.set("A-2", changed))
    event = next(e for e in project.send(AnswerApprovals(seen[:3], "reject")) if isinstance(e, ApprovalsAnswered))
    assert (event.approvals, event.left_out) == (("A-1", "A-3"), (LeftOut("A-2", seen[1].digest, "changed since"),))
    assert "A-2" in project.state.pending.values()


def test_an_agent_answers_nothing() -> None:
    project = asked(2)
    with pytest.raises(Rejected, match="an agent can never answer its own request"):
        together(project, "A-1", by=worker("t1", 1))
    with pytest.raises(Rejected, match="an agent can never answer an approval"):
        together(project, "A-1", "A-2", by=worker("t9", 1))
    assert len(project.state.pending) == 2


def test_an_overdue_approval_is_left_out() -> None:
    project = bench(shell("a"), shell("b"))
    project.asked("a", deadline="2026-01-01T00:00:30.000000Z")
    project.asked("b")
    events = project.send(AnswerApprovals(pairs(project.state, "A-1", "A-2"), "approve"), at=LATER)
    event = next(event for event in events if isinstance(event, ApprovalsAnswered))
    assert event.approvals == ("A-2",)
    assert event.left_out[0].why.startswith("approval A-1 was not answered by its deadline")


def test_a_failed_gate_needs_its_own_decision() -> None:
    project = bench(shell("a", verify=[Gate("true")]), shell("b"), max_attempts=1)
    project.submit("a")
    project.send(ReportGate("x", "a", 1, 0, FAIL, "tree", "retry?"), SYSTEM)
    project.asked("b")
    event = together(project, "A-1", "A-2")
    assert event.approvals == ("A-2",)
    assert event.left_out[0].why == "a gate needs its own decision: retry or skip or abort"


def test_a_landing_is_answered_by_its_id_but_not_by_a_selection() -> None:
    project = bench(shell("a"))
    project.submit("a", None)
    project.send(AskLanding("x", MergePayload("main", "1", "2", "+a")))
    (name,) = project.state.pending.values()
    with pytest.raises(Rejected, match=f"none of 1 was answered: {name} a merge is answered only by its id"):
        together(project, name, selected=True)
    assert together(project, name, decision="reject").approvals == (name,)


def test_of_two_digests_of_one_approval_only_the_right_one_counts() -> None:
    project = asked(1)
    (right,) = pairs(project.state, "A-1")
    both = (right, replace(right, digest="0"), replace(right, digest="z"))
    event = next(e for e in project.send(AnswerApprovals(both, "approve")) if isinstance(e, ApprovalsAnswered))
    assert event.approvals == ("A-1",)
    assert [(one.digest, one.why) for one in event.left_out] == [
        ("0", "changed since"),
        ("z", f"already answered by {ADA}"),
    ]


def test_an_answer_that_was_withdrawn_in_between_stays_withdrawn() -> None:
    project = asked(2)
    event = together(project, "A-1", "A-2")
    gone = replace(project.records[-1], version=project.state.version + 1, event=ApprovalWithdrawn("A-1", "redone"))
    late = replace(gone, version=gone.version + 1, event=event)
    state = replay([gone, late], project.state)
    assert type(state.approval("A-1").state).__name__ == "Withdrawn"


@pytest.mark.parametrize("count", [0, 10_001])
def test_a_set_has_at_least_one_and_not_too_many(count: int) -> None:
    with pytest.raises(BadValue):
        asked(1).send(AnswerApprovals(tuple(Seen(f"A-{number}", "d") for number in range(count)), "approve"))


@generated(PAIRS, st.randoms(use_true_random=False))
def test_the_order_does_not_change_the_root(seen: set[Seen], chance: object) -> None:
    shuffled = list(seen)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    assert merkle_root(shuffled) == merkle_root(sorted(seen)) == merkle_root([*seen, *seen])


@generated(PAIRS, PAIRS)
def test_any_other_set_has_another_root(one: set[Seen], other: set[Seen]) -> None:
    assert (merkle_root(one) == merkle_root(other)) == (one == other)


@generated(PAIRS.filter(bool), st.data())
def test_any_changed_pair_changes_the_root(seen: set[Seen], data: st.DataObject) -> None:
    pair = data.draw(st.sampled_from(sorted(seen)))
    changed = data.draw(st.sampled_from([replace(pair, digest=pair.digest + "0"), replace(pair, approval="A-100")]))
    assert merkle_root((seen - {pair}) | {changed}) != merkle_root(seen)


def test_nodes_of_different_levels_have_different_roots() -> None:
    roots = [merkle_root(Seen(f"A-{n}", "d") for n in range(count)) for count in range(12)]
    assert all(one != other for one, other in pairwise(roots))
    assert (roots[0], len(set(roots))) == ("", 12)


@generated(st.data())
def test_the_reply_splits_the_request_exactly(data: st.DataObject) -> None:
    project = asked(4)
    seen = pairs(project.state, "A-1", "A-2", "A-3", "A-4")
    for name in data.draw(st.sets(st.sampled_from(["A-1", "A-2", "A-3"]))):
        project.answer(name, "reject", "human:bob")
    wrong = data.draw(st.sets(st.sampled_from(seen[:3])))
    asked_for = {replace(pair, digest="other") if pair in wrong else pair for pair in seen} | data.draw(PAIRS)
    command = AnswerApprovals(tuple(asked_for), data.draw(st.sampled_from(["approve", "reject"])))
    event = next(event for event in project.send(command) if isinstance(event, ApprovalsAnswered))
    left = {Seen(one.approval, one.digest) for one in event.left_out}
    answered = {pair for pair in asked_for if pair.approval in event.approvals} - left
    assert answered | left == asked_for
    assert {pair.approval for pair in answered} == set(event.approvals)
    assert answered <= set(seen)
    assert event.root == merkle_root(asked_for)
    check = SetCheck()
    assert [problem for record in project.records if (problem := check.take(record.event))] == []


def test_workers_calls_are_answered_together() -> None:
    specs = [TicketSpec(id=name, assigned_to="tier3-worker") for name in ("a", "b")]
    project = bench(*specs)
    for name in ("a", "b"):
        payload = ScriptPayload("make", f"/w/{name}", ("PATH",), "bubblewrap", call=f"c-{name}")
        project.send(AskWorker("x", name, 1, payload, "no rule"), SYSTEM)
    assert together(project, "A-1", "A-2", decision="reject").approvals == ("A-1", "A-2")
