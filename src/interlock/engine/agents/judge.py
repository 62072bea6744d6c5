"""Gates with criteria: a separate model call sees only the diff and the criteria, and answers pass or fail.

The call is disposable: after a crash it is made again.
"""

import time
from collections.abc import Callable

from interlock.domain.reading.judge_answer import judge_question, verdict_of
from interlock.domain.state.state import State
from interlock.domain.values.gates import Gate, GateResult
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.models.calls import ModelCalls
from interlock.engine.prompts.load import load_prompt
from interlock.errors import InterlockError, OverBudget
from interlock.ports.model import Message, ModelRequest
from interlock.ports.work import GateRunner
from interlock.ports.workspaces import Workspaces
from interlock.views.stream_keys import stream_key

TIER = "Tier 4"
AGAIN = 'That is neither a pass nor a fail. Answer with one JSON object: {"verdict": "pass" or "fail", "reason": "…"}'


class JudgedGates:
    """Implements `GateRunner`: a model judges criteria, the shell runs commands."""

    def __init__(
        self, shell: GateRunner, calls: ModelCalls | None, workspaces: Workspaces, state: Callable[[], State]
    ) -> None:
        self._shell = shell
        self._calls = calls
        self._workspaces = workspaces
        self._state = state

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult:
        """Raises OverBudget if no budget is left for the judge."""
        wanted = ticket.verify[gate]
        if wanted.criteria is None:
            return await self._shell.run(track, ticket, gate, commit)
        if self._calls is None:
            return _result(wanted, "error", "criteria are judged by a model, but none is configured: use --provider", 0)
        party = CallOwner(track=track, ticket=ticket.id, attempt=self._state().ticket(track, ticket.id).attempts)
        began = time.monotonic()
        try:
            diff = await self._workspaces.diff(commit)
            verdict = await self._judged(self._calls, party, wanted.criteria, diff)
        except OverBudget:
            raise  # not a failure of the work: it must not be sent back
        except InterlockError as error:
            return _result(wanted, "error", f"it could not be judged: {error}", _elapsed_ms(began))
        if verdict is None:
            return _result(wanted, "error", "the judge answered neither pass nor fail", _elapsed_ms(began))
        passed, reason = verdict
        return _result(wanted, "passed" if passed else "failed", reason, _elapsed_ms(began))

    async def _judged(self, calls: ModelCalls, party: CallOwner, criteria: str, diff: str) -> tuple[bool, str] | None:
        messages = (Message("user", judge_question(criteria, diff)),)
        key = stream_key(self._state(), party, TIER)
        for _ in range(2):
            reply = await calls.consult(
                party, key, ModelRequest(TIER, party.ticket, None, load_prompt("judge"), messages, ())
            )
            if (verdict := verdict_of(reply.message.text)) is not None:
                return verdict
            messages = (*messages, reply.message, Message("user", AGAIN))
        return None


def _result(gate: Gate, status: str, reason: str, took_ms: int) -> GateResult:
    known = {"passed": ("passed", 0), "failed": ("failed", 1), "error": ("error", -1)}
    gate_status, code = known[status]
    return GateResult(
        status=gate_status,  # pyright: ignore[reportArgumentType]  one of the three above
        exit_code=code,
        command=gate.shown,
        duration_ms=took_ms,
        stdout=reason if status != "error" else "",
        explanation=reason if status == "error" else "",
    )


def _elapsed_ms(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
