"""What models have cost, by tier, epic, track or ticket."""

from typing import Literal

from msgspec import Struct

from interlock.domain.state.state import State
from interlock.domain.values.budgets import Micros, Scope, Usage

UsageGrouping = Literal["tier", "epic", "track", "ticket"]


class UsageRow(Struct, frozen=True):
    """`unknown`: set aside for calls that broke off, or are under way; it counts as spent."""

    name: str
    used: Usage
    unknown: Micros


def usage_rows(state: State, by: UsageGrouping = "tier") -> tuple[UsageRow, ...]:
    ledger = state.ledger
    names = {scope.name for scope in (*ledger.used, *ledger.reserved) if scope.kind == by}
    if by == "tier":  # what was said before there were reservations counts too
        names |= set(state.usage)
    return tuple(_row(state, Scope(by, name)) for name in sorted(names))


def cost_shown(used: Usage) -> str:
    """In dollars; where models had no price, that is said and not shown as nothing."""
    known = f"${used.cost_usd:,.4f}"
    if not used.without_price:
        return known
    return f"{known} + unknown" if used.cost else "unknown"


def _row(state: State, scope: Scope) -> UsageRow:
    used = state.usage.get(scope.name, Usage()) if scope.kind == "tier" else state.ledger.spent(scope)
    return UsageRow(scope.name, used, state.ledger.reserved.get(scope, 0))
