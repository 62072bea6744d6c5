"""A worker: a model with tools that works on one ticket in one worktree.

Every message is stored beside the journal, so the conversation can stop at a question and continue after the answer,
in this process or the next. Model calls and tool calls in the sandboxed worktree are disposable: after a crash the
attempt is lost and a new one begins.
"""

import sys
from collections.abc import Awaitable, Callable
from posixpath import join, relpath

from msgspec import UNSET, Struct
from msgspec.structs import replace

from interlock.domain.checks.model_ladder import model_for
from interlock.domain.checks.test_tampering import ChangedFile, Texts, tampered_files, wanted_texts
from interlock.domain.messages.commands.attempt_commands import (
    AskWorker,
    FailWork,
    RedoAttempt,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.command import Command
from interlock.domain.values.approvals import SpawnPayload, digest
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import AGENT, Asking, Grant, Queued, Saved, Ticket, Working
from interlock.engine.agents.agent_worker import AgentWork
from interlock.engine.agents.analysis import RanScript, analysed
from interlock.engine.agents.context import JournalAccess, Toolbox
from interlock.engine.agents.conversation import unanswered
from interlock.engine.agents.dialogue import Answer, Dialogue, Question, Terms
from interlock.engine.agents.file_updates import Outline
from interlock.engine.agents.shown_files import TrackedFiles, no_outline
from interlock.engine.agents.ticket_host import Analyse, TicketHost
from interlock.engine.models.calls import ModelCalls
from interlock.engine.prompts.load import NO_OWN, OwnPrompts
from interlock.errors import Misconfigured, OverBudget, Unavailable
from interlock.ports.cli_agents import CliAgents
from interlock.ports.model import Message
from interlock.ports.tools import ToolOutcome, ToolPlace
from interlock.ports.workspaces import Workspace, Workspaces
from interlock.views.stream_keys import stream_key

TIER = "Tier 3"
_UNCHANGED = (
    "You reported the end of your work, but no file has changed. A person asks you to go on: make the change of your"
    " ticket, or start your answer with BLOCKED and say what keeps you from it."
)
HOW = (
    "set GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, DEEPSEEK_API_KEY or OPENROUTER_API_KEY, give --provider, or"
    " set [provider] name"
)
NO_PROVIDER = f"no model is configured for {{}} tickets; {HOW}"
_MOST_SCRIPT = 500_000  # bytes of a script or settings file that are searched for names


class Options(Struct, frozen=True, kw_only=True):
    """The settings of workers."""

    max_tool_rounds: int = 50
    analyse_failures: bool = True
    analyse_warnings: bool = True
    escalation: tuple[str, ...] = ()  # models to try after failures, weakest first
    test_paths: tuple[str, ...] = ()  # files that are tests
    prompts: OwnPrompts = NO_OWN


USUAL = Options()

MakeReady = Callable[[str, str, Workspace], Awaitable[Workspace | str]]
"""Puts packages and the files of the setup command into a ticket's new worktree; a text says why that failed."""


async def already_ready(track: str, ticket: str, workspace: Workspace) -> Workspace | str:
    return workspace


class Brief(Struct, frozen=True):
    """Everything a worker gets at its start."""

    system: str
    prompt: str
    context: str


class Worker:
    """Works on one ticket until it is done or has a question."""

    def __init__(
        self,
        calls: ModelCalls,
        toolbox: Toolbox,
        workspaces: Workspaces,
        journal: JournalAccess,
        brief: Callable[[Ticket, Workspace], Awaitable[Brief]],
        options: Options = USUAL,
        outline: Outline = no_outline,
        make_ready: MakeReady = already_ready,
        cli_agents: CliAgents | None = None,
        *,
        has_model: bool = True,
    ) -> None:
        self._calls = calls
        self._toolbox = toolbox
        self._tools = toolbox.tools
        self._workspaces = workspaces
        self._journal = journal
        self._texts = journal.texts
        self._brief = brief
        self._redact = journal.redact
        self._options = options
        self._outline = outline
        self._make_ready = make_ready
        self._cli_agents = cli_agents
        self._has_model = has_model

    async def work(self, ticket: Ticket) -> Command:
        """Returns the command that reports the result or asks the question."""
        name = (ticket.track, ticket.id, ticket.attempts)
        if not self._has_model and not self._agent_of(ticket):
            return FailWork(*name, NO_PROVIDER.format(ticket.spec.assigned_to))
        if ticket.unsaved is not None:
            left = await self._workspaces.current(ticket.track, ticket.id)
            if left is not None:
                return await self._submit_work(ticket, left, ticket.unsaved)
        if ticket.session:
            workspace = await self._workspaces.current(ticket.track, ticket.id)
            if workspace is None:
                return RedoAttempt(*name, "its folder was gone")
            brief = await self._brief(ticket, workspace)
            messages = [await self._texts.read_message(blob) for blob in ticket.session]
        else:
            if self._cli_agents is not None:  # one of an earlier attempt must not write into the new worktree
                await self._cli_agents.end(ticket.track, ticket.id)
            workspace = await self._workspaces.prepare(ticket.track, ticket.id)
            brief = await self._brief(ticket, workspace)
            asked = await self._may_start(ticket, brief)
            if isinstance(asked, AskWorker):
                return asked
            ready = await self._make_ready(ticket.track, ticket.id, workspace)
            if isinstance(ready, str):
                return FailWork(*name, ready)
            workspace = ready
            seen = await self._files(ticket, workspace).first_shown(())
            first = Message("user", asked, seen=seen)
            await self._journal.send(StartSession(*name, await self._texts.message(first)))
            messages = [first]
        return await self._converse(ticket, workspace, brief, messages)

    async def _converse(self, ticket: Ticket, workspace: Workspace, brief: Brief, messages: list[Message]) -> Command:
        name = (ticket.track, ticket.id, ticket.attempts)
        place = _place(workspace)
        if (agent := self._agent_of(ticket)) and self._cli_agents is not None:
            system = self._options.prompts.system("cli_agent")
            parts = (self._cli_agents, self._calls, self._journal, self._toolbox)
            work = AgentWork(agent, ticket, place, *parts, system)
            ended = await work.run(messages)
            return await self._submit_work(ticket, workspace, ended) if isinstance(ended, str) else ended
        party = CallOwner(track=ticket.track, ticket=ticket.id, attempt=ticket.attempts)
        changing = ticket.spec.changes_files
        terms = Terms(
            party,
            stream_key(self._journal.state(), party, TIER),
            TIER,
            brief.system,
            place,
            self._tools.offered(changing=changing),
            self._options.max_tool_rounds,
            model_for(ticket, self._options.escalation),
            found=lambda messages: self._toolbox.found(messages, changing),
        )
        host = TicketHost(ticket, TIER, place, self._journal, self._toolbox, self._analyst(party, ticket))
        if ticket.given_up:
            messages.append(await host.keep_lost(unanswered(messages)[0]))
        try:
            files = self._files(ticket, workspace)
            ended = await Dialogue(
                self._calls, self._tools, host, terms, messages, files, self._redact, self._journal.conceal
            ).run()
        except OverBudget as error:
            return FailWork(*name, str(error), budget=True)
        except Unavailable as error:
            return FailWork(*name, f"the model does not answer: {error}")
        match ended:
            case Question(payload, why, again_of, asked_by=rule):
                return AskWorker(*name, payload, why, again_of, rule)
            case Answer(text, limited=True):
                rounds = self._options.max_tool_rounds
                return FailWork(*name, f"the limit of {rounds} tool rounds was reached; its last text: {text[:500]}")
            case Answer(text):
                return await self._submit_work(ticket, workspace, text)

    def _agent_of(self, ticket: Ticket) -> str:
        """The CLI agent for this ticket; empty if a model works on it."""
        if ticket.spec.agent:
            return ticket.spec.agent
        model = model_for(ticket, self._options.escalation) or self._calls.default_model(TIER)
        return model.removeprefix(AGENT) if model.startswith(AGENT) and ticket.spec.changes_files else ""

    def _with_terms(self, ticket: Ticket, payload: SpawnPayload) -> SpawnPayload:
        """Raises Misconfigured if the ticket's agent cannot be used."""
        if not (agent := self._agent_of(ticket)):
            return payload
        if self._cli_agents is None:
            raise Misconfigured(f"the agent {agent!r} cannot be used here")
        terms = self._cli_agents.terms(agent)
        model = ticket.spec.model_override or terms.title
        return replace(payload, model=model, terms=terms.lines, unsupervised=UNSET if terms.supervised else True)

    def leave(self, ticket: Ticket) -> None:
        """Ends the ticket's agent, if one still runs although the attempt is over."""
        if self._cli_agents is not None and not isinstance(ticket.stage, Working | Asking | Queued):
            self._cli_agents.leave(ticket.track, ticket.id)

    async def forget(self, ticket: Ticket) -> None:
        """Ends the ticket's agent and removes what it stored."""
        if self._cli_agents is not None:
            await self._cli_agents.end(ticket.track, ticket.id, forget=True)

    async def close(self) -> None:
        if self._cli_agents is not None:
            await self._cli_agents.close()

    def _files(self, ticket: Ticket, workspace: Workspace) -> TrackedFiles:
        place, spec = _place(workspace), ticket.spec
        folder = relpath(workspace.path, place.root)  # the ticket's paths are relative to it
        named = [join(folder, name) for name in (spec.target_file, *spec.context_requirements) if name]
        return TrackedFiles(self._tools, place, self._texts, named, self._redact, self._outline)

    def _analyst(self, party: CallOwner, ticket: Ticket) -> Analyse:
        async def analyse(script: str, outcome: ToolOutcome) -> str:
            wanted = self._options.analyse_failures if outcome.exit_code else self._options.analyse_warnings
            if not wanted or outcome.exit_code is None or not (outcome.exit_code or outcome.warned):
                return ""
            ran = RanScript(ticket.spec.description, script, outcome.exit_code, self._redact(outcome.text))
            key = stream_key(self._journal.state(), party, "Tier 4")
            return await analysed(self._calls, party, key, ran, self._options.prompts)

        return analyse

    async def _submit_work(self, ticket: Ticket, workspace: Workspace, text: str) -> Command:
        name = (ticket.track, ticket.id, ticket.attempts)
        if text.lstrip().startswith("BLOCKED"):
            return FailWork(*name, text.lstrip().removeprefix("BLOCKED").lstrip(" :\n") or "the worker is blocked")
        if not ticket.spec.changes_files:
            return SubmitWork(*name, None, text[:2_000])
        try:
            saved = await self._workspaces.save(workspace, *name, ticket.spec.description or ticket.id)
        except Unavailable as error:
            return FailWork(*name, not_saved(str(error)), unsaved=text[:2_000])
        if saved.empty:
            again = await self._texts.message(Message("user", _UNCHANGED))
            return SubmitWork(*name, saved, text[:2_000], feedback=again)
        changes = await self._workspaces.changes(saved.base, saved.commit)
        texts = await self._judging_texts(changes, ticket, saved)
        spec = ticket.spec
        names = self._options.test_paths
        judges = tampered_files(changes, spec.verify, names, spec.target_file, texts, sys.stdlib_module_names)
        if not judges:
            return SubmitWork(*name, saved, text[:2_000])
        paths = [file.rpartition("@")[0] for file in judges]
        diff = self._redact(await self._workspaces.diff_of(saved.base, saved.commit, paths))
        return SubmitWork(*name, saved, text[:2_000], judges, *await self._texts.shortened(diff))

    async def _judging_texts(self, changes: tuple[ChangedFile, ...], ticket: Ticket, saved: Saved) -> Texts:
        before, after = wanted_texts(changes, ticket.spec.verify)

        async def read(commit: str, paths: tuple[str, ...]) -> dict[str, str]:
            contents = {path: await self._workspaces.read(commit, path) for path in paths}
            return {
                path: content[:_MOST_SCRIPT].decode(errors="replace")
                for path, content in contents.items()
                if isinstance(content, bytes)
            }

        return Texts(await read(saved.base, before), await read(saved.commit, after))

    async def _may_start(self, ticket: Ticket, brief: Brief) -> AskWorker | str:
        """The first message as it was approved, or the question whether the worker may start."""
        shown, whole = await self._texts.shortened(brief.context)
        model = model_for(ticket, self._options.escalation) or self._calls.default_model(TIER)
        payload = self._with_terms(ticket, SpawnPayload(ticket.spec.assigned_to, model, brief.prompt, shown, whole))
        for grant in (ticket.grant, ticket.spawn):
            if grant is not None:
                allowed, context = replace(payload, prompt=grant.edited or brief.prompt), brief.context
                if grant.context is not None:
                    allowed, context = replace(allowed, context=grant.context, context_blob=None), grant.context
                if digest(allowed) == grant.digest:
                    return _first(allowed.prompt, context, grant)
        name = (ticket.track, ticket.id, ticket.attempts)
        grant = ticket.grant
        if grant is None or self._journal.state().approval(grant.approval).kind != "spawn":
            return AskWorker(*name, payload, "a worker is about to start")
        if grant.edited is not None:
            payload = replace(payload, prompt=grant.edited)
        if grant.context is not None:
            payload = replace(payload, context=grant.context, context_blob=None)
        why = f"what the worker would get has changed since {grant.approval} was answered"
        return AskWorker(*name, payload, why, grant.approval)


def not_saved(why: str) -> str:
    return (
        f"the work is done, but it could not be saved: {why}; it stays in its folder, and 'interlock resume' (or retry)"
        " saves it without doing it again"
    )


def _first(prompt: str, context: str, grant: Grant) -> str:
    """Prompt and context, with a note for the model if a person changed them."""
    changed = [name for name, text in (("prompt", grant.edited), ("context", grant.context)) if text is not None]
    note = f"[A person changed the {' and the '.join(changed)} above before you began.]" if changed else ""
    return "\n\n".join(part for part in (prompt, context, note) if part).strip()


def _place(workspace: Workspace) -> ToolPlace:
    git = tuple(filter(None, (workspace.git_dir,)))
    return ToolPlace(workspace.root or workspace.path, git, surroundings=workspace.surroundings)
