"""An answer in the format of each agent's before-tool hook."""

import json
from typing import Any


def hook_reply(agent: str, hook: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any] | None:
    """The answer in the agent's format; None if the agent expects no output."""
    args, before = answer["args"], hook.get("tool_input", {})
    allowed = answer["decision"] == "allow"
    changed = allowed and args != before
    # Codex takes a denial without a reason for an error and runs the tool.
    reason = answer["message"].strip() or ("approved in Interlock" if allowed else "rejected in Interlock")
    permission = hook["hook_event_name"] == "PermissionRequest"
    if changed and not _can_change(agent, args, before, permission=permission):
        allowed = changed = False
        reason = f"{reason}: call {hook['tool_name']} again, with exactly these: {json.dumps(args)}"
    if permission:
        decided: dict[str, Any] = {"behavior": "allow"} if allowed else {"behavior": "deny", "message": reason}
        if changed:
            decided["updatedInput"] = args
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decided}}
    if agent == "gemini":
        reply: dict[str, Any] = {"decision": "allow" if allowed else "deny", "reason": reason}
        if changed:
            reply["hookSpecificOutput"] = {"hookEventName": "BeforeTool", "tool_input": args}
        return reply
    if agent == "codex" and allowed and not changed:
        return None  # Codex rejects a plain "allow"; it accepts a denial, or "allow" with changed arguments
    specific: dict[str, Any] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow" if allowed else "deny",
        "permissionDecisionReason": reason,
    }
    if changed:
        specific["updatedInput"] = args
    return {"hookSpecificOutput": specific}


def _can_change(agent: str, args: dict[str, Any], before: dict[str, Any], *, permission: bool) -> bool:
    """Whether the agent can run the changed arguments: Codex sometimes cannot change any, Gemini cannot remove one."""
    if agent == "codex":
        return not permission
    return agent != "gemini" or before.keys() <= args.keys()  # it merges the new arguments into its own
