"""Makes workers, planners and chats from tools, code views, models and the workbench."""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import partial

import msgspec
from msgspec import UNSET, Struct

from interlock.assembly.environment import explained, services_beside, tests_command
from interlock.assembly.project import Project, kept_text, plain_git, read_state
from interlock.assembly.secrets.redaction import Redact, redactor
from interlock.assembly.secrets.revealing import RevealingTools
from interlock.codeviews.python.structure import PythonStructure
from interlock.codeviews.syntax.detect import language_of
from interlock.codeviews.views.view import view
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.tickets import Ticket
from interlock.engine.agents.chat import Chat
from interlock.engine.agents.context import JournalAccess, Send, Toolbox
from interlock.engine.agents.last_answer import last_answer
from interlock.engine.agents.tool_outputs import with_reading
from interlock.engine.agents.worker import MakeReady, Options, Worker
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import Fetch, KeptTexts
from interlock.engine.models.calls import ModelCalls
from interlock.engine.planning.briefing import BriefBlock, Briefing
from interlock.engine.planning.planner import Planner
from interlock.engine.planning.survey import Surveyor
from interlock.ports.processes import Sandbox
from interlock.ports.secrets import Vault
from interlock.ports.services import Services
from interlock.ports.tools import Preview, ToolPlace
from interlock.ports.work import Policy
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
    ) -> None:
        self._project = project
        self._make_ready = make_ready
        self._workbench = workbench
        self._fetch = fetch
        self._texts = KeptTexts(workbench.keep, fetch)
        self._workspaces = workspaces
        self._calls = calls
        self._redact = redact
        self._vault = machine.vault
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
        )
        self._toolbox = Toolbox(RevealingTools(tools, machine.vault), script_terms, policy, machine.check)

    def worker(self, send: Send) -> Worker:
        briefing = Briefing(self._workspaces.read, FileViews(self._project.names), self._redact, self._answer)
        settings = self._project.settings.conductor
        options = Options(
            max_tool_rounds=settings.max_tool_rounds,
            analyse_failures=settings.analyse_failures,
            analyse_warnings=settings.analyse_warnings,
            escalation=settings.escalation,
            test_paths=self._project.settings.gates.test_paths,
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
        )

    def planner(self, send: Send) -> Planner:
        surveyor = Surveyor(self._workspaces, FileViews(self._project.names))
        return Planner(self._calls, surveyor, self._journal(send), partial(tests_command, self._project.root))

    def chat(self, send: Send) -> Chat:
        rounds = self._project.settings.conductor.discussion_tool_rounds
        place = ToolPlace(str(self._project.root))
        return Chat(self._calls, self._toolbox, place, self._journal(send), rounds)

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

    blocks = await Briefing(looking.read, FileViews(project.names), redactor(os.environ), answer).blocks(ticket, commit)
    off = project.settings.tools.off
    services = services_beside(project.settings.workspace, git)
    offered = WorkerTools(git, {}, PythonStructure(), project.names, off=off, services=services).offered(
        changing=ticket.spec.assigned_to == "tier3-worker"
    )
    sent = with_reading(offered)
    specs = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in sent]
    return commit, (*blocks, BriefBlock("tools", str(len(specs)), "", msgspec.json.encode(specs).decode()))


def _outline(path: str, text: str) -> str:
    content = text.encode(errors="replace")
    return view("outline", content, language_of(path, content)).decode(errors="replace")
