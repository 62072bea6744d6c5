"""Gemini CLI, or whatever speaks like it, as a model: a process for each turn, the prompt on its stdin (SPEC P6).

The agent runs tools of its own, so it lives in the sandbox: it sees an empty folder and its own configuration, and has
network to reach its vendor; the project is not there. With the sandbox off it is not run at all. It keeps the
conversation itself, under a session id that stands with its answers: while that is good only new messages are sent.
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
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, ModelRequest, OnText, Reply, ignore_text
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.providers.cli_agent.prompt import first_prompt, next_prompt, tool_calls
from interlock.providers.cli_agent.stream_json import AgentReply, StreamJson

NAME = "gemini_cli"

_OWN_NAMES = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
_OWN_PREFIX = "GOOGLE_GENAI_"
_CONFIGURATION = ".gemini"
# Of its configuration, what would make the user's own agent run something: it may be read and not be changed.
_STARTS_PROGRAMS = ("settings.json", "commands", "extensions", "hooks", "policies", "skills")
_SESSION = re.compile(rf"{NAME} ([A-Za-z0-9][A-Za-z0-9._-]{{0,127}})")
_SPOILED = 1_000  # sessions that are remembered as not to be used any more
# Of the sandbox, where /tmp is each job's own: empty at first and gone afterwards. All have the same name, because the
# agent tells by the folder which sessions there are.
_WORK = "/tmp/interlock-agent"
_IN_WORK = 'mkdir -p "$0" && cd "$0" && exec "$@"'
_NEVER_BETTER = {41: "it is not signed in", 52: "its configuration is wrong", 126: "", 127: ""}  # by exit code
_LOGGED = 100_000  # characters of a prompt in the log

CallLog = Callable[[dict[str, Any]], None]
"""Hears of every call: command, stdin, stdout, stderr, latency, exit code. It bounds and redacts what it keeps."""


class Hook(Struct, frozen=True):
    """How the agent's own before-tool hook finds us: what it is told, and which files of ours it needs."""

    env: Mapping[str, str]
    readable: tuple[str, ...]


class GeminiCli:
    """Plays `Model`. `home` is the agent's where the user has no configuration for it."""

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
        """What it costs is between the user and the vendor: the agent tells tokens, no money."""
        return 0

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        session, new = last_session(request.messages)
        if session in self._spoiled:
            session = None
        prompt = first_prompt(request) if session is None else next_prompt(new)
        try:
            answered = await self._call(request, session, prompt, on_text)
        except BaseException:
            # It may have heard what is now said again, or not exist any more: then all is told anew.
            if session is not None:
                self._spoil(session)
            raise
        text, calls = tool_calls(answered.text) if request.tools else (answered.text, ())
        kept = f"{NAME} {answered.session}"
        message = Message("assistant", text, calls, session=kept if _SESSION.fullmatch(kept) else "")
        usage = answered.usage or _estimated(prompt, answered.text)
        return Reply(message, usage, request.model or answered.model or NAME, "tools" if calls else "end")

    async def _call(self, request: ModelRequest, session: str | None, prompt: str, on_text: OnText) -> AgentReply:
        words = ["--output-format", "stream-json"]
        if request.model is not None:
            words.append(f"--model={request.model}")  # one word: a ticket may have chosen the name
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
            self._tell(request, argv, prompt, stream, finished, time.monotonic() - begun)
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
        hook = self._hook() if self._hook is not None else Hook({}, ())  # asked each time: it may come later
        who = {"tier": request.tier, "ticket": request.ticket}
        return Job(
            argv=("/bin/sh", "-c", _IN_WORK, work, *argv),
            cwd=cwd,
            env={
                **self._env,
                **hook.env,
                "HOME": home,
                "GEMINI_CLI_HOOK_CONTEXT": json.dumps(who),
                "GEMINI_CLI_TRUST_WORKSPACE": "true",  # an empty folder: it holds nothing to be wary of
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
        """Its home, what of that it may write, and what only read. Where the user has none, it gets one of its own:
        without a place for its sessions it would forget each turn.
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
        """Where there is no /tmp for each job: one for all of them, that none can write to."""
        folder = self._home.with_name(f"{self._home.name}-work")
        _make(folder)
        return str(folder)

    def _answer(self, stream: StreamJson, finished: Finished | None) -> AgentReply:
        """Raises what its end means."""
        if finished is None:
            raise Unavailable(f"gemini_cli: {self._redact(stream.fault)}", may_cost=True)
        answered = stream.end()
        said = self._words(finished)
        match finished.status:
            case "error":
                raise Unavailable(f"gemini_cli does not start: {finished.message}")
            case "timed_out":
                raise Unavailable(f"gemini_cli gave no answer within {self._timeout_s:g} s", may_cost=True)
            case "killed":
                raise Unavailable(f"gemini_cli was killed by signal {finished.signal}{said}", may_cost=True)
            case "exited" if finished.exit_code in _NEVER_BETTER:
                why = _NEVER_BETTER[finished.exit_code] or "it does not start in the sandbox"
                raise Misconfigured(f"gemini_cli cannot be used: {why}{said}")
            case "exited" if finished.exit_code:
                why = f": {self._redact(stream.fault)}" if stream.fault else ""
                raise Unavailable(f"gemini_cli ended with exit code {finished.exit_code}{why}{said}", may_cost=True)
            case "exited":
                if answered is None:
                    raise Unavailable(f"gemini_cli: {self._redact(stream.fault)}{said}", may_cost=True)
                return answered

    def _words(self, finished: Finished) -> str:
        """The last of what it complained about."""
        words = " ".join(self._redact(finished.stderr[-2_000:]).split())
        return f" ({words[-300:]})" if words else ""

    def _tell(
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

    def _spoil(self, session: str) -> None:
        self._spoiled[session] = None
        if len(self._spoiled) > _SPOILED:
            del self._spoiled[next(iter(self._spoiled))]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(f"cannot make {folder}: {error.strerror}") from error


def _is_file(word: str) -> bool:
    return os.path.isabs(word) and os.path.isfile(os.path.normpath(word))


def _is_cancelled() -> bool:
    """Somebody wants this task to end, and not only the agent."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def split_command(command_line: str) -> tuple[str, ...]:
    """As a shell would split it; no shell runs it."""
    try:
        words = shlex.split(command_line)
    except ValueError as error:
        raise Misconfigured(f"the command line {command_line!r} cannot be split into words: {error}") from error
    if not words or "\0" in command_line:
        raise Misconfigured(f"the command line {command_line!r} names no program")
    return tuple(words)


def vendor_env(environ: Mapping[str, str]) -> dict[str, str]:
    """The keys of its own vendor; it gets no others."""
    return {name: value for name, value in environ.items() if name in _OWN_NAMES or name.startswith(_OWN_PREFIX)}


def last_session(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """Where the agent goes on from, and what it has not heard yet."""
    for number in range(len(messages) - 1, -1, -1):
        if messages[number].role == "assistant":
            found = _SESSION.fullmatch(messages[number].session)
            new = messages[number + 1 :]
            return (found[1], new) if found and new else (None, messages)
    return None, messages


def _estimated(prompt: str, text: str) -> Usage:
    """Where the agent tells no tokens: four characters each."""
    return Usage(len(prompt) // 4, len(text) // 4)
