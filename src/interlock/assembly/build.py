"""The composition root: settings in, a running workbench out. Only this module knows who plays which role."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from random import random
from secrets import token_hex

from msgspec.structs import replace

from interlock.api.control import ControlServer
from interlock.assembly.agents import Agents, FileViews
from interlock.assembly.logs.session_logs import SessionLogs
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.project import (
    Project,
    hidden_folders,
    limits_of,
    make_project,
    plain_git,
    policy_of,
    remove_artifacts,
    trusted_network,
    trusted_setup,
)
from interlock.assembly.redaction import redacted_bytes, redactor
from interlock.assembly.settings.settings import Budgets, Models
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.envelopes import SYSTEM, Actor
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Caps, Micros
from interlock.domain.values.gates import GateDefaults
from interlock.engine.agents.chat import say_command
from interlock.engine.agents.judge import JudgedGates
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import Fetch, KeptTexts
from interlock.engine.effects import landing
from interlock.engine.effects.conductor import Conductor
from interlock.engine.effects.test_retention import Retention
from interlock.engine.models.activity import Activity
from interlock.engine.models.calls import ModelCalls
from interlock.engine.models.streams import Streams
from interlock.engine.planning.survey import Surveyor
from interlock.errors import BadValue, InterlockError, Misconfigured
from interlock.journal.sqlite import SqliteJournal
from interlock.policy.verdict import PersonOnly
from interlock.ports.front import Following, Receipt
from interlock.ports.processes import Sandbox
from interlock.ports.work import Policy
from interlock.runners.gate import ShellGates
from interlock.runners.script import LocalCrew
from interlock.runners.setup import WorkspaceSetup
from interlock.sandbox.levels.choose import choose
from interlock.sandbox.limits.environment import clean_env
from interlock.trackfiles.writing import TrackFiles, TrackWriter
from interlock.workspaces.git_workspaces import GitWorkspaces


class SystemClock:
    """Asked for every command, so the part that changes once a second is kept."""

    def __init__(self) -> None:
        self._second = -1
        self._prefix = ""

    def now(self) -> str:
        second, nanos = divmod(time.time_ns(), 1_000_000_000)
        if second != self._second:
            self._second = second
            self._prefix = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._prefix}.{nanos // 1000:06d}Z"


class RandomIds:
    def new(self) -> str:
        return token_hex(8)


class OpenWorkbench:
    """A workbench open for writing. With a conductor tickets run; without one commands are only recorded."""

    def __init__(
        self,
        workbench: Workbench,
        workspaces: GitWorkspaces,
        conductor: Conductor | None,
        sandbox_level: str,
        files: TrackFiles,
        root: Path,
        fetch: Fetch,
        streams: Streams,
        activity: Activity,
        logs: SessionLogs,
        use_model: Callable[[ModelMaker], None],
        close_models: Callable[[], Awaitable[None]],
        retention: Retention,
    ) -> None:
        self.use_model = use_model
        self._close_models = close_models
        self._retention = retention
        self.activity = activity
        self.logs = logs
        self.workbench = workbench
        self.streams = streams
        self._root = root
        self.fetch = fetch
        self._files = files
        self._workspaces = workspaces
        self._conductor = conductor
        self._control: ControlServer | None = None
        self.stop_asked = asyncio.Event()
        self.sandbox_level = sandbox_level

    @property
    def state(self) -> State:
        return self.workbench.state

    @property
    def warnings(self) -> tuple[str, ...]:
        """What did not work and harms nothing."""
        return (*self._files.warnings, *self.logs.warnings)

    async def submit(self, actor: Actor, command: Command) -> Receipt:
        match command:  # these stand in the journal as they were said
            case Tell(text):
                command = replace(command, text=redactor(os.environ)(text))
            case StartDiscussion(title):
                command = replace(command, title=redactor(os.environ)(title))
            case _:
                pass
        receipt = await self.workbench.submit(actor, command)
        if self._conductor is None:
            await self._land_approved()
        return receipt

    def follow(self, after: int) -> Following:
        return self.workbench.follow(after)

    async def ask_landing(self, actor: Actor, track: str) -> Receipt:
        await self._workspaces.open()
        return await landing.ask_landing(self.workbench, self._workspaces, actor, track)

    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt:
        """The user's words in a discussion about a folder of the project, or all of it."""
        found = self.workbench.state.discussion(discussion)
        if self._conductor is None:
            await self._workspaces.open()
        about = await Surveyor(self._workspaces, FileViews()).orientation()
        texts = KeptTexts(self.workbench.keep, self.fetch)
        redact = redactor(os.environ)
        command = await say_command(texts, found, redact(text), redact(about), self._folder(base_dir))
        return await self.workbench.submit(actor, command)

    def _folder(self, named: str) -> str:
        folder = (self._root / named).resolve()
        if not folder.is_relative_to(self._root.resolve()) or not folder.is_dir():
            raise BadValue(f"{named!r} is not a folder of this project: a discussion is about one, or about all of it")
        return str(folder)

    async def dirty(self) -> tuple[str, ...]:
        """Changes of the user's that are not committed, and so not in any worktree."""
        return await self._workspaces.dirty()

    async def serve(self, path: Path) -> None:
        self._control = ControlServer(self, path, self.stop_asked.set)
        await self._control.start()

    async def close(self, reason: str = "the workbench was closed") -> None:
        if self._conductor is not None:
            await self._conductor.stop(reason)
        await self._close_models()
        self.workbench.end_following()
        if self._control is not None:
            await self._control.stop()
        await self._retention.close()
        await self.workbench.settled()
        await self._files.close(self.workbench.state)  # while the lock is still ours: nobody writes newer ones
        await self.workbench.close()
        self.logs.close()

    def show_tracks(self) -> None:
        """From now on the tracks are also written for people."""
        self.workbench.on_durable(lambda _, state: self._files.show(state))
        self._files.show(self.workbench.state)

    async def _land_approved(self) -> None:
        """Nobody else would: a landing that was approved happens now."""
        state = self.workbench.state
        for track_id in state.track_order:
            found = state.tracks[track_id].landing
            if found is not None and found.state == "started":
                await self._workspaces.open()
                outcome = await landing.do_landing(state.tracks[track_id], self._workspaces)
                await self.workbench.submit(SYSTEM, outcome)


def tune_process() -> None:
    """For a process with an engine in it: threads take turns quickly, and the collector does not keep looking
    through a large state in which nothing is ever garbage.
    """
    sys.setswitchinterval(0.0005)
    gc.set_threshold(50_000, 20, 100)


async def open_workbench(
    project: Project, conduct: StartConductor | None, *, sample: bool = False, model: ModelMaker | None = None
) -> OpenWorkbench:
    """Take the project's lock, read its journal, put right what a crash left, and serve the private socket.

    A `sample` project is our own: only there may work go on without a sandbox that the user did not switch off.
    """
    tune_process()
    sandbox = await _sandbox(project, conduct, sample=sample) if conduct else None
    setup = trusted_setup(project) if conduct else None
    make_project(project)
    clock = SystemClock()
    journal = SqliteJournal(project.folder)
    workbench, opened = None, None
    try:
        state = load_state(journal)
        workbench = Workbench(
            journal, clock, RandomIds(), state, checkpoint_every=project.settings.journal.checkpoint_every
        )
        workspaces = GitWorkspaces(project.root, project.state_dir, sandbox or await plain_git())
        conductor, use_model, close_models = None, _no_model, _nothing_to_close
        streams, activity = Streams(), Activity()
        logs = SessionLogs(project.folder, clock.now, redactor(os.environ), project.settings.logs.keep_days)
        activity.listen(logs.tools.hear)
        if conduct is not None and sandbox is not None:
            conductor, use_model, close_models = await _conductor(
                project, workbench, journal, workspaces, sandbox, setup, conduct, clock, model, streams, activity, logs
            )
        elif state.conductor.on or state.busy:
            await workbench.submit(SYSTEM, Recover("the process that ran it is gone"))
        files = TrackFiles(TrackWriter(project.root, project.settings.tracks_dir).write)
        if conductor is None:
            await _keep_out_of_git(project, workspaces, files)
        level = sandbox.level if sandbox else ""
        fetch = journal.get_blob
        retention = await _retention(project, workbench, clock)
        opened = OpenWorkbench(
            workbench,
            workspaces,
            conductor,
            level,
            files,
            project.root,
            fetch,
            streams,
            activity,
            logs,
            use_model,
            close_models,
            retention,
        )
        await opened.serve(project.socket)
        opened.show_tracks()
    except BaseException:
        # The thread that writes the journal may be at it: where there is one, it alone may close it.
        if opened is not None:
            await opened.close("it was not opened")
        elif workbench is not None:
            await workbench.close()
        else:
            journal.close()
        raise
    return opened


async def _retention(project: Project, workbench: Workbench, clock: SystemClock) -> Retention:
    most = project.settings.tests
    made = Retention(workbench, clock, most.keep, most.keep_days, lambda paths: remove_artifacts(project, paths))
    workbench.on_durable(made.react)
    await made.start()
    return made


async def _keep_out_of_git(project: Project, workspaces: GitWorkspaces, files: TrackFiles) -> None:
    """Commands that only record need no git: where it does not work, that is said and no more."""
    try:
        await workspaces.exclude(project.not_in_git)
    except InterlockError as error:
        files.warn(f"git may show {', '.join(project.not_in_git)} as new: {error}")


def _stable_env() -> dict[str, str]:
    """The same names in a terminal and outside one: they are part of what an approval allows."""
    usual = {"TERM": "dumb", "LANG": "C.UTF-8", "SHELL": "/bin/sh", "USER": "user", "LOGNAME": "user"}
    # Python's bytecode is told apart by seconds and size only: a gate could run what an edit has just replaced.
    return {**usual, **clean_env(os.environ), "PYTHONDONTWRITEBYTECODE": "1"}


async def _sandbox(project: Project, conduct: StartConductor, *, sample: bool) -> Sandbox:
    try:
        sandbox = await choose(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))
    except Misconfigured:
        if not sample:
            raise
        return await choose("off")
    if sandbox.level == "off" and conduct.approve_all and not sample:
        raise Misconfigured(
            "with the sandbox off every script is answered by a person: --approve all is not possible then"
        )
    return sandbox


async def _conductor(
    project: Project,
    workbench: Workbench,
    journal: SqliteJournal,
    workspaces: GitWorkspaces,
    sandbox: Sandbox,
    setup_command: str | None,
    conduct: StartConductor,
    clock: SystemClock,
    model: ModelMaker | None,
    streams: Streams,
    activity: Activity,
    logs: SessionLogs,
) -> tuple[Conductor, Callable[[ModelMaker], None], Callable[[], Awaitable[None]]]:
    env = _stable_env()
    await workspaces.open()
    await workspaces.exclude(project.not_in_git)
    redact = redactor(os.environ)
    setup = WorkspaceSetup(sandbox, env, setup_command, project.settings.workspace.setup_timeout_s)
    crew = LocalCrew(sandbox, workspaces, env, setup, redact, logs.script)
    shell = ShellGates(
        sandbox,
        workspaces,
        lambda content: journal.put_blob(redacted_bytes(redact, content)),
        env,
        conduct.gates,
        setup,
        redact,
    )
    policy: Policy = policy_of(project)
    if sandbox.level == "off":
        policy = PersonOnly(policy)
    agents, use_model, calls = None, _no_model, None
    if model is not None:
        calls = ModelCalls(
            model(sandbox, logs.cli.write),
            lambda command: workbench.submit(SYSTEM, command),
            streams,
            random,
            comms=logs.comms.write,
            max_in_flight=project.settings.provider.max_in_flight,
            usual=_usual(project.settings.models),
            activity=activity,
            requests_per_minute=project.settings.provider.requests_per_minute,
        )

        use_model = _chooser(calls, sandbox, logs)

        agents = Agents(
            project, workbench, journal.get_blob, workspaces, sandbox, env, calls, redact, logs.script, policy
        )
    gates = JudgedGates(shell, calls, workspaces, lambda: workbench.state)
    conductor = Conductor(
        workbench,
        workspaces,
        crew,
        gates,
        policy,
        clock,
        agents.worker if agents else None,
        agents.planner if agents else None,
        agents.chat if agents else None,
    )
    await conductor.start(conduct)
    return conductor, use_model, calls.close if calls else _nothing_to_close


def _chooser(calls: ModelCalls, sandbox: Sandbox, logs: SessionLogs) -> Callable[[ModelMaker], None]:
    return lambda maker: calls.use(maker(sandbox, logs.cli.write))


async def _nothing_to_close() -> None:
    pass


def _no_model(maker: ModelMaker) -> None:
    raise Misconfigured("this workbench runs nothing: it has no use for a model")


def conducting(
    project: Project,
    *,
    auto_queue: bool,
    approve_all: bool,
    workers: int | None,
    focus: tuple[str, ...] | None = None,
) -> StartConductor:
    settings = project.settings
    return StartConductor(
        workers=settings.conductor.workers if workers is None else workers,
        auto_queue=auto_queue or settings.conductor.auto_queue,
        approve_all=approve_all,
        gates=GateDefaults(
            settings.gates.max_attempts, settings.gates.timeout_s, settings.gates.stuck_after, trusted_network(project)
        ),
        deadline_s=settings.approvals.deadline_s or None,
        caps=_caps(settings.budgets),
        focus=focus,
    )


def _usual(models: Models) -> dict[str, str]:
    chosen = {
        "Tier 1": models.tier1,
        "Tier 2": models.tier2,
        "Tier 3": models.tier3,
        "Tier 4": models.tier4,
        "Discussion": models.discussion,
    }
    return {tier: model for tier, model in chosen.items() if model}


def _caps(budgets: Budgets) -> Caps:
    tiers = {
        "Tier 1": budgets.tier1_usd,
        "Tier 2": budgets.tier2_usd,
        "Tier 3": budgets.tier3_usd,
        "Tier 4": budgets.tier4_usd,
    }
    return Caps(
        _micros(budgets.epic_usd),
        _micros(budgets.track_usd),
        _micros(budgets.ticket_usd),
        tuple((tier, most) for tier, usd in tiers.items() if (most := _micros(usd)) is not None),
    )


def _micros(usd: float) -> Micros | None:
    return int(usd * 1_000_000) if usd else None
