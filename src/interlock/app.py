"""The composition root: settings in, a running workbench out. Only this module knows who plays which role."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

import msgspec
from msgspec import Struct

from interlock.api.control import ControlServer
from interlock.codeviews.detect import language_of
from interlock.codeviews.view import view
from interlock.crew.local import LocalCrew
from interlock.domain.approvals import ScriptPayload
from interlock.domain.commands import Command, Recover, StartConductor
from interlock.domain.envelopes import SYSTEM, Actor
from interlock.domain.gates import GateDefaults
from interlock.domain.state import State
from interlock.domain.tickets import Ticket
from interlock.engine import landing
from interlock.engine.agent_loop import Send, Worker
from interlock.engine.briefing import Briefing
from interlock.engine.conductor import Conductor
from interlock.engine.opening import load_state
from interlock.engine.workbench import Workbench
from interlock.errors import Misconfigured
from interlock.gates.runner import ShellGates
from interlock.journal.reading import JournalReader, stored_lines
from interlock.journal.sqlite import SqliteJournal
from interlock.journal.verify import Report, rebuild_head, verify
from interlock.observe import Redact, redacted_bytes, redactor
from interlock.policy.ask import AskAlways
from interlock.policy.trust import TrustStore
from interlock.ports import Following, Model, Receipt, Sandbox
from interlock.providers.scripted import Rule, ScriptedModel, load_script
from interlock.sandbox.choose import choose
from interlock.sandbox.environment import clean_env
from interlock.settings import Settings, load_settings, setup_digest, user_settings_file
from interlock.tools.registry import WorkerTools
from interlock.workspaces.store import GitWorkspaces

FOLDER = ".interlock"

PROMISES: dict[str, tuple[str, ...]] = {
    "bubblewrap": (
        "writes only in its own worktree and a private /tmp",
        "sees system folders and your toolchain read-only; not your home, other worktrees, .interlock or tokens",
        "reads git's data but cannot change it; only the engine commits",
        "has no network",
        "is gone, with everything it started, when it ends or is stopped",
    ),
    "off": (
        "RUNS WITHOUT A SANDBOX, because your settings say so: it can do whatever you can",
        "is gone, with everything it started, when it ends or is stopped",
    ),
}


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


class FileViews:
    """What of a file a worker is shown: bodies only where they matter."""

    def curated(self, path: str, content: bytes) -> str:
        return view("curated", content, language_of(path, content)).decode(errors="replace")

    def skeleton(self, path: str, content: bytes) -> str:
        return view("skeleton", content, language_of(path, content)).decode(errors="replace")


class Project(Struct, frozen=True):
    """A folder that Interlock works on, and where its own things are."""

    root: Path
    settings: Settings
    state_dir: Path

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    @property
    def socket(self) -> Path:
        return self.folder / "run" / "control.sock"

    @property
    def is_made(self) -> bool:
        return (self.folder / "journal.db").exists()


def find_root(start: Path) -> Path:
    """The nearest folder upwards that is a project, else the nearest git repository, else `start`."""
    candidates = (start, *start.parents)
    for mark in (FOLDER, ".git"):
        for folder in candidates:
            if (folder / mark).exists() and folder != Path(folder.anchor):
                return folder
    return start


def open_project(root: Path) -> Project:
    user_file = user_settings_file(os.environ, Path.home())
    return Project(root, load_settings(user_file, root / "interlock.toml"), _state_dir())


def read_state(project: Project) -> State:
    """The state as the journal tells it now; needs no lock and starts nothing."""
    if not project.is_made:
        return State()
    reader = JournalReader(project.folder)
    try:
        return load_state(reader)
    finally:
        reader.close()


def project_reader(project: Project) -> JournalReader:
    return JournalReader(project.folder)


def journal_report(project: Project) -> Report:
    return verify(project.folder)


def rebuild_journal_head(project: Project) -> Report:
    return rebuild_head(project.folder)


def export_rows(project: Project) -> Iterator[str]:
    """Each row as it is stored, one JSON object per line: enough to check the chain elsewhere."""
    reader = JournalReader(project.folder)
    try:
        yield from stored_lines(reader)
    finally:
        reader.close()


class Opened:
    """A workbench open for writing. With a conductor tickets run; without one commands are only recorded."""

    def __init__(
        self, workbench: Workbench, workspaces: GitWorkspaces, conductor: Conductor | None, sandbox_level: str
    ) -> None:
        self.workbench = workbench
        self._workspaces = workspaces
        self._conductor = conductor
        self._control: ControlServer | None = None
        self.stop_asked = asyncio.Event()
        self.sandbox_level = sandbox_level

    @property
    def state(self) -> State:
        return self.workbench.state

    async def submit(self, actor: Actor, command: Command) -> Receipt:
        receipt = await self.workbench.submit(actor, command)
        if self._conductor is None:
            await self._land_approved()
        return receipt

    def follow(self, after: int) -> Following:
        return self.workbench.follow(after)

    async def ask_landing(self, actor: Actor, track: str) -> Receipt:
        await self._workspaces.open()
        return await landing.ask_landing(self.workbench, self._workspaces, actor, track)

    async def dirty(self) -> tuple[str, ...]:
        """Changes of the user's that are not committed, and so not in any worktree."""
        return await self._workspaces.dirty()

    async def serve(self, path: Path) -> None:
        self._control = ControlServer(self, path, self.stop_asked.set)
        await self._control.start()

    async def close(self, reason: str = "the workbench was closed") -> None:
        if self._control is not None:
            await self._control.stop()
        if self._conductor is not None:
            await self._conductor.stop(reason)
        await self.workbench.close()

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
    project: Project, conduct: StartConductor | None, *, sample: bool = False, model: Model | None = None
) -> Opened:
    """Take the project's lock, read its journal, put right what a crash left, and serve the private socket.

    A `sample` project is our own: only there may work go on without a sandbox that the user did not switch off.
    """
    tune_process()
    sandbox = await _sandbox(project, conduct, sample=sample) if conduct else None
    setup = trusted_setup(project) if conduct else None
    make_project(project)
    clock = SystemClock()
    journal = SqliteJournal(project.folder)
    try:
        state = load_state(journal)
        workbench = Workbench(
            journal, clock, RandomIds(), state, checkpoint_every=project.settings.journal.checkpoint_every
        )
        workspaces = GitWorkspaces(project.root, project.state_dir, sandbox or await _for_git())
        conductor = None
        if conduct is not None and sandbox is not None:
            conductor = await _conductor(project, workbench, journal, workspaces, sandbox, setup, conduct, clock, model)
        elif state.conductor.on or state.busy:
            await workbench.submit(SYSTEM, Recover("the process that ran it is gone"))
        opened = Opened(workbench, workspaces, conductor, sandbox.level if sandbox else "")
        await opened.serve(project.socket)
    except BaseException:
        journal.close()
        raise
    return opened


def _hire(
    workbench: Workbench,
    journal: SqliteJournal,
    workspaces: GitWorkspaces,
    sandbox: Sandbox,
    env: Mapping[str, str],
    model: Model,
    redact: Redact,
) -> Callable[[Send], Worker]:
    def terms(ticket: Ticket, script: str, directory: str, call: str) -> ScriptPayload:
        return ScriptPayload(script, directory, tuple(sorted(env)), sandbox.level, call=call)

    briefing = Briefing(workspaces.read, FileViews())
    tools = WorkerTools(sandbox, env)
    return lambda send: Worker(
        model,
        tools,
        workspaces,
        workbench.keep,
        journal.get_blob,
        send,
        lambda: workbench.state,
        terms,
        briefing.brief,
        redact,
    )


def scripted_model(script: Path) -> Model:
    return load_script(script)


def scripted_rules(rules: list[dict[str, Any]]) -> Model:
    return ScriptedModel(msgspec.convert(rules, list[Rule]))


def _stable_env() -> dict[str, str]:
    """The same names in a terminal and outside one: they are part of what an approval allows."""
    usual = {"TERM": "dumb", "LANG": "C.UTF-8", "SHELL": "/bin/sh", "USER": "user", "LOGNAME": "user"}
    return {**usual, **clean_env(os.environ)}


async def _sandbox(project: Project, conduct: StartConductor, *, sample: bool) -> Sandbox:
    try:
        sandbox = await choose(project.settings.sandbox, _hidden(project))
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
    setup: str | None,
    conduct: StartConductor,
    clock: SystemClock,
    model: Model | None,
) -> Conductor:
    env = _stable_env()
    await workspaces.open()
    await workspaces.exclude((f"{FOLDER}/", f"{project.settings.tracks_dir}/"))
    redact = redactor(os.environ)
    crew = LocalCrew(sandbox, workspaces, env, setup, project.settings.workspace.setup_timeout_s, redact)
    gates = ShellGates(
        sandbox,
        workspaces,
        lambda content: journal.put_blob(redacted_bytes(redact, content)),
        env,
        conduct.gates,
        crew.make_ready,
        redact,
    )
    hire = _hire(workbench, journal, workspaces, sandbox, env, model, redact) if model is not None else None
    conductor = Conductor(workbench, workspaces, crew, gates, AskAlways(), clock, hire)
    await conductor.start(conduct)
    return conductor


def conducting(project: Project, *, auto_queue: bool, approve_all: bool, workers: int | None) -> StartConductor:
    settings = project.settings
    return StartConductor(
        workers=settings.conductor.workers if workers is None else workers,
        auto_queue=auto_queue or settings.conductor.auto_queue,
        approve_all=approve_all,
        gates=GateDefaults(settings.gates.max_attempts, settings.gates.timeout_s),
        deadline_s=settings.approvals.deadline_s or None,
    )


def make_project(project: Project) -> None:
    """The project's own folder; asks nothing, changes nothing that is there."""
    try:
        project.folder.mkdir(mode=0o700, exist_ok=True)
        ignore = project.folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise Misconfigured(f"cannot write {project.folder}: {error.strerror}") from error


def trust_store(project: Project) -> TrustStore:
    return TrustStore(project.state_dir / "trust.json", project.root)


def trusted_setup(project: Project) -> str | None:
    """The workspace's setup command, if the user wrote it or trusts exactly it."""
    setup, named = project.settings.workspace.setup, setup_digest(project.settings)
    if setup is None or named is None:
        return None
    own = load_settings(user_settings_file(os.environ, Path.home()), Path(os.devnull))
    if own.workspace.setup == setup or trust_store(project).trusts(named):
        return setup
    raise Misconfigured(
        f"{project.root / 'interlock.toml'} wants to run this in every new worktree: {setup!r}."
        " Nothing of a project runs before you trust it: read it, then say 'interlock trust'."
    )


async def exclude_from_git(project: Project) -> Literal["repository", "private"]:
    """Make git ignore what is ours; says whether the folder is a repository of the user's."""
    workspaces = GitWorkspaces(project.root, project.state_dir, await _for_git())
    await workspaces.open()
    await workspaces.exclude((f"{FOLDER}/", f"{project.settings.tracks_dir}/"))
    return "private" if (project.folder / "private.git").exists() else "repository"


def make_sample(project: Project, files: Mapping[str, str]) -> None:
    """A new git repository with these files in its first commit."""
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    async def commit() -> None:
        git = await _for_git()
        env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(project.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Interlock demo" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "interlock@localhost" for who in ("AUTHOR", "COMMITTER")},
        }
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "A shop with a bug")):
            said = await git.run_trusted(("git", *words), cwd=str(project.root), env=env)
            if said.code:
                raise Misconfigured(f"git {words[0]} failed: {said.stderr.decode(errors='replace').strip()}")

    asyncio.run(commit())


class SandboxReport(Struct, frozen=True):
    works: bool
    level: str
    reason: str
    git: str
    promises: tuple[str, ...]


async def sandbox_report(project: Project) -> SandboxReport:
    git = await (await _for_git()).run_trusted(("git", "--version"), cwd="/", env={"PATH": os.environ.get("PATH", "")})
    said = git.stdout.decode(errors="replace").strip() if git.code == 0 else ""
    try:
        sandbox = await choose(project.settings.sandbox, _hidden(project))
    except Misconfigured as error:
        return SandboxReport(False, "none", str(error), said, ("does not run: there is no sandbox it could run in",))
    return SandboxReport(True, sandbox.level, "", said, PROMISES[sandbox.level])


def _hidden(project: Project) -> tuple[str, ...]:
    """Our own folders: a sandbox must not have them, whatever else it is given."""
    config = user_settings_file(os.environ, Path.home()).parent
    return (str(project.state_dir), str(config))


async def _for_git() -> Sandbox:
    """Our own git needs no confinement, only the one door."""
    return await choose("off")


def _state_dir() -> Path:
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local" / "state") / "interlock"
