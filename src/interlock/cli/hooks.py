"""`interlock ask-hook`: what other agents' before-tool hooks run. A person decides in Interlock, the agent obeys.

Reads the hook's JSON, waits for the answer, writes it as that agent wants it. Whatever goes wrong means no.
"""

import json
import os
import secrets
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any, cast
from urllib.parse import urlsplit

from interlock.cli.exits import DONE
from interlock.client import ApiError, ApiHookClient, NotServing, Server, find_api_file, prove, read_api_file

BACK_S = 30
"""How long a workbench that goes away while we wait may take to come back."""

BLOCKS = 2
"""The exit code that keeps any of the agents from running the tool."""

Answer = dict[str, Any]


def ask_hook(args: Any) -> int:
    """Exit 0 with the agent's own kind of JSON, also for a no; 2, which blocks with every agent, for bad input."""
    try:
        hook = _read(sys.stdin.buffer.read())
    except ValueError as error:
        sys.stderr.write(f"Interlock cannot read this hook's input, so the tool may not run: {error}\n")
        return BLOCKS
    agent = args.agent if args.agent != "auto" else _agent(hook)
    answer: Answer
    try:
        answer = _decided(hook, agent, args.deadline)
    except (ApiError, OSError) as error:
        answer = {"decision": "deny", "message": f"Interlock could not ask: {error}", "args": {}}
    if (told := _told(agent, hook, answer)) is not None:
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    return DONE


def _read(text: bytes) -> dict[str, Any]:
    found: Any = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("the hook's input is not a JSON object")
    found = cast("dict[str, Any]", found)
    if not isinstance(found.get("tool_name"), str) or not isinstance(found.get("tool_input", {}), dict):
        raise ValueError("the hook's input has no tool_name, or a tool_input that is no object")
    return found


def _agent(hook: dict[str, Any]) -> str:
    """Gemini CLI calls it BeforeTool; Claude Code and Codex PreToolUse."""
    if hook.get("hook_event_name") == "BeforeTool":
        return "gemini"
    return "codex" if "turn_id" in hook else "claude"


def _decided(hook: dict[str, Any], agent: str, deadline_s: float | None) -> Answer:
    """Asks; and with the same key again, should the workbench be restarted meanwhile."""
    cwd = str(hook.get("cwd") or os.getcwd())
    key, gone_since = secrets.token_hex(8), None
    while True:
        try:
            client = _client(Path(cwd))
        except NotServing:
            if gone_since is None or time.monotonic() - gone_since > BACK_S:
                raise
            Event().wait(0.2)
            continue
        try:
            return client.ask(
                hook["tool_name"], hook.get("tool_input", {}), deadline_s=deadline_s, asker=agent, cwd=cwd, key=key
            )
        except NotServing:
            gone_since = time.monotonic()


def _client(start: Path) -> ApiHookClient:
    """With the token that may only ask, of a server that has proved to know it."""
    if (url := os.environ.get("INTERLOCK_ASK_URL")) and (token := os.environ.get("INTERLOCK_ASK_TOKEN")):
        parts = urlsplit(url)
        server = Server(parts.hostname or "127.0.0.1", parts.port or 0, token)
    else:
        found = read_api_file(find_api_file("ask.json", start))
        server = Server(str(found["host"]), int(found["port"]), str(found["token"]))
    prove(server, "ask", 10)
    return ApiHookClient(server=server)


def _told(agent: str, hook: dict[str, Any], answer: Answer) -> dict[str, Any] | None:
    """The answer as the agent wants it; None where it wants silence."""
    allowed = answer["decision"] == "allow"
    changed = allowed and answer["args"] != hook.get("tool_input", {})
    reason = answer["message"] or ("approved in Interlock" if allowed else "rejected in Interlock")
    if hook.get("hook_event_name") == "PermissionRequest":
        decided = {"behavior": "allow"} if allowed and not changed else {"behavior": "deny", "message": reason}
        if changed and agent == "claude":
            decided = {"behavior": "allow", "updatedInput": answer["args"]}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decided}}
    if agent == "gemini":
        told: dict[str, Any] = {"decision": "allow" if allowed else "deny", "reason": reason}
        if changed:
            told["hookSpecificOutput"] = {"hookEventName": "BeforeTool", "tool_input": answer["args"]}
        return told
    if agent == "codex" and allowed and not changed:
        return None  # it knows a no, and a yes to changed arguments; a plain yes it calls an error
    specific: dict[str, Any] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow" if allowed else "deny",
        "permissionDecisionReason": reason,
    }
    if changed:
        specific["updatedInput"] = answer["args"]
    return {"hookSpecificOutput": specific}
