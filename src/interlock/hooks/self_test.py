"""Proves that a denied call does not run: the real agent, a scripted vendor on loopback, the hook's own command line.

Each run has a home and a project of its own, which are removed. The agent gets no variable of the user but PATH, and
another home, so it has no login. It runs outside the sandbox, and its network is not blocked: the address of its vendor
is the scripted one. Three runs: the hook denies, allows, or is not there.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.hooks.agents import Agent
from interlock.hooks.codex_trust import CodexServer
from interlock.hooks.dialects import is_offered
from interlock.hooks.installing import with_hook
from interlock.hooks.probes import Probe, opens_only, prepare, probes
from interlock.hooks.stand_in import Asked, StandIn, served
from interlock.ports.processes import Finished, Job, Sandbox

RUN_S = 90
"""The most seconds for one run of an agent."""

Mode = Literal["deny", "allow", "missing"]
MODES: tuple[Mode, ...] = ("deny", "allow", "missing")


class ToolReport(Struct, frozen=True):
    """One tool in one run. `offered` is False if this version of the agent has no such tool for the model."""

    mode: Mode
    model: str
    tool: str
    offered: bool
    asked: bool
    happened: bool
    right: bool


class SelfTest(Struct, frozen=True):
    agent: str
    version: str
    tools: tuple[ToolReport, ...]
    asked: tuple[str, ...]  # the names of tools that the hook was asked about
    not_asked: tuple[str, ...]  # the tools that the agent offers and that count as reading

    @property
    def passed(self) -> bool:
        tried = {mode: any(report.offered for report in self.tools if report.mode == mode) for mode in MODES}
        return all(tried.values()) and all(report.right for report in self.tools)


class Tester(Struct, frozen=True):
    """`program` is the agent's absolute path; `interlock` the words of the hook's program."""

    agent: Agent
    program: str
    interlock: tuple[str, ...]
    sandbox: Sandbox
    path: str

    async def run(self) -> SelfTest:
        version = await self._version()
        reports: list[ToolReport] = []
        asked: dict[str, None] = {}
        offered: dict[str, None] = {}
        models = await self._codex_models() if self.agent.name == "codex" else [""]
        for mode, model in product(MODES, models):
            stand_in, found = await self._run_once(mode, model)
            reports += found
            asked |= dict.fromkeys(question.tool for question in stand_in.asked)
            offered |= dict.fromkeys(stand_in.offered)
        unasked = tuple(sorted(tool for tool in offered if tool in self.agent.reads))
        return SelfTest(self.agent.name, version, tuple(reports), tuple(sorted(asked)), unasked)

    async def _version(self) -> str:
        with tempfile.TemporaryDirectory(prefix="interlock-hooks-") as folder:
            ended = await self._job((self.program, "--version"), folder, self._env(Path(folder)), 30)
        if not ended.succeeded:
            raise Misconfigured(f"{self.agent.title} does not start: {ended.ending} {ended.stderr[-300:]}".rstrip())
        return ended.stdout.strip().splitlines()[0]

    async def _run_once(self, mode: Mode, model: str) -> tuple[StandIn, list[ToolReport]]:
        top = Path(tempfile.mkdtemp(prefix="interlock-hooks-"))
        try:
            home, folder = top / "home", top / "project"
            home.mkdir()
            folder.mkdir()
            prepare(folder)
            tried = probes(self.agent.name, folder)

            def decide(question: Asked) -> bool:
                return mode == "allow" or opens_only(question)

            stand_in = StandIn(self.agent.dialect, [step for probe in tried for step in probe.steps], decide)
            with served(stand_in) as address:
                env = self._env(home) | {"INTERLOCK_ASK_URL": address, "INTERLOCK_ASK_TOKEN": stand_in.token}
                interlock = self.interlock if mode != "missing" else (str(top / "no-such-program"),)
                await self._set_up(home, folder, env, interlock)
                argv, more = self._command(address, model)
                ended = await self._job(argv, str(folder), env | more, RUN_S)
            if not stand_in.made:
                why = (ended.stderr or ended.stdout)[-500:].strip()
                raise Misconfigured(f"{self.agent.title} made no tool call in the self-test: {ended.ending} {why}")
            return stand_in, _reports(mode, model, tried, stand_in, folder)
        finally:
            shutil.rmtree(top, ignore_errors=True)

    async def _set_up(self, home: Path, folder: Path, env: Mapping[str, str], interlock: tuple[str, ...]) -> None:
        """The same entry as an installation writes."""
        file = self.agent.file("user", folder, env)
        file.parent.mkdir(parents=True, exist_ok=True)
        before: dict[str, Any] = {}
        if self.agent.name == "gemini":
            before = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        change = with_hook(self.agent, json.dumps(before) if before else None, interlock, "")
        file.write_text(change.after or "")
        if self.agent.name == "codex":
            server = CodexServer(self.sandbox, self.program, env)
            for hook in await server.hooks(str(folder)):
                await server.trust(str(folder), hook)
            await server.set_terminal_input(str(folder), False)

    def _command(self, address: str, model: str) -> tuple[Sequence[str], dict[str, str]]:
        """The agent's command line without questions of its own, and its variables."""
        match self.agent.name:
            case "claude":
                words = ("-p", "Go.", "--dangerously-skip-permissions", "--output-format", "stream-json", "--verbose")
                return (self.program, *words), {
                    "ANTHROPIC_BASE_URL": address,
                    "ANTHROPIC_API_KEY": "self-test",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "IS_SANDBOX": "1",  # else it refuses to start as root
                }
            case "codex":
                vendor = f'{{name="self-test",base_url="{address}/v1",wire_api="responses",env_key="SELF_TEST_KEY"}}'
                chosen = ("-c", "model_provider=self", "-c", f"model_providers.self={vendor}")
                named = ("-m", model) if model else ()
                words = ("exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", *chosen, *named, "Go.")
                return (self.program, *words), {"SELF_TEST_KEY": "self-test"}
            case "gemini":
                words = ("--yolo", "--model", "gemini-2.5-flash", "--output-format", "stream-json", "-p", "Go.")
                return (self.program, *words), {
                    "GOOGLE_GEMINI_BASE_URL": address,
                    "GEMINI_API_KEY": "self-test",
                    "GEMINI_CLI_TRUST_WORKSPACE": "true",
                }

    async def _codex_models(self) -> list[str]:
        """One model for each way of calling tools: Codex chooses the way, and the tools, by the model's name."""
        listed = bytearray()
        with tempfile.TemporaryDirectory(prefix="interlock-hooks-") as folder:
            env = self._env(Path(folder))
            job = Job(argv=(self.program, "debug", "models"), cwd=folder, env=env, timeout_s=30)
            await self.sandbox.run(job, listed.extend)
        try:
            models = json.loads(listed)["models"]
            patching = [model for model in reversed(models) if model.get("apply_patch_tool_type")]
            return list({str(model.get("tool_mode", "")): str(model["slug"]) for model in patching}.values()) or [""]
        except (ValueError, LookupError, TypeError, AttributeError):
            return [""]

    async def _job(self, argv: Sequence[str], folder: str, env: Mapping[str, str], timeout_s: float) -> Finished:
        return await self.sandbox.run(Job(argv=tuple(argv), cwd=folder, env=env, timeout_s=timeout_s))

    def _env(self, home: Path) -> dict[str, str]:
        path = os.pathsep.join((self.path, os.path.dirname(self.program)))
        return {"PATH": path, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1"}


def _reports(mode: Mode, model: str, tried: Sequence[Probe], stand_in: StandIn, folder: Path) -> list[ToolReport]:
    reports: list[ToolReport] = []
    names = {question.tool for question in stand_in.asked}
    for probe in tried:
        offered = is_offered(probe.tool, stand_in.offered) and any(call.tool == probe.tool for call in stand_in.made)
        happened, asked = probe.happened(folder), probe.asked_as in names
        # Without a question the agent may have refused the call for another reason, which proves nothing.
        proved = asked or not probe.asked_as or not offered or mode == "missing"
        wanted = mode == "allow" and probe.runs and offered
        reports.append(ToolReport(mode, model, probe.tool, offered, asked, happened, proved and happened == wanted))
    return reports
