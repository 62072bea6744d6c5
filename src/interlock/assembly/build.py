"""The composition root: makes a running workbench from settings. Only here are ports bound to implementations."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from random import random
from secrets import token_hex

from msgspec import Struct
from msgspec.structs import replace

from interlock.assembly.agents import Agents, Machine
from interlock.assembly.answer_check import AnswerCheck
from interlock.assembly.cli_agents import cli_agents_of, homes_of
from interlock.assembly.environment import (
    environments_of,
    explained,
    first_hint,
    services_beside,
    stable_env,
    tests_command,
)
from interlock.assembly.logs.session_logs import SessionLogs
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.open_workbench import Conducting, ModelSlot, Monitors, OpenWorkbench, Storage, WindowSlot
from interlock.assembly.project import (
    Project,
    believed,
    hidden_folders,
    identity_check,
    keep_out_of_git,
    limits_of,
    make_project,
    plain_git,
    policy_of,
    remove_artifacts,
    trusted_network,
    trusted_workspace,
    trusts_include,
)
from interlock.assembly.restoring.undoing import previews_of, settle, undo_store, waited_for
from interlock.assembly.secrets.redaction import redacted_bytes, redactor
from interlock.assembly.secrets.revealing import RevealingPolicy
from interlock.assembly.secrets.sweep import SecretSweep
from interlock.assembly.secrets.vault import SecretVault
from interlock.assembly.settings.settings import Budgets, Models, WorkspaceSettings
from interlock.assembly.tools.web import web_of
from interlock.cli_workers.agent_model import AgentAnswers, RoutedModel
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.state import State
from interlock.domain.values.autonomy import CONTAINING, Autonomy
from interlock.domain.values.budgets import Caps, Micros
from interlock.domain.values.gates import GateDefaults
from interlock.engine.agents.chat import end_orphaned_calls
from interlock.engine.agents.judge import JudgedGates
from interlock.engine.agents.last_answer import last_answer
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import KeptTexts
from interlock.engine.effects.conductor import Conductor
from interlock.engine.effects.deadlines import deny_overdue
from interlock.engine.effects.landing import finish_landings, needs_finishing
from interlock.engine.effects.test_retention import Retention
from interlock.engine.models.activity import Activity
from interlock.engine.models.calls import CallLimits, ModelCalls, Observers, Timing
from interlock.engine.models.streams import Streams
from interlock.errors import InterlockError, Misconfigured
from interlock.journal.sqlite import SqliteJournal
from interlock.policy.verdict import PersonOnly
from interlock.ports.model import Model
from interlock.ports.processes import Sandbox
from interlock.ports.work import Policy
from interlock.runners.gate import ShellGates
from interlock.runners.reuse import PassReuse
from interlock.runners.script import LocalCrew
from interlock.runners.setup import WorkspaceSetup
from interlock.runners.tool_versions import ToolVersions
from interlock.sandbox.levels.choose import choose
from interlock.sandbox.levels.guarded import GuardedSandbox
from interlock.trackfiles.writing import TrackFiles, TrackWriter
from interlock.workspaces.git_workspaces import GitWorkspaces, project_key


class SystemClock:
    """Caches the part of the time that changes once a second: every command reads the clock."""

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


def tune_process() -> None:
    """Tunes a process that runs an engine: shorter thread switches, and fewer garbage collections.

    The state is large and immutable, so most collections would find nothing.
    """
    sys.setswitchinterval(0.0005)
    gc.set_threshold(50_000, 20, 100)


NO_MODEL = "no model is configured; give --provider, or set [provider] name"

PACKAGES = "Packages"
"""The stream that tells which packages are being installed."""


class Base(Struct, frozen=True):
    """The parts of every workbench, conducting or not."""

    project: Project
    clock: SystemClock
    journal: SqliteJournal
    workbench: Workbench
    workspaces: GitWorkspaces
    monitors: Monitors
    check: Callable[[], None]  # raises NotBelieved if the project does not count any more
    vault: SecretVault
    sweep: SecretSweep
    warnings: list[str]  # failures that harm nothing, from before the track files are open


async def open_workbench(
    project: Project, conduct: StartConductor | None, *, sample: bool = False, model: ModelMaker | None = None
) -> OpenWorkbench:
    """Takes the project's lock, reads its journal, recovers from a crash, and serves the private socket.

    Only in a `sample` project, which Interlock made itself, may work run without a sandbox although the user did not
    switch it off.
    """
    believed(project)
    tune_process()
    sandbox = await _sandbox(project, conduct, sample=sample) if conduct else None
    workspace = trusted_workspace(project) if conduct else None
    check = identity_check(project, make_project(project))
    git = GuardedSandbox(sandbox or await plain_git(), check)
    sandbox = git if sandbox else None
    journal = SqliteJournal(project.folder)
    workbench, opened = None, None
    try:
        clock, state = SystemClock(), load_state(journal)
        vault = project_vault(project)
        sweep = SecretSweep(vault, journal.get_blob)
        sweep.sweep(state, grace=False)  # nothing of an earlier process is on its way to the journal
        workbench = _workbench(
            project, journal, clock, state, vault, AnswerCheck(git, project.names, partial(web_of, project.settings))
        )
        await end_orphaned_calls(workbench, KeptTexts(workbench.keep, journal.get_blob))
        notes = undo_store(project)
        workspaces = GitWorkspaces(project.root, project.state_dir, git, partial(trusts_include, project), notes)
        base = Base(project, clock, journal, workbench, workspaces, _monitors(project, clock), check, vault, sweep, [])
        conducting = None
        if conduct is not None and sandbox is not None and workspace is not None:
            conducting = await _conduct(base, sandbox, workspace, conduct, model)
        elif state.conductor.on or state.busy:
            await workbench.submit(SYSTEM, Recover("the process that ran it is gone"))
        if conducting is None:
            await deny_overdue(workbench, clock)
            await _keep_out_of_git(base)
            if needs_finishing(workbench.state, workspaces):
                await workspaces.open()
                base.warnings.extend(await finish_landings(workbench, workspaces))
            opened_already = needs_finishing(state, workspaces)
            base.warnings.extend(await settle(project, workspaces, opened=opened_already))
        storage = await _storage(base)
        for warning in base.warnings:
            storage.files.warn(warning)
        opened = OpenWorkbench(project.root, project.names, workspaces, storage, base.monitors, conducting)
        if conduct is not None and not sample and not state.tracks:
            opened.hint = first_hint(project)
        await opened.serve(project.socket)
        opened.write_track_files()
    except BaseException:
        # A workbench closes the journal on its own thread, which may be writing.
        if opened is not None:
            await opened.close("it was not opened")
        elif workbench is not None:
            await workbench.close()
        else:
            journal.close()
        raise
    return opened


def _monitors(project: Project, clock: SystemClock) -> Monitors:
    logs = SessionLogs(project.folder, clock.now, redactor(os.environ), project.settings.logs.keep_days)
    monitors = Monitors(Streams(), Activity(), logs, WindowSlot())
    monitors.activity.listen(logs.tools.record)
    return monitors


def _workbench(
    project: Project, journal: SqliteJournal, clock: SystemClock, state: State, vault: SecretVault, check: AnswerCheck
) -> Workbench:
    return Workbench(
        journal,
        clock,
        RandomIds(),
        state,
        checkpoint_every=project.settings.journal.checkpoint_every,
        vault=vault,
        check=check,
        find_tests=partial(tests_command, project.root),
    )


async def _storage(base: Base) -> Storage:
    project, workbench = base.project, base.workbench
    files = TrackFiles(TrackWriter(project.root, project.settings.tracks_dir).write)
    limits = project.settings.tests
    retention = Retention(
        workbench, base.clock, limits.keep, limits.keep_days, lambda paths: remove_artifacts(project, paths)
    )
    workbench.on_durable(retention.react)
    await retention.start()
    workbench.on_durable(base.sweep.react)
    return Storage(workbench, base.journal.get_blob, files, retention, base.sweep, base.vault)


async def _keep_out_of_git(base: Base) -> None:
    """Work needs no entry in git's list of ignored files: a failure is only a warning."""
    try:
        await keep_out_of_git(base.project, base.workspaces)
    except InterlockError as error:
        base.warnings.append(f"git may show {', '.join(base.project.not_in_git)} as new: {error}")


def project_vault(project: Project) -> SecretVault:
    """The exact texts of this project that contain secrets, in the user's state folder."""
    return SecretVault(project.state_dir / "secrets" / project_key(project.root), os.environ)


async def trial_sandbox(project: Project) -> Sandbox:
    """The sandbox of the project's commands, without a workbench. Raises Misconfigured if there is none."""
    return await choose(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))


async def _sandbox(project: Project, conduct: StartConductor, *, sample: bool) -> Sandbox:
    try:
        sandbox = await trial_sandbox(project)
    except Misconfigured:
        if not sample:
            raise
        return await choose("off")
    if sandbox.level == "off" and conduct.approve_all and not sample:
        raise Misconfigured("with the sandbox off a person must answer every approval: --approve all is not possible")
    return sandbox


async def _conduct(
    base: Base, sandbox: Sandbox, workspace: WorkspaceSettings, conduct: StartConductor, model: ModelMaker | None
) -> Conducting:
    project, workbench, workspaces, logs = base.project, base.workbench, base.workspaces, base.monitors.logs
    env = stable_env()
    await workspaces.open()
    await _keep_out_of_git(base)
    base.warnings.extend(await finish_landings(workbench, workspaces))
    base.warnings.extend(await settle(project, workspaces, opened=True))
    effects = previews_of(project, sandbox.level, base.vault.redact)
    effects.sweep(waited_for(workbench.state))
    redact = redactor(os.environ)
    environments = environments_of(project, workspace, sandbox, workspaces, env)
    streams = base.monitors.streams
    setup = WorkspaceSetup(
        sandbox,
        workspaces,
        env,
        workspace.setup,
        workspace.setup_timeout_s,
        environments,
        lambda text: streams.add(PACKAGES, f"{text}\n"),
    )
    vault = base.vault
    services = services_beside(workspace, sandbox, vault.redact)
    crew = LocalCrew(sandbox, workspaces, env, setup, redact, logs.script, vault, services)

    async def answer(track: str, ticket: str) -> str | None:
        found = workbench.state.track(track).tickets[ticket]
        return await asyncio.to_thread(last_answer, found, base.journal.get_blob)

    shell = ShellGates(
        sandbox,
        workspaces,
        lambda content: base.journal.put_blob(redacted_bytes(redact, content)),
        env,
        conduct.gates,
        setup,
        redact,
        vault,
        answer,
        partial(explained, project),
        lambda track, ticket: workbench.state.ticket(track, ticket).packages,
        ToolVersions(sandbox, env, str(project.root), workspace.path),
        services,
        _reuse(base, sandbox),
    )
    policy: Policy = RevealingPolicy(policy_of(project), vault)
    if sandbox.level == "off":
        policy = PersonOnly(policy)
    cli_agents = cli_agents_of(project, sandbox, env)
    answers = AgentAnswers(cli_agents, homes_of(project))

    def routed(inner: Model | None) -> Model:
        return RoutedModel(inner, answers, NO_MODEL)

    calls = _model_calls(base, routed(model(sandbox, logs.cli.write) if model is not None else None))
    figures, web = base.monitors.window.figures, web_of(project.settings)
    machine = Machine(sandbox, env, logs.script, base.check, vault, services, effects, web, figures)
    agents = Agents(
        project,
        workbench,
        base.journal.get_blob,
        workspaces,
        calls,
        machine,
        policy,
        redact,
        setup.for_worker,
        cli_agents,
        has_model=model is not None,
    )
    gates = JudgedGates(shell, calls if model is not None else None, workspaces, lambda: workbench.state)
    conductor = Conductor(workbench, workspaces, crew, gates, policy, base.clock, agents)
    await conductor.start(replace(conduct, contained=sandbox.level in CONTAINING))
    slot = ModelSlot(calls if model is not None else None, sandbox, logs, routed)
    return Conducting(conductor, gates, sandbox.level, slot, agents)


def _reuse(base: Base, sandbox: Sandbox) -> PassReuse | None:
    gates, bench = base.project.settings.gates, base.workbench
    if not gates.reuse:
        return None
    return PassReuse(sandbox, base.workspaces, lambda: bench.state.passes, base.clock, hours=gates.reuse_hours)


def _model_calls(base: Base, model: Model) -> ModelCalls:
    settings, monitors = base.project.settings, base.monitors
    return ModelCalls(
        model,
        lambda command: base.workbench.submit(SYSTEM, command),
        Observers(monitors.streams, monitors.activity, monitors.logs.comms.write),
        Timing(random),
        CallLimits(settings.provider.max_in_flight, settings.provider.requests_per_minute),
        _tier_models(settings.models),
    )


def conducting(
    project: Project,
    *,
    auto_queue: bool,
    approve_all: bool,
    workers: int | None,
    focus: tuple[str, ...] | None = None,
    autonomy: Autonomy | None = None,
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
        autonomy=autonomy or settings.conductor.autonomy,
    )


def _tier_models(models: Models) -> dict[str, str]:
    names = {
        "Tier 1": models.tier1,
        "Tier 2": models.tier2,
        "Tier 3": models.tier3,
        "Tier 4": models.tier4,
        "Discussion": models.discussion,
    }
    return {tier: model for tier, model in names.items() if model}


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
