"""Trusts Interlock's own hook in Codex, through Codex's own server (`codex app-server`, JSON lines).

Codex runs a hook only after a person has trusted it; it stores the hook's hash in its config.toml. The hash is never
computed here: Codex states it, and gets the same value back. Codex also never asks a hook about `write_stdin`, so the
feature `unified_exec_tty`, without which no program has an input, is switched off with the same consent.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.ports.processes import Job, Sandbox

TERMINAL_INPUT = "features.unified_exec_tty"
_ANSWERS_S = 30
# The server ends with its input, before it has answered: the input stays open until the answers are here.
_KEEP_OPEN = '{ cat; exec sleep 60; } | "$0" app-server'


class CodexHook(Struct, frozen=True):
    """A hook as Codex lists it; `trust` is such as `trusted`, `untrusted` or `modified`."""

    key: str
    command: str
    source: str
    digest: str
    trust: str
    enabled: bool


class CodexServer(Struct, frozen=True):
    """Codex's own server, started for each conversation."""

    sandbox: Sandbox
    program: str
    env: Mapping[str, str]

    async def hooks(self, folder: str) -> list[CodexHook]:
        """The hooks that Codex finds in this folder. Raises Misconfigured if this version cannot list them."""
        (listed,) = await self._ask(folder, [("hooks/list", {"cwds": [folder]})])
        hooks: list[CodexHook] = []
        for place in _objects(listed.get("data")):
            for hook in _objects(place.get("hooks")):
                hooks.append(
                    CodexHook(
                        key=str(hook.get("key", "")),
                        command=str(hook.get("command", "")),
                        source=str(hook.get("sourcePath", "")),
                        digest=str(hook.get("currentHash", "")),
                        trust=str(hook.get("trustStatus", "unknown")),
                        enabled=hook.get("enabled") is True,
                    )
                )
        return hooks

    async def trust(self, folder: str, hook: CodexHook) -> None:
        await self._write(folder, "hooks.state", {hook.key: {"trusted_hash": hook.digest}}, "upsert")

    async def forget(self, folder: str, key: str) -> None:
        await self._write(folder, f"hooks.state.{json.dumps(key)}", None)

    async def set_terminal_input(self, folder: str, value: bool | None) -> None:
        """None removes the setting."""
        await self._write(folder, TERMINAL_INPUT, value)

    async def _write(self, folder: str, key: str, value: object, how: str = "replace") -> None:
        await self._ask(folder, [("config/value/write", {"keyPath": key, "value": value, "mergeStrategy": how})])

    async def _ask(self, folder: str, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        about = {"clientInfo": {"name": "interlock", "version": "1"}}
        lines: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": about}, {"method": "initialized"}]
        lines += [
            {"id": number, "method": method, "params": params} for number, (method, params) in enumerate(requests, 1)
        ]
        answers = _Answers(len(requests))
        job = Job(
            argv=("/bin/sh", "-c", _KEEP_OPEN, self.program),
            cwd=folder,
            env=self.env,
            timeout_s=_ANSWERS_S,
            stdin="".join(json.dumps(line) + "\n" for line in lines).encode(),
        )
        running = asyncio.ensure_future(self.sandbox.run(job, answers.feed))
        waiting = asyncio.ensure_future(answers.complete.wait())
        await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
        for task in (running, waiting):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        return answers.results()


class _Answers:
    """Collects the answers with the ids 1 to `count`."""

    def __init__(self, count: int) -> None:
        self.complete = asyncio.Event()
        self._count = count
        self._rest = b""
        self._answers: dict[int, dict[str, Any]] = {}

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            with suppress(ValueError):
                answer: Any = json.loads(line)
                if isinstance(answer, dict) and isinstance(number := cast("dict[str, Any]", answer).get("id"), int):
                    self._answers[number] = cast("dict[str, Any]", answer)
        if all(number in self._answers for number in range(1, self._count + 1)):
            self.complete.set()

    def results(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for number in range(1, self._count + 1):
            answer = self._answers.get(number)
            if answer is None or not isinstance(result := answer.get("result"), dict):
                error: Any = (answer or {}).get("error") or "no answer"
                raise Misconfigured(f"this version of Codex cannot be told to trust a hook ({error})")
            found.append(cast("dict[str, Any]", result))
        return found


def _objects(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
