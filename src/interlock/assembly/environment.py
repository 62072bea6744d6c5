"""What a project is made with: detection, the proposal for its settings, its packages, one trial of its tests."""

import os
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec import UNSET, Struct
from msgspec.structs import replace

from interlock.assembly.project import (
    Project,
    believed,
    hidden_folders,
    keep_out_of_git,
    limits_of,
    make_project,
    open_project,
    plain_git,
    trust_starts,
    trusted_workspace,
    trusts_include,
)
from interlock.assembly.settings.service_settings import services_of
from interlock.assembly.settings.settings import WorkspaceSettings
from interlock.assembly.settings.writing import write_keys
from interlock.detection.detect import detect
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Detected, Proposal, proposal_of
from interlock.detection.machine import Machine, without_own_environment
from interlock.domain.checks.sandbox_reasons import Outside, explanation, ran_no_test, reasons
from interlock.domain.values.gates import Gate, GateResult
from interlock.environments.manifest import Manifest
from interlock.environments.preparing import PackageInstaller
from interlock.environments.ready import CacheLimits, ProjectEnvironments
from interlock.environments.sources import package_sources
from interlock.environments.store import EnvironmentStore
from interlock.errors import Misconfigured
from interlock.ports.environments import InstallFailed, Progress
from interlock.ports.processes import Finished, Sandbox
from interlock.ports.services import Services
from interlock.ports.workspaces import Workspace
from interlock.runners.gate import not_run, to_result
from interlock.runners.services import JobServices, level_problem, run_beside
from interlock.runners.setup import WorkspaceSetup, failure
from interlock.runners.shell_job import shell_job
from interlock.runners.tool_versions import ToolVersions
from interlock.sandbox.levels.choose import choose
from interlock.sandbox.limits.environment import clean_env
from interlock.workspaces.git_workspaces import GitWorkspaces

_TABLE = "workspace"
_NO_TEST = "the command ended well and ran no test: name the right command in [workspace] tests of interlock.toml"
_FOUND_NONE = (
    "the command found no test: the project's files may not include its tests (a source archive often leaves them out);"
    " otherwise name the right command in [workspace] tests of interlock.toml"
)
_NO_SIGN = (
    "the output names nothing that the sandbox hides or forbids; it has no terminal and none of your variables:"
    " to compare, run the command outside Interlock"
)


def stable_env() -> dict[str, str]:
    """The environment of commands. It has the same names inside and outside a terminal: they are part of an approval's
    terms. Interlock's own environment is not in it: a project's `python` must not be ours.
    """
    defaults = {"TERM": "dumb", "LANG": "C.UTF-8", "SHELL": "/bin/sh", "USER": "user", "LOGNAME": "user"}
    # Python compares bytecode by seconds and size only: a gate could run code that an edit has just replaced.
    return {**defaults, **clean_env(without_own_environment(os.environ)), "PYTHONDONTWRITEBYTECODE": "1"}


def detected(project: Project) -> Detected:
    return detect(ProjectFolder(project.root), Machine(os.environ))


def proposal(found: Detected) -> Proposal:
    return proposal_of(found)


def as_keys(proposed: Proposal) -> dict[tuple[str, str], str | Sequence[str]]:
    """The keys of interlock.toml; empty values are left out."""
    keys: dict[str, str | Sequence[str]] = {
        "prepare": proposed.prepare,
        "setup": proposed.setup,
        "tests": proposed.tests,
        "path": proposed.path,
    }
    return {(_TABLE, key): value for key, value in keys.items() if value}


def accept(project: Project, proposed: Proposal) -> Project:
    """Writes the proposal into the project's settings and trusts it: the person has just read it."""
    keys = as_keys(proposed)
    write_keys(project.root / "interlock.toml", keys)
    trust_starts(project, {".".join(key) for key in keys})
    return open_project(project.root)


def is_configured(project: Project) -> bool:
    """Whether somebody has already decided how worktrees are made ready."""
    chosen = project.settings.workspace
    return bool(chosen.prepare or chosen.setup or chosen.tests)


def first_hint(project: Project) -> str:
    """For a project that nobody has set up: what its tests are, and how they become a gate. Empty otherwise."""
    if is_configured(project):
        return ""
    part = next((part for part in detected(project).parts if part.tests), None)
    if part is None:
        return ""
    return f"the tests of this {part.name} project ({part.tests}) are not set up as a gate yet: run 'interlock try'"


def tests_command(root: Path) -> str:
    """The command of the project's tests as it is set and trusted now; empty without one."""
    try:
        return trusted_workspace(open_project(root)).tests or ""
    except Misconfigured:
        return ""


def environment_store(project: Project) -> EnvironmentStore:
    return EnvironmentStore(project.state_dir / "environments")


def environments_of(
    project: Project, workspace: WorkspaceSettings, sandbox: Sandbox, workspaces: GitWorkspaces, env: Mapping[str, str]
) -> ProjectEnvironments:
    programs = detected(project).programs if workspace.prepare or workspace.path or workspace.tests else ()
    installer = PackageInstaller(
        environment_store(project),
        sandbox,
        env,
        workspace.prepare,
        sources=package_sources(os.environ),  # `env` is cleaned: it has no address of a mirror
        programs=programs,
        timeout_s=workspace.prepare_timeout_s,
    )
    limits = CacheLimits(workspace.cache_days, workspace.cache_mb)
    return ProjectEnvironments(installer, workspaces, str(project.root), workspace.path, limits)


def services_beside(
    workspace: WorkspaceSettings, sandbox: Sandbox, redact: Callable[[str], str] = str
) -> Services | None:
    """The services of the project; None without any. Raises Misconfigured if this sandbox cannot run them."""
    if not workspace.services:
        return None
    if problem := level_problem(sandbox.level, tuple(workspace.services)):
        raise Misconfigured(problem)
    return JobServices(sandbox, services_of(workspace.services), redact)


def services_check(project: Project, level: str) -> tuple[bool, str] | None:
    """Whether the project's services can run at this level of the sandbox, in words; None without services."""
    services = project.settings.workspace.services
    if not services:
        return None
    if problem := level_problem(level, tuple(services)):
        return False, problem
    shown = (f"{name} (port {one.port})" if one.port else name for name, one in services.items())
    return True, f"{', '.join(shown)}: started beside each script and gate"


class Trial(Struct, frozen=True):
    """One run of the project's tests."""

    result: GateResult
    reasons: tuple[tuple[str, str], ...] = ()  # what the sandbox had to do with a failure, and the remedy


class _Opened(Struct, frozen=True):
    """What a trial and an installation need."""

    sandbox: Sandbox
    workspaces: GitWorkspaces
    environments: ProjectEnvironments
    setup: WorkspaceSetup
    env: dict[str, str]
    services: Services | None


@asynccontextmanager
async def _opened(project: Project, begins: Callable[[str], None]) -> AsyncGenerator[_Opened]:
    """Opens the project's repository without its lock: no journal is read or written."""
    believed(project)
    chosen = trusted_workspace(project)
    make_project(project)
    sandbox = await choose(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))
    begins(sandbox.level)
    git = await plain_git()
    workspaces = GitWorkspaces(project.root, project.state_dir, git, partial(trusts_include, project))
    await workspaces.open()
    try:
        await keep_out_of_git(project, workspaces)
        env = stable_env()
        environments = environments_of(project, chosen, sandbox, workspaces, env)
        setup = WorkspaceSetup(sandbox, workspaces, env, chosen.setup, chosen.setup_timeout_s, environments)
        yield _Opened(sandbox, workspaces, environments, setup, env, services_beside(chosen, sandbox))
    finally:
        await workspaces.close()


async def try_tests(
    project: Project,
    command: str | None,
    *,
    timeout_s: float,
    progress: Progress,
    on_output: Callable[[bytes], None],
    begins: Callable[[str], None],
) -> Trial:
    """Runs the tests once on a clean checkout of the commit on which new work would start."""
    wanted = command or trusted_workspace(project).tests
    if not wanted:
        raise Misconfigured("no test command is known: give one, or set [workspace] tests in interlock.toml")
    async with _opened(project, begins) as opened:
        progress("checking out a clean copy of your last commit")
        if dirty := await opened.workspaces.dirty():
            progress(f"without your uncommitted changes in {', '.join(dirty[:3])}{' …' if len(dirty) > 3 else ''}")
        checkout = await opened.workspaces.checkout()
        try:
            ready = await opened.setup.made_ready(checkout, progress)
            if not isinstance(ready, Workspace):
                found = _reasons(project, failure(ready), checkout, preparing=isinstance(ready, InstallFailed))
                return Trial(not_run(Gate(wanted), failure(ready)), found)
            if opened.services is not None:
                progress(f"starting {', '.join(opened.services.names)}")
            progress(wanted)
            job = shell_job(ready, wanted, opened.env, timeout_s=timeout_s)
            finished = await run_beside(opened.services, opened.sandbox, job, ready.path, on_output)
            versions = ToolVersions(opened.sandbox, opened.env, str(project.root), project.settings.workspace.path)
            return _trial(project, finished, wanted, checkout, await versions.used(ready, wanted))
        finally:
            await opened.workspaces.discard(checkout)


def _trial(project: Project, finished: Finished, command: str, checkout: Workspace, tools: tuple[str, ...]) -> Trial:
    """A success without a single test is none: as a gate it would pass whatever the work is."""
    result = replace(to_result(finished, command), tools=tools or UNSET)
    output = f"{finished.stdout}\n{finished.stderr}\n{finished.message}"
    if result.passed and ran_no_test(output):
        return Trial(replace(result, status="failed", explanation=_NO_TEST))
    found = () if result.passed else _reasons(project, output, checkout)
    if result.status == "failed" and not found and ran_no_test(output):
        return Trial(replace(result, explanation=_FOUND_NONE))
    if result.status == "failed" and not found and not finished.message:
        result = replace(result, explanation="\n".join(filter(None, (result.explanation, _NO_SIGN))))
    return Trial(result, found)


class ToInstall(Struct, frozen=True):
    """The packages of a commit: installed already, or what its dependency lists change."""

    commit: str
    installed: Manifest | None
    diff: str = ""


async def find_lists(project: Project, track: str = "", ticket: tuple[str, int] | None = None) -> ToInstall:
    """Those of the commit on which new work would start, of a track's branch, or of the saved attempt of a ticket."""
    async with _opened(project, lambda _: None) as opened:
        head = await opened.workspaces.survey()
        commit = head.commit
        if track:
            tip = opened.workspaces.attempt(track, *ticket) if ticket else opened.workspaces.track_commit(track)
            commit = await tip
        lists = await opened.environments.lists(commit)
        found = opened.environments.stored(lists)
        diff = await opened.workspaces.diff_of(head.commit, commit, lists.paths) if track and not found else ""
        return ToInstall(commit, found, diff)


async def install(
    project: Project, wanted: ToInstall, progress: Progress, begins: Callable[[str], None]
) -> Manifest | str:
    """Installs the packages of that commit: the person has just accepted them. A text says why it failed."""
    async with _opened(project, begins) as opened:
        lists = await opened.environments.lists(wanted.commit)
        made = await opened.environments.install(wanted.commit, lists, progress)
        return failure(made) if isinstance(made, Finished) else made


def _reasons(
    project: Project, output: str, workspace: Workspace, *, preparing: bool = False
) -> tuple[tuple[str, str], ...]:
    facts = replace(outside(project, workspace.path), preparing=preparing)
    return tuple((one.what, one.remedy) for one in reasons(output, facts))


def outside(project: Project, worktree: str) -> Outside:
    """What the machine has, to explain failures in the sandbox."""
    return Outside(
        exists=os.path.exists,
        has_variable=lambda name: name in os.environ,
        program=lambda name: shutil.which(name) or "",
        project=str(project.root),
        worktree=worktree,
    )


def explained(project: Project, worktree: str, output: str) -> str:
    """What the sandbox has to do with a failure in a worktree; nothing is known about the user's own folder."""
    if worktree == str(project.root):
        return ""
    return explanation(reasons(output, outside(project, worktree)))
