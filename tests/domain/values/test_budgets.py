import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.values.budgets import Caps, Ledger, Scope, Usage, dollars
from interlock.errors import OverBudget, Rejected

EPIC, TRACK, TICKET, TIER = Scope("epic", "e"), Scope("track", "x"), Scope("ticket", "x/T-1"), Scope("tier", "Tier 3")
SCOPES = (EPIC, TRACK, TICKET, TIER)


def caps_of(chosen: dict[Scope, int]) -> Caps:
    tiers = ((TIER.name, chosen[TIER]),) if TIER in chosen else ()
    return Caps(chosen.get(EPIC), chosen.get(TRACK), chosen.get(TICKET), tiers)


@given(
    st.dictionaries(st.sampled_from(SCOPES), st.integers(0, 100)),
    st.lists(
        st.tuples(
            st.integers(0, 6), st.lists(st.sampled_from(SCOPES), max_size=4), st.integers(0, 60), st.integers(0, 101)
        ),
        max_size=40,
    ),
)
def test_spent_and_reserved_never_exceed_a_cap_whatever_is_called_when(
    caps: dict[Scope, int], calls: list[tuple[int, list[Scope], int, int]]
) -> None:
    ledger = Ledger()
    lost: list[tuple[tuple[Scope, ...], int]] = []
    for number, scopes, amount, share in calls:
        name = f"call-{number}"
        try:
            if name not in ledger.open:
                ledger.check(scopes, amount, caps_of(caps))
                ledger = ledger.reserve(name, scopes, amount)
            elif share <= 100:  # the call ends
                ledger = ledger.settle(name, Usage(cost=ledger.open[name].amount * share // 100))
            else:  # the call is lost
                lost.append((ledger.open[name].scopes, ledger.open[name].amount))
                ledger = ledger.lose(name)
        except OverBudget:
            pass
        for scope in SCOPES:
            waiting = sum(reservation.amount for reservation in ledger.open.values() if scope in reservation.scopes)
            waiting += sum(amount for gone, amount in lost if scope in gone)
            assert ledger.reserved.get(scope, 0) == waiting
            assert ledger.committed(scope) == ledger.spent(scope).cost + waiting
            if scope in caps:
                assert ledger.committed(scope) <= caps[scope]


def test_a_call_over_budget_is_not_made_and_the_figure_is_named() -> None:
    ledger = Ledger().reserve("a", (EPIC, TRACK), 1_500_000)
    with pytest.raises(OverBudget) as refused:
        ledger.check((EPIC, TRACK), 500_001, Caps(track=2_000_000))
    assert str(refused.value) == (
        "over budget: track 'x' may spend $2.00, $1.50 is spent or reserved, and the next call may cost $0.500001"
    )
    ledger.check((EPIC, TRACK), 500_000, Caps(track=2_000_000))


def test_an_unused_part_of_a_reservation_is_released() -> None:
    before = Ledger().reserve("a", (TRACK, TIER, TRACK), 100)
    after = before.settle("a", Usage(10, 20, 30, 40, 60))
    assert after.spent(TRACK) == after.spent(TIER) == Usage(10, 20, 30, 40, 60)
    assert after.spent(EPIC) == Usage()
    assert (before.committed(TRACK), after.committed(TRACK)) == (100, 60)
    again = after.reserve("a", (TRACK,), 5).settle("a", Usage(input=1, cost=5))
    assert again.spent(TRACK) == Usage(11, 20, 30, 40, 65)


def test_a_reservation_that_never_comes_back_counts_as_spent() -> None:
    ledger = Ledger().reserve("lost", (TICKET,), 90).lose("lost").lose("unknown")
    assert ledger.settle("lost", Usage(cost=1)) == ledger  # a late result changes nothing
    with pytest.raises(OverBudget, match="over budget"):
        ledger.check((TICKET,), 11, Caps(ticket=100))


def test_a_call_that_cost_more_than_reserved_is_still_booked() -> None:
    ledger = Ledger().reserve("a", (TIER,), 100).settle("a", Usage(cost=130))
    assert ledger.committed(TIER) == 130
    with pytest.raises(OverBudget, match="over budget"):
        ledger.check((TIER,), 0, Caps(tiers=((TIER.name, 100),)))


def test_a_reservation_is_not_negative() -> None:
    with pytest.raises(Rejected, match=r"cannot be negative: -\$0.000001"):
        Ledger().check((), -1, Caps())


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.00"), (1_500_000, "$1.50"), (1, "$0.000001"), (12_345_600, "$12.3456"), (-10_000, "-$0.01")],
)
def test_money_is_shown_exactly(amount: int, text: str) -> None:
    assert dollars(amount) == text


def test_a_usage_has_its_cost_in_dollars() -> None:
    assert Usage(cost=1_250_000).cost_usd == 1.25


def test_a_call_without_a_price_is_refused_where_there_is_a_limit_and_only_there() -> None:
    ledger = Ledger()
    ledger.check_unpriced(SCOPES, "m", Caps())
    with pytest.raises(OverBudget) as refusal:
        ledger.check_unpriced(SCOPES, "m", Caps(ticket=1_000_000))
    assert str(refusal.value) == (
        "over budget: ticket 'x/T-1' may spend $1.00, and the cost of the next call is unknown: the model 'm' has"
        ' no price; give it one in your settings ([prices."m"]), or take the limit away'
    )


def test_calls_without_a_price_are_counted() -> None:
    one, two = Usage(1, cost=5, unpriced=1), Usage(2)
    assert one.plus(two).plus(one) == Usage(4, cost=10, unpriced=2)
    assert two.plus(two) == Usage(4)
    assert (one.without_price, two.without_price) == (1, 0)
