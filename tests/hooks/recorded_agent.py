"""Claude Code, Codex and Gemini CLI as small programs: what the real ones do with hooks, recorded from them.

The program's own name decides which one it is. `FAULT` in a file beside it makes it wrong in one way:
`ignores-hooks` runs every call, `ignores-exit-2` believes only JSON, `never-trusts` forgets trust, `asks-about-nothing`
runs tools without starting the hook, `wrong-arguments` refuses every call before it asks.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

NAME = Path(sys.argv[0]).name
FAULT = (Path(sys.argv[0]).parent / "FAULT").read_text() if (Path(sys.argv[0]).parent / "FAULT").exists() else ""
HOME = Path(os.environ["HOME"])
CODEX = Path(os.environ.get("CODEX_HOME") or HOME / ".codex")
FILES = {
    "claude": (HOME / ".claude" / "settings.json", "PreToolUse"),
    "codex": (CODEX / "hooks.json", "PreToolUse"),
    "gemini": (HOME / ".gemini" / "settings.json", "BeforeTool"),
}


def main() -> None:
    words = sys.argv[1:]
    if words == ["--version"]:
        print("9.9.9")
    elif words[:1] == ["app-server"]:
        serve()
    elif words[:2] == ["debug", "models"]:
        print(json.dumps({"models": [{"slug": "recorded", "apply_patch_tool_type": "freeform"}]}))
    else:
        work()


# ── the loop of model and tools ──────────────────────────────────────────────────────────


def work() -> None:
    history: list[dict[str, Any]] = []
    while call := next_call(history):
        tool, args, result = call
        history.append(result(refusal(tool, args) or run(tool, args)))


def next_call(history: list[dict[str, Any]]) -> Any:
    name = ""
    for event in events(history):
        for part in event.get("candidates", [{}])[0].get("content", {}).get("parts", []):
            if found := part.get("functionCall"):
                answer = {"name": found["name"], "id": found["id"]}
                return found["name"], found["args"], lambda text, a=answer: {
                    "parts": [{"functionResponse": {**a, "response": {"output": text}}}]
                }  # fmt: skip
        if event.get("type") == "response.output_item.done" and "call_id" in event["item"]:
            item = event["item"]
            args = {"input": item["input"]} if "input" in item else json.loads(item["arguments"])
            return item["name"], args, lambda text, i=item["call_id"]: {
                "type": "function_call_output", "call_id": i, "output": text
            }  # fmt: skip
        if event.get("type") == "content_block_start" and event["content_block"]["type"] == "tool_use":
            name = event["content_block"]["name"]
        if event.get("delta", {}).get("type") == "input_json_delta":
            return name, json.loads(event["delta"]["partial_json"]), lambda text: {
                "content": [{"type": "tool_result", "content": text}]
            }  # fmt: skip
    return None


def events(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tools = {
        "claude": ["Bash", "Write", "Edit", "Read"],
        "codex": ["exec_command", "apply_patch", "write_stdin", "view_image"],
        "gemini": ["run_shell_command", "write_file", "replace", "read_file"],
    }[NAME]
    field = {"claude": "messages", "codex": "input", "gemini": "contents"}[NAME]
    request = {"tools": [{"name": tool} for tool in tools], field: history}
    data = json.dumps(request).encode()
    sent = urllib.request.Request(address(), data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(sent, timeout=30) as reply:
        return [json.loads(line[6:]) for line in reply.read().decode().splitlines() if line.startswith("data: ")]


def address() -> str:
    if NAME == "claude":
        return os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    if NAME == "gemini":
        return os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/m:streamGenerateContent"
    found = re.search(r'base_url="([^"]+)"', " ".join(sys.argv))
    assert found
    return found[1] + "/responses"


def run(tool: str, args: dict[str, Any]) -> str:
    if tool in ("Bash", "run_shell_command", "exec_command"):
        if args.get("tty") and features().get("unified_exec_tty") is False:
            return "TTY execution is disabled by config"
        if args.get("tty"):
            return "Process running with session ID 7"
        subprocess.run(["/bin/sh", "-c", args.get("command") or args["cmd"]], check=False)
    elif tool in ("Write", "write_file"):
        Path(args["file_path"]).write_text(args["content"])
    elif tool in ("Edit", "replace"):
        file = Path(args["file_path"])
        file.write_text(file.read_text().replace(args["old_string"], args["new_string"]))
    elif tool == "apply_patch":
        Path(args["input"].split("Add File: ")[1].split("\n")[0]).write_text("patched")
    elif tool == "write_stdin":
        if args["session_id"] != 7:
            return "Unknown process id"
        subprocess.run(["/bin/sh"], input=args["chars"], text=True, check=False)
    return "done"


# ── hooks ────────────────────────────────────────────────────────────────────────────────


def refusal(tool: str, args: dict[str, Any]) -> str:
    """Why the hooks deny this call; empty if they do not."""
    if FAULT == "wrong-arguments":
        return "these arguments are wrong"
    if NAME == "codex" and tool == "write_stdin":
        return ""  # Codex never asks a hook about it
    for command in () if FAULT == "asks-about-nothing" else hooks():
        given: dict[str, Any] = {"hook_event_name": FILES[NAME][1], "tool_name": tool, "tool_input": args}
        if NAME == "codex":
            given |= {"turn_id": "1", "tool_name": {"exec_command": "Bash"}.get(tool, tool)}
        ended = subprocess.run(["/bin/sh", "-c", command], input=json.dumps(given), text=True, capture_output=True)
        if why := denial(ended):
            return "" if FAULT == "ignores-hooks" else why
    return ""


def denial(ended: "subprocess.CompletedProcess[str]") -> str:
    if ended.returncode == 2:
        return "" if FAULT == "ignores-exit-2" else ended.stderr
    if ended.returncode:
        return ""  # each of them runs the tool after any other failure
    answer = json.loads(ended.stdout or "{}")
    specific = answer.get("hookSpecificOutput", {})
    if answer.get("decision") == "deny" or specific.get("permissionDecision") == "deny":
        return str(answer.get("reason") or specific.get("permissionDecisionReason"))
    return ""


def hooks() -> list[str]:
    return [hook["command"] for hook in listed() if NAME != "codex" or hook["trustStatus"] == "trusted"]


def listed() -> list[dict[str, Any]]:
    file, event = FILES[NAME]
    content = json.loads(file.read_text()) if file.exists() else {}
    found: list[dict[str, Any]] = []
    for number, group in enumerate(content.get("hooks", {}).get(event, [])):
        for place, hook in enumerate(group["hooks"]):
            key, digest = (
                f"{file}:pre_tool_use:{number}:{place}",
                hashlib.sha256(json.dumps(group).encode()).hexdigest(),
            )
            trusted = config().get("hooks", {}).get("state", {}).get(key, {}).get("trusted_hash")
            status = "trusted" if trusted == digest else "modified" if trusted else "untrusted"
            found.append(
                {
                    "key": key, "command": hook["command"], "sourcePath": str(file), "currentHash": digest,
                    "trustStatus": status, "enabled": True,
                }
            )  # fmt: skip
    return found


# ── Codex's server ───────────────────────────────────────────────────────────────────────


def config() -> dict[str, Any]:
    file = CODEX / "config.toml"
    return tomllib.loads(file.read_text()) if file.exists() else {}


def features() -> dict[str, Any]:
    return config().get("features", {})


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        result: dict[str, Any] = {}
        if asked["method"] == "hooks/list":
            result = {"data": [{"cwd": asked["params"]["cwds"][0], "hooks": listed()}]}
        elif asked["method"] == "config/value/write" and FAULT != "never-trusts":
            write(asked["params"]["keyPath"], asked["params"]["value"])
        print(json.dumps({"id": asked["id"], "result": result}), flush=True)


def write(path: str, value: Any) -> None:
    whole = config()
    state, switches = whole.setdefault("hooks", {}).setdefault("state", {}), whole.setdefault("features", {})
    if path == "hooks.state":
        state.update(value)
    elif path.startswith("hooks.state."):
        state.pop(json.loads(path.removeprefix("hooks.state.")), None)
    else:
        name = path.removeprefix("features.")
        switches.pop(name, None)
        switches.update({} if value is None else {name: value})
    lines = ["[features]", *(f"{name} = {json.dumps(value)}" for name, value in switches.items())]
    for key, fields in state.items():
        lines += [f"[hooks.state.{json.dumps(key)}]", f"trusted_hash = {json.dumps(fields['trusted_hash'])}"]
    CODEX.mkdir(exist_ok=True)
    (CODEX / "config.toml").write_text("\n".join(lines) + "\n")


main()
