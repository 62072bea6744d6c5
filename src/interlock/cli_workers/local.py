"""CLI agents on this machine: finds their programs, makes their homes, and runs them in the sandbox."""

import asyncio
import os
import re
import shlex
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interlock.cli_workers.homes import SHIM, AgentFolder, copy_login, hook_settings
from interlock.cli_workers.profile import Profile
from interlock.cli_workers.relay import SOCKET, Connect, Relay, Routes, addresses, connect_public
from interlock.cli_workers.reports import Listeners, report_of
from interlock.cli_workers.sessions import HookSupport, Session
from interlock.errors import Misconfigured
from interlock.ports.cli_agents import AgentRun, AgentTerms
from interlock.ports.processes import Job, Sandbox

_PROXY_PORT = 8118  # of the sandbox's own loopback
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_GUARDED = '"$0" "$@" || exit 2'  # agents run the tool if a hook fails with any other exit code
_UNSUPERVISED = "asks nothing: it changes its worktree without a question; the finished work is verified as always"

TrustHook = Callable[[Job, str], Awaitable[None]]
"""Makes Codex trust the hook in its home. Takes a job like the agent's own, without arguments, and the program."""


class Machine(Struct, frozen=True):
    """`environ` is the user's whole environment; `env` the variables that commands get."""

    sandbox: Sandbox
    environ: Mapping[str, str]
    env: Mapping[str, str]
    folder: Path  # for the homes of this project's tickets
    interpreter: str
    shim: bytes
    hooks: HookSupport
    trust_codex: TrustHook
    connect: Connect = connect_public


class LocalCliAgents:
    """Implements `CliAgents`. Used on the engine's loop."""

    def __init__(self, profiles: Mapping[str, Profile], machine: Machine) -> None:
        self._profiles = profiles
        self._machine = machine
        self._running: dict[tuple[str, str], Session] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def terms(self, agent: str) -> AgentTerms:
        profile = self.profile(agent)
        program = self.program(profile)
        if self._machine.sandbox.level != "bubblewrap":
            raise Misconfigured(
                f"{profile.title} needs the sandbox made with bubblewrap: only there its network can be limited to its"
                " vendor ('interlock doctor' says why bubblewrap is not used)"
            )
        routes, login = self._routes(profile), self.login(profile)
        reached = (*routes.hosts, *routes.named, *(f"127.0.0.1:{port}" for port in routes.here))
        lines = (
            f"program: {program}",
            f"network: only {', '.join(reached)}",
            f"login it sees: {', '.join(login) or 'none'}",
            f"permissions: {'asks before each changing tool call' if profile.supervised else _UNSUPERVISED}",
        )
        return AgentTerms(profile.title, lines, profile.supervised)

    def profile(self, agent: str) -> Profile:
        if (profile := self._profiles.get(agent)) is not None:
            return profile
        near = get_close_matches(agent, self._profiles, n=1)
        meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(self._profiles)}."
        raise Misconfigured(f"there is no agent {agent!r}; {meant} 'interlock agents list' shows all")

    def program(self, profile: Profile) -> str:
        """The absolute path. A relative entry of PATH does not count: the current folder may be anybody's."""
        name = profile.command[0]
        path = ":".join(entry for entry in self._machine.environ.get("PATH", "").split(":") if os.path.isabs(entry))
        plain = "/" not in name or os.path.isabs(name)
        if not plain or (program := shutil.which(name, path=path or os.defpath)) is None:
            how = f"; install it: {profile.package}" if profile.package else ""
            raise Misconfigured(f"{profile.title} is not installed: there is no program {name!r}{how}")
        return os.path.abspath(program)

    def login(self, profile: Profile) -> tuple[str, ...]:
        """The names of the variables and files with the agent's login that exist."""
        environ = self._machine.environ
        files = (name for name in profile.login_files if os.path.isfile(os.path.join(environ.get("HOME", "/"), name)))
        return (*(name for name in profile.login_variables if environ.get(name)), *(f"~/{name}" for name in files))

    async def version(self, agent: str) -> str:
        """The first line of `--version`, in the sandbox and without network."""
        program = self.program(profile := self.profile(agent))
        folder = AgentFolder(self._machine.folder / ".versions" / agent)
        folder.make(b"")
        env = {**self._machine.env, "HOME": str(folder.home)}
        env["PATH"] = _with_folder(env.get("PATH", os.defpath), os.path.dirname(program))
        home = (str(folder.home),)
        job = Job(argv=(program, "--version"), cwd=home[0], env=env, writable=home, programs=(program,), timeout_s=60)
        finished = await self._machine.sandbox.run(job)
        folder.remove()
        if not finished.succeeded:
            raise Misconfigured(f"{profile.title} does not start in the sandbox: {finished.ending}")
        return (finished.stdout.strip().splitlines() or ["unknown"])[0][:100]

    # ── processes ────────────────────────────────────────────────────────────────────────

    def running(self, track: str, ticket: str) -> Session | None:
        return self._running.get((track, ticket))

    def can_continue(self, track: str, ticket: str, session: str) -> bool:
        return bool(_SESSION.fullmatch(session)) and self._folder(track, ticket).home.is_dir()

    async def start(self, run: AgentRun) -> Session:
        self.terms(run.agent)
        await self.end(run.track, run.ticket, forget=not run.session)
        profile = self.profile(run.agent)
        folder = self._folder(run.track, run.ticket)
        folder.make(self._machine.shim)
        routes = self._routes(profile)
        job, program = self._job(profile, run, folder, routes)
        if profile.output == "codex":
            await self._machine.trust_codex(job, program)
            config = folder.home / ".codex" / "config.toml"  # it holds the trust in the hook
            job = replace(job, readable=(*job.readable, *((str(config),) if config.exists() else ())))
        job = replace(job, argv=self._argv(profile, run, folder, routes, program), stdin=self._stdin(profile, run))
        session = Session(profile, run, self._machine.hooks, tuple(sorted(job.env)))
        report, output = report_of(profile.output, Listeners(run.on_text, run.on_tool))
        relay = Relay(folder.fixed, routes, session.on_hook, session.connected, self._machine.connect)
        session.begin(session.work(self._machine.sandbox, job, relay, report, output))
        self._running[run.track, run.ticket] = session
        return session

    async def end(self, track: str, ticket: str, *, forget: bool = False) -> None:
        session = self._running.pop((track, ticket), None)
        if session is not None:
            await session.end()
        if forget:
            await asyncio.to_thread(self._folder(track, ticket).remove)

    def leave(self, track: str, ticket: str) -> None:
        if (track, ticket) in self._running:
            task = asyncio.ensure_future(self.end(track, ticket))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        await asyncio.gather(*(self.end(*name) for name in tuple(self._running)), *self._leaving)

    # ── how one is started ───────────────────────────────────────────────────────────────

    def _folder(self, track: str, ticket: str) -> AgentFolder:
        return AgentFolder(self._machine.folder / track / ticket)

    def _routes(self, profile: Profile) -> Routes:
        environ = self._machine.environ
        own = (*(environ.get(name, "") for name in profile.addresses), *(value for _, value in profile.variables))
        named, here = addresses(own)
        proxy = next(port for port in range(_PROXY_PORT, _PROXY_PORT + 1000) if port not in here)
        return Routes(proxy, profile.hosts, named, here)

    def _job(self, profile: Profile, run: AgentRun, folder: AgentFolder, routes: Routes) -> tuple[Job, str]:
        """The agent's job without its command, and the program."""
        environ, place, program = self._machine.environ, run.place, self.program(profile)
        home = environ.get("HOME", "/")
        copy_login(profile, folder, home)
        hook, fixed = {}, ()
        if profile.permissions == "hook":
            hook, fixed = hook_settings(profile.output, folder, self._hook_command(folder), home)
        env = place.surroundings.applied({**self._machine.env, **dict(place.env)})
        given = (*profile.login_variables, *profile.addresses)
        proxy = f"http://127.0.0.1:{routes.proxy}"
        env = {
            **env,
            **{name: environ[name] for name in given if environ.get(name)},
            **dict(profile.variables),
            **hook,
            "HOME": str(folder.home),
            "PATH": _with_folder(env.get("PATH", os.defpath), os.path.dirname(program)),
            "HTTPS_PROXY": proxy,
            "https_proxy": proxy,
            "NO_PROXY": "127.0.0.1,localhost,::1",
            "no_proxy": "127.0.0.1,localhost,::1",
            "NODE_USE_ENV_PROXY": "1",
        }
        return Job(
            argv=(),
            cwd=place.root,
            env=env,
            # A folder with fixed files is mounted itself: else it could be renamed, with the files.
            writable=(place.root, str(folder.home), *_folders_of(fixed, folder)),
            readable=(*place.read_only(), str(folder.fixed), *fixed),
            programs=(*place.surroundings.programs, program),
        ), program

    def _argv(
        self, profile: Profile, run: AgentRun, folder: AgentFolder, routes: Routes, program: str
    ) -> tuple[str, ...]:
        words = profile.start
        if run.session and profile.resume and _SESSION.fullmatch(run.session):
            words = tuple(word.replace("{session}", run.session) for word in profile.resume)
        model = tuple(word.replace("{model}", run.model) for word in profile.model) if run.model else ()
        if model and words[-1:] == ("-",):  # the prompt from stdin stands last
            words = (*words[:-1], *model, "-")
        else:
            words = (*model, *words)
        prompt = (run.prompt,) if profile.prompt == "argument" else ()
        stdio = "pipe" if profile.output == "acp" else "-"
        ports = ",".join(map(str, routes.ports))
        shim = (*self._python(folder), "run", str(folder.fixed / SOCKET), stdio, ports, "--")
        return (*shim, program, *profile.command[1:], *words, *prompt)

    def _stdin(self, profile: Profile, run: AgentRun) -> bytes | None:
        return run.prompt.encode(errors="replace") if profile.prompt == "stdin" and profile.output != "acp" else None

    def _python(self, folder: AgentFolder) -> tuple[str, ...]:
        return (self._machine.interpreter, "-I", "-S", str(folder.fixed / SHIM))

    def _hook_command(self, folder: AgentFolder) -> str:
        asked = (*self._python(folder), "ask", str(folder.fixed / SOCKET))
        return shlex.join(("/bin/sh", "-c", _GUARDED, *asked))


def _folders_of(fixed: Sequence[str], folder: AgentFolder) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in map(os.path.dirname, fixed) if path != str(folder.home)))


def _with_folder(path: str, folder: str) -> str:
    """The interpreter of a script (`#!/usr/bin/env node`) is often beside it, and only there."""
    return path if folder in path.split(":") else f"{path}:{folder}"
