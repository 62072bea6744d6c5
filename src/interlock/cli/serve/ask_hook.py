"""`interlock ask-hook`: what other agents' before-tool hooks run. A person decides in Interlock, the agent obeys.

Reads the hook's JSON, waits for the answer, writes it as that agent wants it. Whatever goes wrong means no: agents go
on with the tool when a hook fails in any way but exit 2 with a reason, so nothing here may fail otherwise.
"""

import json
import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from interlock.cli.arguments import ProjectArgs
from interlock.cli.terminal.exits import DONE
from interlock.client import ApiError, ApiHookClient, Gone, NotServing, Server, find_api_file, read_api_file

BACK_S = 30
"""How long a workbench that goes away while we wait may take to come back."""

BLOCKS = 2
"""The exit code that keeps any of the agents from running the tool."""

EVENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}
"""What each calls the moment before a tool runs; where it asks for a permission, it is PermissionRequest."""

MOST_RETURNS = 20
"""A workbench that goes away each time it is asked is not asked for ever."""

Answer = dict[str, Any]


class AskHookArgs(ProjectArgs, frozen=True):
    agent: Literal["auto", "claude", "codex", "gemini"]
    deadline: float | None


def ask_hook(args: AskHookArgs) -> int:
    """Exit 0 with the agent's own kind of JSON, also for a no; 2, which blocks with every agent, for bad input."""
    try:
        hook = _read(sys.stdin.buffer.read(), args.agent)
        agent = args.agent if args.agent != "auto" else _agent(hook)
        try:
            answer = _decided(hook, agent, args.deadline)
        except (ApiError, OSError) as error:
            answer = Answer(decision="deny", message=f"Interlock could not ask: {error}", args={})
        if (told := _told(agent, hook, answer)) is not None:
            sys.stdout.write(json.dumps(told) + "\n")  # ASCII: no text and no locale can make this fail
            sys.stdout.flush()
    except ValueError as error:
        return _blocked(f"it cannot read this hook's input: {error}")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  a hook that merely breaks would let the tool run
        return _blocked(f"{type(error).__name__}: {error}")
    return DONE


def _blocked(why: str) -> int:
    with suppress(OSError, ValueError):
        sys.stderr.write(f"Interlock says no, so the tool may not run: {ascii(why)[1:-1]}\n")
        sys.stderr.flush()
    with suppress(OSError):  # nothing may be tried with a closed stdout at exit: that would be another exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BLOCKS


def _read(text: bytes, agent: str) -> dict[str, Any]:
    found: Any = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    found = cast("dict[str, Any]", found)
    if not isinstance(found.get("tool_name"), str) or not isinstance(found.get("tool_input", {}), dict):
        raise ValueError("it has no tool_name, or a tool_input that is no object")
    known = {*EVENTS.values(), "PermissionRequest"} if agent == "auto" else {EVENTS[agent], "PermissionRequest"}
    if (event := found.setdefault("hook_event_name", EVENTS.get(agent, ""))) not in known:
        raise ValueError(f"{event!r} is not what comes before a tool, which is {' or '.join(sorted(known))}")
    return found


def _agent(hook: dict[str, Any]) -> str:
    """Gemini CLI calls it BeforeTool; Claude Code and Codex PreToolUse."""
    if hook["hook_event_name"] == "BeforeTool":
        return "gemini"
    return "codex" if "turn_id" in hook else "claude"


def _decided(hook: dict[str, Any], agent: str, deadline_s: float | None) -> Answer:
    """Asks; and with the same key again, should the workbench be restarted meanwhile."""
    cwd = str(hook.get("cwd") or os.getcwd())
    key, gone_since, returns = secrets.token_hex(8), None, 0
    while True:
        try:
            return _client(Path(cwd)).ask(
                hook["tool_name"], hook.get("tool_input", {}), deadline_s=deadline_s, asker=agent, cwd=cwd, key=key
            )
        except Gone:
            gone_since, returns = time.monotonic(), returns + 1
            if returns > MOST_RETURNS:
                raise
        except NotServing:
            if gone_since is None or time.monotonic() - gone_since > BACK_S:
                raise
        Event().wait(0.2)


def _client(start: Path) -> ApiHookClient:
    """With the token that may only ask."""
    if (url := os.environ.get("INTERLOCK_ASK_URL")) and (token := os.environ.get("INTERLOCK_ASK_TOKEN")):
        parts = urlsplit(url)
        server = Server(parts.hostname or "127.0.0.1", parts.port or 0, token)
    else:
        found = read_api_file(find_api_file("ask.json", start))
        server = Server(str(found["host"]), int(found["port"]), str(found["token"]))
    return ApiHookClient(server=server)


def _told(agent: str, hook: dict[str, Any], answer: Answer) -> dict[str, Any] | None:
    """The answer as the agent wants it; None where it wants silence."""
    args, before = answer["args"], hook.get("tool_input", {})
    allowed = answer["decision"] == "allow"
    changed = allowed and args != before
    # Blank is no reason, and Codex takes a no without one for a mistake and runs the tool.
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
        told: dict[str, Any] = {"decision": "allow" if allowed else "deny", "reason": reason}
        if changed:
            told["hookSpecificOutput"] = {"hookEventName": "BeforeTool", "tool_input": args}
        return told
    if agent == "codex" and allowed and not changed:
        return None  # it knows a no, and a yes to changed arguments; a plain yes it calls an error
    specific: dict[str, Any] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow" if allowed else "deny",
        "permissionDecisionReason": reason,
    }
    if changed:
        specific["updatedInput"] = args
    return {"hookSpecificOutput": specific}


def _can_change(agent: str, args: dict[str, Any], before: dict[str, Any], *, permission: bool) -> bool:
    """Whether what the agent would run is what the person left: one cannot change, another cannot take away."""
    if agent == "codex":
        return not permission
    return agent != "gemini" or before.keys() <= args.keys()  # it lays the new ones over its own
