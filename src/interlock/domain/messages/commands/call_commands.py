"""Commands about model calls: reserved before, ended after."""

from interlock.domain.values.budgets import Micros, Usage
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.wire_names import Tagged as _Command


class ReserveCall(_Command, frozen=True):
    """A model is about to be asked: `amount` is the most it can cost, None where nobody knows."""

    party: CallOwner
    tier: str
    model: str
    amount: Micros | None


class EndCall(_Command, frozen=True):
    """The call brought nothing to keep, and why (`error`; empty after a question in passing). `usage` is None where
    nobody knows what it cost.
    """

    call: str
    usage: Usage | None
    error: str


CallCommand = ReserveCall | EndCall
