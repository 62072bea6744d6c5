"""`interlock ask-hook`: the before-tool hook of other agents. A person decides in Interlock.

Reads the hook's JSON, waits for the answer, and writes it in the agent's format. Every error denies the tool: agents
run the tool if a hook fails in any other way than exit code 2 with a reason.
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
from interlock.hooks.agents import only_reads
from interlock.hooks.replies import hook_reply

BACK_S = 30
"""How long to wait for a workbench that restarts while an answer is pending."""

BLOCKS = 2
"""The exit code that stops every agent from running the tool."""

EVENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}
"""Each agent's name of its before-tool event; a permission request is PermissionRequest for all."""

MOST_RETURNS = 20
"""The most restarts of the workbench during one question."""

Answer = dict[str, Any]


class AskHookArgs(ProjectArgs, frozen=True):
    agent: Literal["auto", "claude", "codex", "gemini"]
    deadline: float | None
    skip_reads: bool


def ask_hook(args: AskHookArgs) -> int:
    """Exit code 0 with JSON in the agent's format, also for a denial; exit code 2 for bad input."""
    try:
        hook = _read(sys.stdin.buffer.read(), args.agent)
        agent = args.agent if args.agent != "auto" else _agent(hook)
        if args.skip_reads and only_reads(agent, hook["tool_name"]):
            return DONE  # no output is no opinion: the agent's own rules decide
        try:
            answer = _ask(hook, agent, args.deadline)
        except (ApiError, OSError) as error:
            answer = Answer(decision="deny", message=f"Interlock could not ask: {error}", args={})
        if (reply := hook_reply(agent, hook, answer)) is not None:
            sys.stdout.write(json.dumps(reply) + "\n")  # ASCII, so that no locale can make this fail
            sys.stdout.flush()
    except ValueError as error:
        return _block(f"it cannot read this hook's input: {error}")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  after any other failure the agent would run the tool
        return _block(f"{type(error).__name__}: {error}")
    return DONE


def _block(why: str) -> int:
    with suppress(OSError, ValueError):
        sys.stderr.write(f"Interlock denies the tool: {ascii(why)[1:-1]}\n")
        sys.stderr.flush()
    with suppress(OSError):  # a flush of a closed stdout at exit would change the exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BLOCKS


def _read(text: bytes, agent: str) -> dict[str, Any]:
    hook: Any = json.loads(text)
    if not isinstance(hook, dict):
        raise ValueError("it is not a JSON object")
    hook = cast("dict[str, Any]", hook)
    if not isinstance(hook.get("tool_name"), str) or not isinstance(hook.get("tool_input", {}), dict):
        raise ValueError("it has no tool_name, or a tool_input that is no object")
    known = {*EVENTS.values(), "PermissionRequest"} if agent == "auto" else {EVENTS[agent], "PermissionRequest"}
    if (event := hook.setdefault("hook_event_name", EVENTS.get(agent, ""))) not in known:
        raise ValueError(f"{event!r} is no before-tool event; expected {' or '.join(sorted(known))}")
    return hook


def _agent(hook: dict[str, Any]) -> str:
    """Gemini CLI names the event BeforeTool; Codex adds a turn_id, Claude Code does not."""
    if hook["hook_event_name"] == "BeforeTool":
        return "gemini"
    return "codex" if "turn_id" in hook else "claude"


def _ask(hook: dict[str, Any], agent: str, deadline_s: float | None) -> Answer:
    """Ask, and ask again with the same key if the workbench restarts meanwhile."""
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
    """A client with the ask token, which allows nothing else."""
    if (url := os.environ.get("INTERLOCK_ASK_URL")) and (token := os.environ.get("INTERLOCK_ASK_TOKEN")):
        parts = urlsplit(url)
        server = Server(parts.hostname or "127.0.0.1", parts.port or 0, token)
    else:
        address = read_api_file(find_api_file("ask.json", start))
        server = Server(str(address["host"]), int(address["port"]), str(address["token"]))
    return ApiHookClient(server=server)
