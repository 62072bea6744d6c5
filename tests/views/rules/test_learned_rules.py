"""The sentences about suggested and remembered rules."""

from msgspec.structs import replace

from interlock.views.rules.learned_rules import KeptRule, Suggestion, Suggestions

ONE = Suggestion(1, "learned-make", "exactly: make", "[[policy]]\n", ("A-1", "A-2"), "2026-01-01")


def test_the_back_test_of_all_offered_rules_is_one_sentence() -> None:
    found = Suggestions((ONE,), (), 9, 2, 3, 500)
    assert found.sentence == (
        "1 rule would have answered 2 of 9 answered questions, none of the 3 that you refused or edited,"
        " and allow none of 500 harmful commands"
    )
    assert replace(found, offered=()).sentence == "no rule to suggest from 9 answered questions"


def test_a_kept_rule_says_how_often_it_answered_and_when_last() -> None:
    rule = KeptRule(1, "x", "allow", "make", False, 2, "2026-01-01T00:00:00Z", "", True)
    assert rule.used == "2 answered, last 2026-01-01 (stale)"
    assert replace(rule, last="", answered=0, stale=False).used == "0 answered"
