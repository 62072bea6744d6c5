"""Makes workers, planners and chats from tools, code views, models and the workbench."""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import partial

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from interlock.assembly.environment import explained, services_beside, tests_command
from interlock.assembly.project import Project, kept_text, plain_git, read_state
from interlock.assembly.secrets.redaction import Redact, redactor
from interlock.assembly.secrets.revealing import RevealingTools
from interlock.assembly.tool_servers.book import ProjectServers
from interlock.assembly.tools.web import web_of
from interlock.cli_workers.local import LocalCliAgents
from interlock.codeviews.python.structure import PythonStructure
from interlock.codeviews.syntax.detect import language_of
from interlock.codeviews.views.view import view
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.tickets import AGENT, Ticket
from interlock.engine.agents.chat import Chat
from interlock.engine.agents.context import JournalAccess, Send, Toolbox
from interlock.engine.agents.last_answer import last_answer
from interlock.engine.agents.tool_calls.tool_outputs import with_reading
from interlock.engine.agents.worker import MakeReady, Options, Worker
from interlock.engine.bench.concealing import conceal_texts
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import Fetch, KeptTexts
from interlock.engine.models.calls import ModelCalls
from interlock.engine.planning.briefing import BriefBlock, Briefing
from interlock.engine.planning.planner import Planner
from interlock.engine.planning.survey import Surveyor
from interlock.engine.prompts.load import TIER_PROMPTS, OwnPrompts, Tier
from interlock.mcp_tools.tools import ToolsWithServers
from interlock.ports.effects import Effects
from interlock.ports.processes import Sandbox
from interlock.ports.secrets import Vault
from interlock.ports.services import Services
from interlock.ports.tools import Preview, ToolPlace
from interlock.ports.work import Policy
from interlock.tools.catalogue import UiFigures, Web
from interlock.tools.registry import WorkerTools
from interlock.workspaces.git_workspaces import GitWorkspaces
from interlock.workspaces.read_only import ReadOnlyFiles


class FileViews:
    """Implements `CodeViews`: function bodies only where they matter."""

    def __init__(self, names: ClosedNames) -> None:
        self._names = names

    def curated(self, path: str, content: bytes) -> str:
        return view("curated", content, language_of(path, content)).decode(errors="replace")

    def skeleton(self, path: str, content: bytes) -> str:
        return view("skeleton", content, language_of(path, content)).decode(errors="replace")

    def is_secret(self, path: str) -> bool:
        """Also true for names that no tool would open."""
        return self._names.is_closed(path)


class Machine(Struct, frozen=True):
    """Where the agents' commands run. `before_script` is called with each script right before it runs.

    `check` is called right before each change of an agent.
    """

    sandbox: Sandbox
    env: Mapping[str, str]
    before_script: Callable[[str], None]
    check: Callable[[], None]
    vault: Vault
    services: Services | None = None
    effects: Effects | None = None
    web: Web | None = None
    figures: Callable[[], UiFigures] = UiFigures


class Agents:
    """Makes the agents of a conductor; `send` submits their reports."""

    def __init__(
        self,
        project: Project,
        workbench: Workbench,
        fetch: Fetch,
        workspaces: GitWorkspaces,
        calls: ModelCalls,
        machine: Machine,
        policy: Policy,
        redact: Redact,
        make_ready: MakeReady,
        cli_agents: LocalCliAgents | None = None,
        *,
        has_model: bool = True,
    ) -> None:
        """`has_model` is False if only agents work: then no discussion is possible, and planning only by an agent."""
        self._project = project
        self._make_ready = make_ready
        self._cli_agents = cli_agents
        self._has_model = has_model
        self._workbench = workbench
        self._fetch = fetch
        self._texts = KeptTexts(workbench.keep, fetch)
        self._workspaces = workspaces
        self._calls = calls
        self._redact = redact
        self._vault = machine.vault
        self._prompts = prompts_of(project)
        env_names, level = tuple(sorted(machine.env)), machine.sandbox.level

        def script_terms(shown: Preview, directory: str, call: str) -> ScriptPayload:
            services = machine.services if shown.services else None
            names = tuple(sorted({*env_names, *services.variables})) if services else env_names
            beside = services.shown if services else UNSET
            return ScriptPayload(shown.script or "", directory, names, level, call=call, services=beside)

        off = project.settings.tools.off
        tools = WorkerTools(
            machine.sandbox,
            machine.env,
            PythonStructure(),
            project.names,
            machine.before_script,
            off,
            machine.services,
            partial(explained, project),
            machine.web,
            machine.figures,
        )
        servers = ProjectServers(project, machine.env)
        self._tools = ToolsWithServers(tools, servers, machine.sandbox, project.settings.mcp.tool_budget)
        self._toolbox = Toolbox(
            RevealingTools(self._tools, machine.vault),
            script_terms,
            policy,
            machine.check,
            found=lambda messages, changing: self._tools.found(messages, changing=changing),
            passed=machine.before_script,
            reveal=lambda args: conceal_texts(args, machine.vault.reveal, machine.vault.reveal),
        )
        self._effects = machine.effects

    async def close(self) -> None:
        """Ends the MCP servers that were started."""
        await self._tools.close()

    def worker(self, send: Send) -> Worker:
        briefing = Briefing(
            self._workspaces.read, FileViews(self._project.names), self._redact, self._answer, self._prompts
        )
        settings = self._project.settings.conductor
        options = Options(
            max_tool_rounds=settings.max_tool_rounds,
            analyse_failures=settings.analyse_failures,
            analyse_warnings=settings.analyse_warnings,
            escalation=settings.escalation,
            test_paths=self._project.settings.gates.test_paths,
            prompts=self._prompts,
        )
        journal = self._journal(send)
        return Worker(
            self._calls,
            self._toolbox,
            self._workspaces,
            journal,
            briefing.brief,
            options,
            _outline,
            self._make_ready,
            self._cli_agents,
            has_model=self._has_model,
        )

    def planner(self, send: Send) -> Planner | None:
        if not self._has_model and not self._calls.default_model("Tier 1").startswith(AGENT):
            return None
        surveyor = Surveyor(self._workspaces, FileViews(self._project.names))
        find_tests = partial(tests_command, self._project.root)
        return Planner(self._calls, surveyor, self._journal(send), find_tests, self._prompts)

    def chat(self, send: Send) -> Chat | None:
        if not self._has_model:
            return None
        rounds = self._project.settings.conductor.discussion_tool_rounds
        place = ToolPlace(str(self._project.root))
        toolbox = replace(self._toolbox, effects=self._effects)
        return Chat(self._calls, toolbox, place, self._journal(send), rounds, self._prompts)

    def _journal(self, send: Send) -> JournalAccess:
        return JournalAccess(self._texts, send, lambda: self._workbench.state, self._redact, self._vault.conceal)

    async def _answer(self, track: str, ticket: str) -> str | None:
        return await asyncio.to_thread(last_answer, self._workbench.state.track(track).tickets[ticket], self._fetch)


async def worker_context(
    project: Project, ticket: Ticket, base: str | None = None
) -> tuple[str, tuple[BriefBlock, ...]]:
    """The commit of the ticket's files, and exactly what its worker would be sent now. Changes nothing."""
    git = await plain_git()
    looking = ReadOnlyFiles(project.root, git)
    commit = await looking.base(ticket.track) if base is None else base

    async def answer(track: str, name: str) -> str | None:
        before = read_state(project).track(track).tickets[name]
        return last_answer(before, lambda text: kept_text(project, text))

    briefing = Briefing(looking.read, FileViews(project.names), redactor(os.environ), answer, prompts_of(project))
    blocks = await briefing.blocks(ticket, commit)
    off = project.settings.tools.off
    services = services_beside(project.settings.workspace, git)
    tools = WorkerTools(
        git, {}, PythonStructure(), project.names, off=off, services=services, web=web_of(project.settings)
    )
    offered = tools.offered(changing=ticket.spec.changes_files)
    sent = with_reading(offered)
    specs = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in sent]
    return commit, (*blocks, BriefBlock("tools", str(len(specs)), "", msgspec.json.encode(specs).decode()))


def prompts_of(project: Project) -> OwnPrompts:
    settings = project.settings.prompts
    texts: dict[Tier, str] = {tier: getattr(settings, tier) or "" for tier in TIER_PROMPTS}
    return OwnPrompts(texts, settings.mode == "replace")


def tier_prompts(project: Project, tier: Tier) -> tuple[BriefBlock, ...]:
    """The system prompts of a tier, exactly as they are sent."""
    prompts, redact = prompts_of(project), redactor(os.environ)
    return tuple(
        BriefBlock("system", name, prompts.note(name), redact(prompts.system(name))) for name in TIER_PROMPTS[tier]
    )


def _outline(path: str, text: str) -> str:
    content = text.encode(errors="replace")
    return view("outline", content, language_of(path, content)).decode(errors="replace")
