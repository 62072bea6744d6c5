"""Tier 4 analyses a failed script: its root cause and a suggested fix.

The analysis is optional: if it fails, the worker gets the script's result without it.
"""

from interlock.domain.values.markdown import fenced
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.calls import ModelCalls
from interlock.engine.prompts.load import load_prompt
from interlock.errors import Misconfigured, OverBudget, Unavailable
from interlock.ports.model import Message, ModelRequest
from interlock.views.imitation import noted

TIER = "Tier 4"
HEADING = "\nQA ANALYSIS:\n"
TAIL = 2_000  # characters of the output in the request


async def analysed(
    calls: ModelCalls, party: CallOwner, key: str, description: str, script: str, exit_code: int, output: str
) -> str:
    """The text that is appended to the script's result."""
    report = failed_script(description, script, exit_code, output)
    system = load_prompt("tier4_analysis")
    request = ModelRequest(TIER, party.ticket or None, None, system, (Message("user", report),), ())
    try:
        reply = await calls.consult(party, key, request)
    except (OverBudget, Unavailable, Misconfigured) as error:
        return _none(str(error))
    text = reply.message.text.strip()
    return HEADING + noted(text) if text else _none("the answer was empty")


def failed_script(description: str, script: str, exit_code: int, output: str) -> str:
    """The request to Tier 4."""
    return "\n\n".join(
        (
            "# A script failed",
            f"## The ticket\n\n{description or '(no description)'}",
            f"## The script\n\n{fenced(script)}",
            f"## Exit code\n\n{exit_code}",
            f"## The end of its output\n\n{fenced(output[-TAIL:])}",
        )
    )


def _none(why: str) -> str:
    return f"\n(no QA analysis: {' '.join(why.split())[:160]})"
