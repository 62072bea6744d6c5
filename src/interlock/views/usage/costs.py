"""Usage and cost of model calls by tier, epic, track or ticket."""

from typing import Literal

from msgspec import Struct

from interlock.domain.state.state import State
from interlock.domain.values.budgets import Micros, Scope, Usage

UsageGrouping = Literal["tier", "epic", "track", "ticket"]


class UsageRow(Struct, frozen=True):
    """`unknown` is reserved for calls that broke off or are under way; it counts as spent."""

    name: str
    used: Usage
    unknown: Micros


def usage_rows(state: State, by: UsageGrouping = "tier") -> tuple[UsageRow, ...]:
    ledger = state.ledger
    names = {scope.name for scope in (*ledger.used, *ledger.reserved) if scope.kind == by}
    if by == "tier":  # includes usage from before reservations existed
        names |= set(state.usage)
    return tuple(_row(state, Scope(by, name)) for name in sorted(names))


def cost_shown(used: Usage) -> str:
    """The cost in dollars; calls without a price show as unknown, not as 0."""
    known = f"${used.cost_usd:,.4f}"
    if not used.without_price:
        return known
    return f"{known} + unknown" if used.cost else "unknown"


def _row(state: State, scope: Scope) -> UsageRow:
    used = state.usage.get(scope.name, Usage()) if scope.kind == "tier" else state.ledger.spent(scope)
    return UsageRow(scope.name, used, state.ledger.reserved.get(scope, 0))
