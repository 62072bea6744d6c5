"""Tier 4 analyses a script that failed, or that ended well and wrote to its standard error.

The analysis is optional: if it fails, the worker gets the script's result without it.
"""

from msgspec import Struct

from interlock.domain.values.markdown import fenced
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.calls import ModelCalls
from interlock.engine.prompts.load import NO_OWN, OwnPrompts
from interlock.errors import Misconfigured, OverBudget, Unavailable
from interlock.ports.model import Message, ModelRequest
from interlock.views.imitation import noted

TIER = "Tier 4"
HEADING = "\nQA ANALYSIS:\n"
TAIL = 2_000  # characters of the output in the request


class RanScript(Struct, frozen=True):
    description: str  # of the ticket
    script: str
    exit_code: int
    output: str


async def analysed(calls: ModelCalls, party: CallOwner, key: str, ran: RanScript, prompts: OwnPrompts = NO_OWN) -> str:
    """The text that is appended to the script's result."""
    report = report_of(ran)
    system = prompts.system("tier4_analysis")
    request = ModelRequest(TIER, party.ticket or None, None, system, (Message("user", report),), ())
    try:
        reply = await calls.consult(party, key, request)
    except (OverBudget, Unavailable, Misconfigured) as error:
        return _none(str(error))
    text = reply.message.text.strip()
    return HEADING + noted(text) if text else _none("the answer was empty")


def report_of(ran: RanScript) -> str:
    """The request to Tier 4."""
    return "\n\n".join(
        (
            "# A script failed" if ran.exit_code else "# A script ended with 0 and wrote to its standard error",
            f"## The ticket\n\n{ran.description or '(no description)'}",
            f"## The script\n\n{fenced(ran.script)}",
            f"## Exit code\n\n{ran.exit_code}",
            f"## The end of its output\n\n{fenced(ran.output[-TAIL:])}",
        )
    )


def _none(why: str) -> str:
    return f"\n(no QA analysis: {' '.join(why.split())[:160]})"
