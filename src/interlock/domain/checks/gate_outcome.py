"""The outcome of a failed gate: another try, a question to a person, or a blocked ticket."""

from typing import Literal

from msgspec import Struct

from interlock.domain.checks.fingerprints import is_stuck
from interlock.domain.values.gates import GateDefaults, GateResult, limits
from interlock.domain.values.tickets import TicketSpec, Verifying

GateAction = Literal["retry", "ask_retry", "escalate", "block"]


class GateOutcome(Struct, frozen=True):
    action: GateAction
    results: tuple[GateResult, ...]  # all failures of this gate that count, the last one included
    tries: int
    max_attempts: int
    stuck: bool  # tries are left, but the last failures were all the same

    @property
    def tries_again(self) -> bool:
        """Tries are left and may still help."""
        return self.tries < self.max_attempts and not self.stuck


def gate_outcome(
    spec: TicketSpec, stage: Verifying, result: GateResult, defaults: GateDefaults, *, approve_all: bool
) -> GateOutcome:
    """The outcome of one more failure, `result`, of the gate at `stage`.

    A ticket with `returns` asks a person before each new try, unless the gate itself loops. With approve_all no person
    answers, so the ticket is blocked where it would ask.
    """
    gate = spec.verify[stage.gate]
    results = (*stage.previous_results, result)
    tries, max_attempts = stage.attempt_count + 1, limits(gate, defaults).max_attempts
    stuck = tries < max_attempts and is_stuck(results, defaults.stuck_after)
    again = tries < max_attempts and not stuck
    asks_first = spec.returns and not gate.loop
    if again and not asks_first:
        action: GateAction = "retry"
    elif approve_all:
        action = "block"
    else:
        action = "ask_retry" if again else "escalate"
    return GateOutcome(action, results, tries, max_attempts, stuck)
