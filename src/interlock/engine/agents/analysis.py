"""Tier 4 looks at a script that failed: what was the cause, what would fix it (SPEC T4).

It is an extra. Whatever goes wrong with it, the worker gets its result all the same.
"""

from interlock.domain.values.model_calls import CallOwner
from interlock.engine.models.calls import ModelCalls
from interlock.engine.prompts.load import load_prompt
from interlock.errors import Misconfigured, OverBudget, Unavailable
from interlock.ports.model import Message, ModelRequest

TIER = "Tier 4"
HEADING = "\nQA ANALYSIS:\n"
TAIL = 2_000  # characters of the output that it sees


async def analysed(
    calls: ModelCalls, party: CallOwner, description: str, script: str, exit_code: int, output: str
) -> str:
    """What is appended to the script's result."""
    said = failed_script(description, script, exit_code, output)
    system = load_prompt("tier4_analysis")
    request = ModelRequest(TIER, party.ticket or None, None, system, (Message("user", said),), ())
    try:
        reply = await calls.consult(party, f"Tier 4 (QA): {party.ticket}", request)
    except (OverBudget, Unavailable, Misconfigured) as error:
        return _none(str(error))
    return HEADING + reply.message.text.strip() if reply.message.text.strip() else _none("it said nothing")


def failed_script(description: str, script: str, exit_code: int, output: str) -> str:
    """Everything that Tier 4 sees."""
    return "\n\n".join(
        (
            "# A script failed",
            f"## The ticket\n\n{description or '(no description)'}",
            f"## The script\n\n{script}",
            f"## Exit code\n\n{exit_code}",
            f"## The end of its output\n\n{output[-TAIL:]}",
        )
    )


def _none(why: str) -> str:
    return f"\n(no QA analysis: {' '.join(why.split())[:160]})"
