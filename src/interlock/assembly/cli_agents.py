"""CLI agents from the shipped profiles and the user's settings, on this machine."""

import os
import shlex
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from interlock.assembly.environment import stable_env
from interlock.assembly.project import Project, hidden_folders, limits_of
from interlock.assembly.settings.agent_settings import AgentSettings
from interlock.cli_workers.agent_model import AgentAnswers
from interlock.cli_workers.local import LocalCliAgents, Machine
from interlock.cli_workers.profile import NAME, PROFILES, Profile
from interlock.cli_workers.sessions import HookSupport
from interlock.errors import Misconfigured, Unavailable
from interlock.hooks.agents import only_reads
from interlock.hooks.codex_trust import CodexServer
from interlock.hooks.replies import hook_reply
from interlock.ports.model import Message, ModelRequest, ignore_text
from interlock.ports.processes import Finished, Job, OnOutput, Sandbox
from interlock.sandbox.levels.choose import choose
from interlock.workspaces.git_workspaces import project_key

_STARTS_OTHERS = ("Task", "Agent")  # of Claude Code: the calls of these subagents are asked about one by one


def profiles_of(settings: Mapping[str, AgentSettings]) -> dict[str, Profile]:
    """The shipped profiles with the user's changes, and the user's own. Raises Misconfigured for an incomplete one."""
    profiles = dict(PROFILES)
    for name, own in settings.items():
        if not NAME.fullmatch(name):
            raise Misconfigured(f"[agents.{name}]: a name has small letters, digits, '-' and '_', 32 at most")
        given: dict[str, Any] = {key: value for key, value in msgspec.structs.asdict(own).items() if value is not None}
        if "command" in given:
            given["command"] = tuple(shlex.split(given["command"]))
        if "variables" in given:
            shipped = dict(profiles[name].variables) if name in profiles else {}
            given["variables"] = tuple({**shipped, **given["variables"]}.items())
        if name in profiles:
            profiles[name] = replace(profiles[name], **given)
            continue
        if missing := [key for key in ("command", "output", "permissions") if key not in given]:
            raise Misconfigured(f"[agents.{name}] needs {', '.join(missing)}: it is not an agent that Interlock knows")
        profiles[name] = Profile(title=name, **given)
    for name, profile in profiles.items():
        if (profile.permissions == "acp") != (profile.output == "acp"):
            raise Misconfigured(f"[agents.{name}]: output and permissions are both 'acp', or neither is")
        if profile.permissions == "hook" and profile.output == "text":
            raise Misconfigured(f"[agents.{name}]: output must be claude, codex or gemini, whose hooks are known")
    return profiles


def homes_of(project: Project) -> Path:
    return project.state_dir / "cli_agents" / "tickets" / project_key(project.root)


def cli_agents_of(project: Project, sandbox: Sandbox, env: Mapping[str, str]) -> LocalCliAgents:
    machine = Machine(
        sandbox,
        os.environ,
        env,
        homes_of(project),
        os.path.realpath(sys.executable),
        files("interlock.sandbox.jobs").joinpath("agent_shim.py").read_bytes(),
        HookSupport(hook_reply, _only_reads),
        lambda job, program: _trust_codex(sandbox, job, program),
    )
    return LocalCliAgents(profiles_of(project.settings.agents), machine)


def _only_reads(agent: str, tool: str) -> bool:
    return only_reads(agent, tool) or (agent == "claude" and tool in _STARTS_OTHERS)


class _InAgentsHome:
    """Runs jobs with the rights of the agent's own job, without network."""

    def __init__(self, sandbox: Sandbox, rights: Job) -> None:
        self._sandbox = sandbox
        self._rights = rights

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        return await self._sandbox.run(
            replace(self._rights, argv=job.argv, stdin=job.stdin, timeout_s=job.timeout_s), on_stdout
        )


async def _trust_codex(sandbox: Sandbox, job: Job, program: str) -> None:
    """Codex runs a hook only after it was trusted; only our own hook is in its home."""
    server = CodexServer(_InAgentsHome(sandbox, job), program, job.env)  # pyright: ignore[reportArgumentType]  only `run` is used
    ours = os.path.join(job.env["CODEX_HOME"], "hooks.json")
    own = [hook for hook in await server.hooks(job.cwd) if hook.source == ours]
    if not own:
        raise Misconfigured("this version of Codex does not find the hook in its home, so it would not ask")
    for hook in own:
        await server.trust(job.cwd, hook)
    await server.set_terminal_input(job.cwd, False)


class AgentState(msgspec.Struct, frozen=True):
    """An agent as this machine has it. `problem` says why it cannot be used; empty if it can."""

    name: str
    title: str
    program: str  # empty if it is not installed
    login: tuple[str, ...]
    permissions: str
    problem: str = ""
    version: str = ""
    answer: str = ""  # to a harmless question


async def agent_states(project: Project) -> list[AgentState]:
    """All agents, without starting one."""
    agents = await _agents_here(project)
    return [_state(agents, name) for name in profiles_of(project.settings.agents)]


async def try_agent(project: Project, name: str, *, call: bool) -> AgentState:
    """Starts the agent in the sandbox: its version, and with `call` one answer without tools, which may cost money."""
    agents = await _agents_here(project)
    state = _state(agents, name)
    if state.problem:
        return state
    try:
        state = replace(state, version=await agents.version(name))
        if call:
            answers = AgentAnswers(agents, homes_of(project) / f"try-{os.getpid()}")
            question = Message("user", "Answer with one word, without any tool: ok")
            reply = await answers.complete(ModelRequest("Test", None, None, "", (question,), ()), name, ignore_text)
            state = replace(state, answer=reply.message.text)
    except (Unavailable, Misconfigured) as error:
        return replace(state, problem=str(error))
    finally:
        await agents.close()
    return state


async def _agents_here(project: Project) -> LocalCliAgents:
    sandbox = await choose(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))
    return cli_agents_of(project, sandbox, stable_env())


def _state(agents: LocalCliAgents, name: str) -> AgentState:
    profile, program, problem = agents.profile(name), "", ""
    try:
        program = agents.program(profile)
        agents.terms(name)
    except Misconfigured as error:
        problem = str(error)
    return AgentState(name, profile.title, program, agents.login(profile), profile.permissions, problem)
