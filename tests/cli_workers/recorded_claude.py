#!/usr/bin/env python3
"""A stand-in for Claude Code, with its protocol: prompt on stdin, hooks of its settings, JSON lines on stdout.

Its model obeys the prompt: the JSON after `STEPS:` holds a list of steps for each turn. It remembers the turns below
CLAUDE_CONFIG_DIR, so that `--resume` continues. The answer lists the outcome of every step.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CONFIG = Path(os.environ.get("CLAUDE_CONFIG_DIR", "."))
TOOLS = {"bash": "Bash", "write": "Write", "edit": "Edit", "fetch": "WebFetch", "read": "Read"}


def emit(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def asked(tool: str, args: dict[str, Any], number: int) -> tuple[dict[str, Any] | None, str]:
    """The arguments to run, or None and the reason. As Claude Code does: only exit code 2 or a decision stops it."""
    settings = json.loads((CONFIG / "settings.json").read_text())
    (entry,) = settings["hooks"]["PreToolUse"]
    given = {
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args,
        "tool_use_id": f"toolu_{number}", "cwd": os.getcwd(),
    }  # fmt: skip
    done = subprocess.run(
        entry["hooks"][0]["command"], shell=True, input=json.dumps(given), capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        return None, done.stderr
    reply = json.loads(done.stdout) if done.stdout.strip() else {}
    decided = reply.get("hookSpecificOutput", {})
    if decided.get("permissionDecision") == "deny":
        return None, decided["permissionDecisionReason"]
    return decided.get("updatedInput", args), decided.get("permissionDecisionReason", "")


def act(kind: str, args: dict[str, Any]) -> str:
    if kind == "bash":
        done = subprocess.run(args["command"], shell=True, capture_output=True, text=True, check=False)
        return f"exit {done.returncode}: {done.stdout}{done.stderr}".strip()
    if kind == "write":
        Path(args["file_path"]).write_text(args["content"])
    elif kind == "edit":
        path = Path(args["file_path"])
        path.write_text(path.read_text().replace(args["old_string"], args["new_string"]))
    elif kind == "read":
        return Path(args["file_path"]).read_text()
    return "done"


def step(one: dict[str, Any], number: int) -> str:
    ((kind, value),) = one.items()
    match kind:
        case "say":
            return str(value)
        case "env":
            return f"{value}={os.environ.get(value, 'nothing')}"
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "connect":
            try:
                socket.create_connection((value[0], value[1]), 5).close()
            except OSError as error:
                return f"no connection: {type(error).__name__}"
            return "connected"
        case "proxy":
            host = urlsplit(os.environ["HTTPS_PROXY"]).netloc.partition(":")
            with socket.create_connection((host[0], int(host[2])), 5) as proxy:
                proxy.sendall(f"CONNECT {value} HTTP/1.1\r\nHost: {value}\r\n\r\n".encode())
                return proxy.recv(1000).decode().splitlines()[0]
        case "unasked":
            return act("bash", {"command": value})
        case _:
            pass
    here = os.getcwd()
    args: dict[str, Any] = {"command": value} if kind == "bash" else {"url": value} if kind == "fetch" else {}
    if kind in ("write", "edit", "read"):
        names = {"write": ("content",), "edit": ("old_string", "new_string"), "read": ()}[kind]
        args = {"file_path": os.path.join(here, value[0]), **dict(zip(names, value[1:], strict=True))}
    tool = TOOLS[kind]
    emit(type="assistant", session_id="s", message={"content": [{"type": "tool_use", "name": tool, "input": args}]})
    allowed, why = asked(tool, args, number)
    return f"{tool} denied: {why}" if allowed is None else f"{tool} {act(kind, allowed)}"


def main() -> None:
    if "--version" in sys.argv:
        print("9.9.9 (stand-in)")
        return
    prompt = sys.stdin.read()
    memory = CONFIG / "memory.json"
    if "--resume" in sys.argv:
        turns, turn = json.loads(memory.read_text())
    else:
        _, marked, rest = prompt.rpartition("STEPS:")
        turns, turn = (json.JSONDecoder().raw_decode(rest.lstrip())[0] if marked else [[{"say": "ok"}]]), 0
    memory.write_text(json.dumps([turns, turn + 1]))
    emit(type="system", subtype="init", session_id="session-1", model="stand-in-model")
    outcomes = [step(one, number) for number, one in enumerate(turns[min(turn, len(turns) - 1)])]
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 7}
    text = "\n".join(outcomes)
    emit(type="assistant", session_id="session-1", message={"content": [{"type": "text", "text": text}]})
    emit(type="result", subtype="success", session_id="session-1", result=text, usage=usage, total_cost_usd=0.25)


main()
