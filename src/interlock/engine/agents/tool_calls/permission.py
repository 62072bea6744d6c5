"""Evaluates the rules for a changing call, before a person is asked."""

import asyncio
from collections.abc import Sequence

from interlock.ports.model import ToolCall
from interlock.ports.tools import Preview, ToolPlace
from interlock.ports.work import Policy, PolicyVerdict

OWN_GATE = PolicyVerdict("allow", "own-gate", "it is a gate of its own ticket")
NO_POLICY = PolicyVerdict("ask", "", "")


async def permission(
    policy: Policy | None, call: ToolCall, preview: Preview, place: ToolPlace, own: Sequence[str] = ()
) -> PolicyVerdict:
    """Scripts are evaluated in a thread: a rule may read many files."""
    if policy is None:
        return OWN_GATE if preview.script is not None and preview.script in own else NO_POLICY
    if preview.script is None:
        return policy.tool(call.name, preview.paths, preview.hosts)
    return await asyncio.to_thread(policy.script, preview.script, place.root, own)
