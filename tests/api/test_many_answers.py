"""One answer to many approvals over HTTP, and rules from experience."""

from collections.abc import Iterator

import pytest

from interlock.client import ApiError, ApiHookClient
from interlock.domain.values.answer_sets import Seen, merkle_root
from interlock.domain.values.approvals import Answered
from tests.api.serving import Served, asking, served


@pytest.fixture
def bench() -> Iterator[Served]:
    with served() as bench:
        asking(bench, "a", "b", "c")
        yield bench


def person(bench: Served) -> ApiHookClient:
    return bench.client(bench.tokens.approve)


def test_one_answer_is_bound_to_what_was_seen(bench: Served) -> None:
    shown = person(bench).list_approvals()
    done = person(bench).answer_many(shown, "approve", message="go")
    assert done == {
        "root": merkle_root(Seen(one["id"], one["digest"]) for one in shown),
        "decision": "approve",
        "by": "human:ada",
        "answered": ["A-1", "A-2", "A-3"],
        "left_out": [],
        "sentence": "answered 3 of 3",
    }
    answer = bench.state.approval("A-2").state
    assert isinstance(answer, Answered)
    assert (answer.together, answer.message) == (done["root"], "go")
    assert person(bench).get_approval("A-2")["answer"]["together"] == done["root"]


def test_what_changed_since_is_left_out_and_said(bench: Served) -> None:
    shown = person(bench).list_approvals()
    person(bench).answer("A-1", "reject")
    changed = {**shown[1], "digest": "0" * 64}
    done = person(bench).answer_many([shown[0], changed, shown[2]], "approve")
    assert done["answered"] == ["A-3"]
    assert done["sentence"] == "answered 1 of 3; A-1 already answered by human:ada, A-2 changed since"
    with pytest.raises(ApiError, match="none of 3 was answered") as refused:
        person(bench).answer_many([shown[0], changed, shown[2]], "approve")
    assert refused.value.status == 409
    assert list(bench.state.pending.values()) == ["A-2"]


def test_the_drive_token_answers_nothing(bench: Served) -> None:
    with pytest.raises(ApiError) as refused:
        bench.client().answer_many(bench.client().list_approvals(), "approve")
    assert refused.value.status == 403
    assert len(bench.state.pending) == 3


@pytest.mark.parametrize("decision", ["retry", "abort", "changes", "yes"])
def test_other_decisions_are_not_for_many(bench: Served, decision: str) -> None:
    with pytest.raises(ApiError) as refused:
        person(bench).answer_many(person(bench).list_approvals(), decision)  # type: ignore[arg-type]  # that is the test
    assert refused.value.status == 422


def test_a_suggestion_is_read_by_anyone_and_accepted_by_a_person(bench: Served) -> None:
    (one,) = bench.client().suggest_rules()["offered"]
    with pytest.raises(ApiError) as refused:
        bench.client().accept_rule(one["rule"])
    assert refused.value.status == 403
    assert person(bench).accept_rule(one["rule"], everywhere=True) == {"rule": "make"}
    with pytest.raises(ApiError, match="not suggested any more") as late:
        person(bench).accept_rule("another")
    assert late.value.status == 422
    assert person(bench).suggest_rules(4)["offered"] == []


def test_a_rule_is_forgotten_by_a_person(bench: Served) -> None:
    person(bench).accept_rule("make")
    assert [(rule["name"], rule["answered"]) for rule in bench.client().list_rules()] == [("make", 2)]
    with pytest.raises(ApiError) as refused:
        bench.client().forget_rule("make")
    assert refused.value.status == 403
    assert person(bench).forget_rule("make")["name"] == "make"
    with pytest.raises(ApiError) as gone:
        person(bench).forget_rule("make")
    assert gone.value.status == 404
    assert bench.client().list_rules() == []


def test_a_test_may_answer_many_but_write_no_rule() -> None:
    with served(test_policy=True) as bench:
        asking(bench, "a", "b")
        driver = bench.client()
        done = driver.answer_many(driver.list_approvals(), "approve")
        assert done["by"].startswith("test:")
        for act in (lambda: driver.accept_rule("make"), lambda: driver.forget_rule("make")):
            with pytest.raises(ApiError, match="a test may answer approvals, but not write policy rules"):
                act()
