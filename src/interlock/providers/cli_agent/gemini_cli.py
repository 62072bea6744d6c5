"""Gemini CLI, or a program with the same protocol, as a model: one process per turn, the prompt on stdin.

The agent runs its own tools, so it runs in the sandbox: it sees an empty folder and its own configuration, and has
network to reach its vendor. The project is not visible. With the sandbox off the agent is not run. The agent stores
the conversation under a session id that comes with its answers; while the id is valid, only new messages are sent.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured, OutOfTime, Unavailable
from interlock.ports.model import Message, ModelRequest, OnText, Reply, ignore_text
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.providers.cli_agent.prompt import first_prompt, next_prompt, tool_calls
from interlock.providers.cli_agent.stream_json import AgentReply, StreamJson

NAME = "gemini_cli"

_OWN_NAMES = (
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
)
_OWN_PREFIX = "GOOGLE_GENAI_"
_CONFIGURATION = ".gemini"
# Parts of its configuration that make the user's own agent run programs: read-only.
_STARTS_PROGRAMS = ("settings.json", "commands", "extensions", "hooks", "policies", "skills")
_SESSION = re.compile(rf"{NAME} ([A-Za-z0-9][A-Za-z0-9._-]{{0,127}})")
_SPOILED = 1_000  # invalid sessions that are remembered
# In the sandbox each job has its own /tmp, empty at the start and removed at the end. The folder always has the same
# name, because the agent lists its sessions by folder.
_WORK = "/tmp/interlock-agent"
_IN_WORK = 'mkdir -p "$0" && cd "$0" && exec "$@"'
_NEVER_BETTER = {41: "it is not signed in", 52: "its configuration is wrong", 126: "", 127: ""}  # by exit code
_LOGGED = 100_000  # characters of a prompt that are logged

CallLog = Callable[[dict[str, Any]], None]
"""Logs every call: command, stdin, stdout, stderr, latency, exit code. Bounds and redacts the texts."""


class Hook(Struct, frozen=True):
    """How the agent's before-tool hook reaches Interlock: its environment, and the files it needs."""

    env: Mapping[str, str]
    readable: tuple[str, ...]


class GeminiCli:
    """Implements the port `Model`. `home` is used if the user has no configuration of the agent."""

    def __init__(
        self,
        command_line: str,
        sandbox: Sandbox,
        env: Mapping[str, str],
        home: Path,
        *,
        timeout_s: float = 600,
        log: CallLog = lambda _: None,
        redact: Callable[[str], str] = str,
        hook: "Callable[[], Hook] | None" = None,
    ) -> None:
        if sandbox.level == "off":
            raise Misconfigured(
                "gemini_cli runs tools of its own, and with the sandbox off nothing would hold them;"
                " use another provider, or switch the sandbox on"
            )
        self._argv = split_command(command_line)
        self._sandbox = sandbox
        self._env = dict(env)
        self._home = home
        self._timeout_s = timeout_s
        self._log = log
        self._redact = redact
        self._hook = hook
        self._spoiled: dict[str, None] = {}

    @property
    def name(self) -> str:
        return NAME

    def quote(self, request: ModelRequest) -> Micros:
        """No price: the agent reports tokens, and the user pays the vendor directly."""
        return 0

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        session, new = last_session(request.messages)
        if session in self._spoiled:
            session = None
        prompt = first_prompt(request) if session is None else next_prompt(new)
        try:
            answered = await self._call(request, session, prompt, on_text)
        except BaseException:
            # The session may contain these messages already, or be gone: send the whole conversation again.
            if session is not None:
                self._mark_invalid(session)
            raise
        text, calls = tool_calls(answered.text) if request.tools else (answered.text, ())
        kept = f"{NAME} {answered.session}"
        message = Message("assistant", text, calls, session=kept if _SESSION.fullmatch(kept) else "")
        usage = answered.usage or _estimated(prompt, answered.text)
        return Reply(message, usage, request.model or answered.model or NAME, "tools" if calls else "end")

    async def _call(self, request: ModelRequest, session: str | None, prompt: str, on_text: OnText) -> AgentReply:
        words = ["--output-format", "stream-json"]
        if request.model is not None:
            words.append(f"--model={request.model}")  # one argument: a ticket may have chosen the name
        if session is not None:
            words.append(f"--resume={session}")
        argv = (*self._argv, *words)
        job = self._job(argv, request, prompt.encode(errors="replace"))
        stream = StreamJson(on_text, lambda: running[0].cancel())
        begun, finished = time.monotonic(), None
        try:
            running = [asyncio.ensure_future(self._sandbox.run(job, stream.feed))]
            try:
                finished = await running[0]
            except asyncio.CancelledError:
                if not stream.fault or _is_cancelled():
                    raise
        finally:
            self._log_call(request, argv, prompt, stream, finished, time.monotonic() - begun)
        return self._answer(stream, finished)

    def _job(self, argv: tuple[str, ...], request: ModelRequest, stdin: bytes) -> Job:
        plain = "/" not in argv[0] or os.path.isabs(argv[0])
        program = shutil.which(argv[0], path=self._env.get("PATH", os.defpath)) if plain else None
        if program is None:
            raise Misconfigured(
                f"there is no program {argv[0]!r}; install Gemini CLI, or name yours: [gemini_cli] command"
            )
        argv = (os.path.abspath(program), *(os.path.normpath(w) if _is_file(w) else w for w in argv[1:]))
        files = [word for word in argv[1:] if _is_file(word)]
        executable = [file for file in files if os.access(file, os.X_OK)]
        home, writable, readable = self._configuration()
        work, cwd = (_WORK, "/tmp") if self._sandbox.level == "bubblewrap" else 2 * (self._empty_folder(),)
        hook = (
            self._hook() if self._hook is not None else Hook({}, ())
        )  # looked up each time: the program may be installed later
        who = {"tier": request.tier, "ticket": request.ticket}
        return Job(
            argv=("/bin/sh", "-c", _IN_WORK, work, *argv),
            cwd=cwd,
            env={
                **self._env,
                **hook.env,
                "PATH": _with_folder(self._env.get("PATH", os.defpath), os.path.dirname(argv[0])),
                "HOME": home,
                "GEMINI_CLI_HOOK_CONTEXT": json.dumps(who),
                "GEMINI_CLI_TRUST_WORKSPACE": "true",  # an empty folder: there is nothing in it to trust
                "GEMINI_SANDBOX": "false",  # it is in ours
            },
            writable=(writable,),
            readable=(
                *readable,
                *(file for file in files if file not in executable),
                *((cwd,) if cwd == work else ()),
                *hook.readable,
            ),
            programs=(argv[0], *executable),
            network=True,
            timeout_s=self._timeout_s,
            stdin=stdin,
        )

    def _configuration(self) -> tuple[str, str, tuple[str, ...]]:
        """The agent's home, and its writable and read-only parts. Without a home of the user the agent gets its own,
        because it needs a place for its sessions.
        """
        home = os.path.normpath(self._env.get("HOME", "") or "/")
        folder = os.path.join(home, _CONFIGURATION)
        if not os.path.isabs(home) or not os.path.isdir(folder):
            _make(self._home)
            return str(self._home), str(self._home), ()
        real = os.path.realpath(folder)
        guarded = (os.path.join(folder, name) for name in _STARTS_PROGRAMS)
        plain = (path for path in guarded if os.path.exists(path) and os.path.dirname(os.path.realpath(path)) == real)
        return home, folder, tuple(plain)

    def _empty_folder(self) -> str:
        """Without a /tmp per job: one read-only folder for all jobs."""
        folder = self._home.with_name(f"{self._home.name}-work")
        _make(folder)
        return str(folder)

    def _answer(self, stream: StreamJson, finished: Finished | None) -> AgentReply:
        """Raises the error that the exit status means."""
        if finished is None:
            raise Unavailable(f"gemini_cli: {self._redact(stream.fault)}", may_cost=True)
        answered = stream.end()
        stderr = self._last_stderr(finished)
        match finished.status:
            case "error":
                raise Unavailable(f"gemini_cli does not start: {finished.message}")
            case "timed_out":
                raise OutOfTime(
                    f"gemini_cli gave no answer within {self._timeout_s:g} s ([gemini_cli] timeout_s)", may_cost=True
                )
            case "killed":
                raise Unavailable(f"gemini_cli was killed by signal {finished.signal}{stderr}", may_cost=True)
            case "exited" if finished.exit_code in _NEVER_BETTER:
                why = _NEVER_BETTER[finished.exit_code] or "it does not start in the sandbox"
                raise Misconfigured(f"gemini_cli cannot be used: {why}{stderr}")
            case "exited" if finished.exit_code:
                why = f": {self._redact(stream.fault)}" if stream.fault else ""
                raise Unavailable(f"gemini_cli ended with exit code {finished.exit_code}{why}{stderr}", may_cost=True)
            case "exited":
                if answered is None:
                    raise Unavailable(f"gemini_cli: {self._redact(stream.fault)}{stderr}", may_cost=True)
                return answered

    def _last_stderr(self, finished: Finished) -> str:
        """The last lines of stderr."""
        words = " ".join(self._redact(finished.stderr[-2_000:]).split())
        return f" ({words[-300:]})" if words else ""

    def _log_call(
        self,
        request: ModelRequest,
        argv: Sequence[str],
        prompt: str,
        stream: StreamJson,
        finished: Finished | None,
        latency: float,
    ) -> None:
        self._log(
            {
                "command": list(argv),
                "tier": request.tier,
                "ticket": request.ticket,
                "stdin": prompt[:_LOGGED],
                "stdout": stream.kept.decode(errors="replace"),
                "stderr": finished.stderr if finished is not None else "",
                "latency_ms": round(latency * 1000),
                "status": finished.status if finished is not None else "stopped",
                "exit_code": finished.exit_code if finished is not None else None,
            }
        )

    def _mark_invalid(self, session: str) -> None:
        self._spoiled[session] = None
        if len(self._spoiled) > _SPOILED:
            del self._spoiled[next(iter(self._spoiled))]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(f"cannot make {folder}: {error.strerror}") from error


def _with_folder(path: str, folder: str) -> str:
    """The interpreter of a script (`#!/usr/bin/env node`) is often beside it, and only there."""
    return path if folder in path.split(":") else f"{path}:{folder}"


def _is_file(word: str) -> bool:
    return os.path.isabs(word) and os.path.isfile(os.path.normpath(word))


def _is_cancelled() -> bool:
    """True if this task itself was cancelled, not only the agent."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def split_command(command_line: str) -> tuple[str, ...]:
    """Splits a command line as a shell would. No shell runs it."""
    try:
        words = shlex.split(command_line)
    except ValueError as error:
        raise Misconfigured(f"the command line {command_line!r} cannot be split into words: {error}") from error
    if not words or "\0" in command_line:
        raise Misconfigured(f"the command line {command_line!r} names no program")
    return tuple(words)


def vendor_env(environ: Mapping[str, str]) -> dict[str, str]:
    """The keys and addresses of the agent's own vendor. It gets no others."""
    return {name: value for name, value in environ.items() if name in _OWN_NAMES or name.startswith(_OWN_PREFIX)}


def last_session(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The session to continue, and the messages that it does not contain yet."""
    for number in range(len(messages) - 1, -1, -1):
        if messages[number].role == "assistant":
            match = _SESSION.fullmatch(messages[number].session)
            new = messages[number + 1 :]
            return (match[1], new) if match and new else (None, messages)
    return None, messages


def _estimated(prompt: str, text: str) -> Usage:
    """An estimate if the agent reports no tokens: four characters per token."""
    return Usage(len(prompt) // 4, len(text) // 4)
