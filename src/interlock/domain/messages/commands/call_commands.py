"""Commands about model calls: reserved before, ended after."""

from interlock.domain.values.budgets import Micros, Usage
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.wire_names import Tagged as _Command


class ReserveCall(_Command, frozen=True):
    """Reserves the budget of a call. `amount` is the most it can cost; None means unknown."""

    party: CallOwner
    tier: str
    model: str
    amount: Micros | None


class EndCall(_Command, frozen=True):
    """Ends a call without a message to store. `error` is empty if none occurred; `usage` is None if unknown."""

    call: str
    usage: Usage | None
    error: str


CallCommand = ReserveCall | EndCall
