"""Who the agents are: workers, planners and chats, put together from tools, views, models and the workbench."""

import asyncio
import os
from collections.abc import Callable, Mapping

import msgspec

from interlock.assembly.project import Project, kept_text, plain_git, read_state
from interlock.assembly.redaction import Redact, redactor
from interlock.codeviews.folders.secrets import is_secret
from interlock.codeviews.python.structure import PythonStructure
from interlock.codeviews.syntax.detect import language_of
from interlock.codeviews.views.view import view
from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.tickets import Ticket
from interlock.engine.agents.chat import Chat
from interlock.engine.agents.last_answer import last_answer
from interlock.engine.agents.tool_outputs import with_reading
from interlock.engine.agents.worker import Options, Send, Worker
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import Fetch
from interlock.engine.models.calls import ModelCalls
from interlock.engine.planning.briefing import BriefBlock, Briefing
from interlock.engine.planning.planner import Planner
from interlock.engine.planning.survey import Surveyor
from interlock.ports.processes import Sandbox
from interlock.ports.tools import ToolPlace
from interlock.ports.work import Policy
from interlock.tools.files.names import refusal
from interlock.tools.registry import WorkerTools
from interlock.workspaces.git_workspaces import GitWorkspaces
from interlock.workspaces.read_only import ReadOnlyFiles


class FileViews:
    """What of a file a worker is shown: bodies only where they matter."""

    def curated(self, path: str, content: bytes) -> str:
        return view("curated", content, language_of(path, content)).decode(errors="replace")

    def skeleton(self, path: str, content: bytes) -> str:
        return view("skeleton", content, language_of(path, content)).decode(errors="replace")

    def is_secret(self, path: str) -> bool:
        """What no view shows, and what no tool would open either."""
        return is_secret(path) or refusal(tuple(path.split("/"))) is not None


class Agents:
    """One of each kind for a conductor; `send` is how they report."""

    def __init__(
        self,
        project: Project,
        workbench: Workbench,
        fetch: Fetch,
        workspaces: GitWorkspaces,
        sandbox: Sandbox,
        env: Mapping[str, str],
        calls: ModelCalls,
        redact: Redact,
        before_script: Callable[[str], None],
        policy: Policy,
    ) -> None:
        self._policy = policy
        self._project = project
        self._workbench = workbench
        self._fetch = fetch
        self._workspaces = workspaces
        self._env_names = tuple(sorted(env))
        self._level = sandbox.level
        self._calls = calls
        self._redact = redact
        self._tools = WorkerTools(sandbox, env, PythonStructure(), before_script)

    def worker(self, send: Send) -> Worker:
        briefing = Briefing(self._workspaces.read, FileViews(), self._redact, self._answer)
        settings = self._project.settings.conductor
        options = Options(
            max_tool_rounds=settings.max_tool_rounds,
            analyse_failures=settings.analyse_failures,
            escalation=settings.escalation,
            test_paths=self._project.settings.gates.test_paths,
        )
        return Worker(
            self._calls,
            self._tools,
            self._workspaces,
            self._workbench.keep,
            self._fetch,
            send,
            lambda: self._workbench.state,
            lambda _, script, directory, call: self._script(script, directory, call),
            briefing.brief,
            self._redact,
            options,
            _outline,
            self._policy,
        )

    def planner(self, send: Send) -> Planner:
        workbench, surveyor = self._workbench, Surveyor(self._workspaces, FileViews())
        return Planner(self._calls, surveyor, workbench.keep, self._fetch, send, lambda: workbench.state, self._redact)

    def chat(self, send: Send) -> Chat:
        workbench, place = self._workbench, ToolPlace(str(self._project.root))
        return Chat(
            self._calls,
            self._tools,
            place,
            workbench.keep,
            self._fetch,
            send,
            lambda: workbench.state,
            self._script,
            self._redact,
            self._project.settings.conductor.discussion_tool_rounds,
            self._policy,
        )

    async def _answer(self, track: str, ticket: str) -> str | None:
        return await asyncio.to_thread(last_answer, self._workbench.state.track(track).tickets[ticket], self._fetch)

    def _script(self, script: str, directory: str, call: str) -> ScriptPayload:
        return ScriptPayload(script, directory, self._env_names, self._level, call=call)


async def worker_context(
    project: Project, ticket: Ticket, base: str | None = None
) -> tuple[str, tuple[BriefBlock, ...]]:
    """Exactly what a worker of this ticket would be sent now, and the commit its files are of. Nothing is changed."""
    git = await plain_git()
    looking = ReadOnlyFiles(project.root, git)
    commit = await looking.base(ticket.track) if base is None else base

    async def answer(track: str, name: str) -> str | None:
        before = read_state(project).track(track).tickets[name]
        return last_answer(before, lambda text: kept_text(project, text))

    blocks = await Briefing(looking.read, FileViews(), redactor(os.environ), answer).blocks(ticket, commit)
    offered = WorkerTools(git, {}, PythonStructure()).offered(changing=ticket.spec.assigned_to == "tier3-worker")
    sent = with_reading(offered)
    told = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in sent]
    return commit, (*blocks, BriefBlock("tools", str(len(told)), "", msgspec.json.encode(told).decode()))


def _outline(path: str, text: str) -> str:
    content = text.encode(errors="replace")
    return view("outline", content, language_of(path, content)).decode(errors="replace")
