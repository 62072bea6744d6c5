"""Stands between acplint 0.1.0 and an agent: `python -m tests.editor.acplint_shim COMMAND…`.

The linter writes three names unlike the protocol's own schema, so no agent could pass: the version is a text there, a
prompt's content is called `content`, and kinds of updates are in camel case. This translates exactly these three.
"""

import json
import re
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any


def to_agent(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    if message.get("method") == "initialize" and isinstance(params, dict):
        params["protocolVersion"] = int(params["protocolVersion"])
    if message.get("method") == "session/prompt" and isinstance(params, dict) and "content" in params:
        params["prompt"] = params.pop("content")
    return message


def to_linter(message: dict[str, Any]) -> dict[str, Any]:
    result = message.get("result")
    if isinstance(result, dict) and "protocolVersion" in result:
        result["protocolVersion"] = str(result["protocolVersion"])
    if message.get("method") == "session/update":
        update = message["params"]["update"]
        update["sessionUpdate"] = re.sub("_(.)", lambda match: match[1].upper(), update["sessionUpdate"])
    return message


def _pass_on(source: IO[str], target: IO[str], change: Any) -> None:
    for line in source:
        with suppress(ValueError):  # the linter tries garbage, too
            line = json.dumps(change(json.loads(line))) + "\n"
        target.write(line)
        target.flush()
    target.close()


def main() -> int:
    with subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdin and agent.stdout
        threading.Thread(target=_pass_on, args=(sys.stdin, agent.stdin, to_agent), daemon=True).start()
        _pass_on(agent.stdout, sys.stdout, to_linter)
        return agent.wait()


if __name__ == "__main__":
    sys.exit(main())
