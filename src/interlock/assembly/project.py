"""A project on disk: its location, its settings, and everything that needs no running workbench."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

from msgspec import Struct

from interlock.assembly.locations import FOLDER, state_folder, user_folder, user_settings
from interlock.assembly.settings.load import Start, load_settings, started_by
from interlock.assembly.settings.settings import Settings
from interlock.domain.state.state import State
from interlock.domain.values.gates import Gate, GateDefaults, GateResult, limits
from interlock.engine.bench.load_state import load_state
from interlock.errors import Misconfigured
from interlock.journal.blobs import Blobs
from interlock.journal.reading import JournalReader, stored_lines
from interlock.journal.verify import VerifyReport, rebuild_head, verify
from interlock.library.library import Library, project_files
from interlock.policy.programs import Programs
from interlock.policy.rule_files import read_rules
from interlock.policy.sources import NAME as POLICY
from interlock.policy.sources import RuleSources, project_policy
from interlock.policy.trust import TrustStore
from interlock.policy.verdict import ShellPolicy
from interlock.ports.processes import Sandbox
from interlock.runners.gate_here import no_command, verify_here
from interlock.sandbox.jobs.jobs import JobLimits
from interlock.sandbox.levels.choose import choice, choose
from interlock.sandbox.limits.environment import clean_env
from interlock.tools.files.names import refusal, use_secret_names
from interlock.workspaces.git_workspaces import GitWorkspaces

PROMISES: dict[str, tuple[str, ...]] = {
    "bubblewrap": (
        "writes only in its own worktree and a private /tmp",
        "sees system folders and your toolchain read-only; not your home, other worktrees, .interlock or tokens",
        "reads git's data but cannot change it, nor see addresses in its configuration; only the engine commits",
        "has no network, and sees no process but its own",
        "cannot make the system calls that could leave a sandbox",
        "leaves no process behind when it ends or is stopped",
    ),
    "landlock": (
        "writes only in its own worktree and a private temporary folder",
        "reads system folders and your toolchain; not your home, other worktrees, .interlock or tokens",
        "can see that other files are there, and change the mode and times of yours, but not read or write them",
        "reads git's data but cannot change it (a .git file is put back when it ends); only the engine commits",
        "has no network and no sockets by name, not even among its own processes",
        "can see the command lines of other processes, but not signal, trace or look into them",
        "cannot make the system calls that could leave a sandbox",
        "leaves no process behind when it ends or is stopped",
    ),
    "off": (
        "RUNS WITHOUT A SANDBOX, because your settings disable it: it has all your permissions",
        "leaves no process behind when it ends or is stopped",
    ),
}


class Project(Struct, frozen=True):
    """A folder that Interlock works on, with its settings and Interlock's state folder."""

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
    def not_in_git(self) -> tuple[str, ...]:
        """Interlock's folders in the project, which must not be committed."""
        return (f"{FOLDER}/", f"{self.settings.tracks_dir}/")

    @property
    def library(self) -> Library:
        """Prompts, gates, frameworks and styles: the project's trusted ones before the user's."""
        return Library(self.root, user_folder(), lambda name, content: is_trusted(self, TrustItem(name, content)))

    @property
    def whole_library(self) -> Library:
        """The same without the trust check; for display only."""
        return Library(self.root, user_folder())

    @property
    def is_initialised(self) -> bool:
        return (self.folder / "journal.db").exists()


def open_project(root: Path) -> Project:
    settings = load_settings(user_settings(), root / "interlock.toml")
    use_secret_names(settings.secrets.files, settings.secrets.exceptions)  # a project cannot set these
    return Project(root, settings, state_folder())


def read_state(project: Project) -> State:
    """The current state of the journal; takes no lock and starts nothing."""
    if not project.is_initialised:
        return State()
    reader = JournalReader(project.folder)
    try:
        return load_state(reader)
    finally:
        reader.close()


def kept_text(project: Project, name: str) -> bytes:
    """A text that is stored beside the journal."""
    return Blobs(project.folder / "blobs").get(name)


def keep_text(project: Project, content: bytes) -> str:
    """Stores a text; it is durable when this returns its name. Names are content hashes, so no lock is needed."""
    return Blobs(project.folder / "blobs").put(content)


def remove_artifacts(project: Project, paths: tuple[str, ...]) -> None:
    """Deletes these files if they are in `.interlock/artifacts`, and files there that are too old."""
    folder = (project.folder / "artifacts").resolve()
    if not folder.is_dir():
        return
    for named in paths:
        path = project.root / named
        with suppress(OSError):
            if not path.is_symlink() and path.is_file() and path.resolve().is_relative_to(folder):
                path.unlink()
    oldest = time.time() - project.settings.tests.keep_days * 86_400
    for path in folder.rglob("*"):
        with suppress(OSError):
            if not path.is_dir() and path.lstat().st_mtime < oldest:
                path.unlink()


def project_reader(project: Project) -> JournalReader:
    return JournalReader(project.folder)


def journal_report(project: Project) -> VerifyReport:
    return verify(project.folder)


def rebuild_journal_head(project: Project) -> VerifyReport:
    return rebuild_head(project.folder)


def export_rows(project: Project) -> Iterator[str]:
    """Each row as it is stored, one JSON object per line; the hash chain can be verified elsewhere."""
    reader = JournalReader(project.folder)
    try:
        yield from stored_lines(reader)
    finally:
        reader.close()


def make_project(project: Project) -> None:
    """Creates the project's `.interlock` folder; changes no existing file."""
    try:
        project.folder.mkdir(mode=0o700, exist_ok=True)
        ignore = project.folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise Misconfigured(f"cannot write {project.folder}: {error.strerror}") from error


# ── trust ────────────────────────────────────────────────────────────────────────────────

SETUP = "workspace.setup"


class TrustItem(Struct, frozen=True):
    """A part of a project that would grant rights or start programs."""

    name: str
    content: bytes
    what: str = ""  # its effect, in words

    @property
    def digest(self) -> str:
        """The digest of this content under this name."""
        named = b"" if self.name == SETUP else f"{self.name}\0".encode()
        return sha256(named + self.content).hexdigest()


def _program_items(project: Project) -> Iterator[TrustItem]:
    for start in project_starts(project):
        yield TrustItem(start.key, start.text.encode(), start.what)


def _policy_items(project: Project) -> Iterator[TrustItem]:
    file = project.root / "interlock.toml"
    if file.is_file() and (rules := project_policy(file.read_text(encoding="utf-8"))) is not None:
        yield TrustItem(POLICY, rules, "rules of interlock.toml; untrusted rules can only tighten")


def _library_items(project: Project) -> Iterator[TrustItem]:
    for name, content in project_files(project.root):
        yield TrustItem(name, content)


TRUSTED: tuple[Callable[[Project], Iterator[TrustItem]], ...] = (_program_items, _policy_items, _library_items)
"""The parts of a project that are used only if the user trusts them."""


def trust_items(project: Project) -> tuple[TrustItem, ...]:
    return tuple(thing for things in TRUSTED for thing in things(project))


def trust_store(project: Project) -> TrustStore:
    return TrustStore(project.state_dir / "trust.json", project.root)


def is_trusted(project: Project, thing: TrustItem) -> bool:
    return trust_store(project).trusts(thing.digest)


def project_starts(project: Project) -> tuple[Start, ...]:
    """The programs and rights in the project's settings, trusted or not."""
    return started_by(project.settings, load_settings(user_settings(), Path(os.devnull)))


def trusted_setup(project: Project) -> str | None:
    """The workspace's setup command, if it is the user's or exactly this text is trusted."""
    _check_trust(project, "workspace.setup")
    return project.settings.workspace.setup


def trusted_agent_command(project: Project) -> str:
    """The command line of `gemini_cli`, if it is the default, the user's, or exactly this text is trusted."""
    _check_trust(project, "gemini_cli.command")
    return project.settings.gemini_cli.command


def trusted_network(project: Project) -> bool:
    """Whether gates have network access, by the user's settings or a trusted project's."""
    _check_trust(project, "gates.network")
    return project.settings.gates.network


def _check_trust(project: Project, key: str) -> None:
    for start in project_starts(project):
        if start.key == key and not trust_store(project).trusts(start.digest):
            raise Misconfigured(
                f"{project.root / 'interlock.toml'} sets {start.what}: {start.text!r}."
                " A project's programs and rights count only after you trust them: read it, then run 'interlock trust'."
            )


# ── policy ───────────────────────────────────────────────────────────────────────────────


def rule_sources(project: Project | None) -> RuleSources:
    """The user's rules, the shipped rules, and the project's rules if they are trusted."""
    if project is None:
        return RuleSources(user_settings(), None, lambda _: False, refusal)
    store = trust_store(project)
    return RuleSources(
        user_settings(),
        project.root / "interlock.toml",
        lambda content: store.trusts(TrustItem(POLICY, content).digest),
        refusal,
        store.path,
        rules_of_project(project),
    )


def project_key(project: Project) -> str:
    """The name under which the user's own files about this project are kept."""
    return sha256(os.fsencode(project.root.resolve())).hexdigest()[:32]


def rules_of_project(project: Project) -> Path:
    """The user's rules that count in this project only. The file is the user's: a project cannot bring one."""
    return project.state_dir / "rules" / f"{project_key(project)}.toml"


def policy_of(project: Project | None) -> ShellPolicy:
    return ShellPolicy(rule_sources(project).rules, refusal, programs=_programs(project))


def _programs(project: Project | None) -> Programs:
    """Where commands find their programs, and the folders that no allowed program may come from."""
    path = clean_env(os.environ).get("PATH", os.defpath)
    return Programs(path, (str(project.root), str(project.state_dir)) if project else ())


def policy_with(project: Project, rule: str) -> ShellPolicy:
    """The policy with one more rule of the user."""
    added = read_rules(rule, "the new rule", "user")
    sources = rule_sources(project)
    return ShellPolicy(lambda: (*added, *sources.rules()), refusal, programs=_programs(project))


async def exclude_from_git(project: Project) -> Literal["repository", "private"]:
    """Makes git ignore Interlock's folders; returns whether the project has a git repository of its own."""
    workspaces = GitWorkspaces(project.root, project.state_dir, await plain_git())
    await workspaces.open()
    await workspaces.exclude(project.not_in_git)
    return "private" if (project.folder / "private.git").exists() else "repository"


def make_sample(project: Project, files: Mapping[str, str]) -> None:
    """Creates a git repository with these files in its first commit."""
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    async def commit() -> None:
        git = await plain_git()
        env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(project.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Interlock demo" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "interlock@localhost" for who in ("AUTHOR", "COMMITTER")},
        }
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "A shop with a bug")):
            output = await git.run_trusted(("git", *words), cwd=str(project.root), env=env)
            if output.code:
                raise Misconfigured(f"git {words[0]} failed: {output.stderr.decode(errors='replace').strip()}")

    asyncio.run(commit())


class SandboxReport(Struct, frozen=True):
    works: bool
    level: str
    reason: str  # why there is no sandbox, or only a weaker one
    git: str
    promises: tuple[str, ...]


async def sandbox_report(project: Project) -> SandboxReport:
    git = await (await plain_git()).run_trusted(("git", "--version"), cwd="/", env={"PATH": os.environ.get("PATH", "")})
    git_version = git.stdout.decode(errors="replace").strip() if git.code == 0 else ""
    try:
        chosen = await choice(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))
    except Misconfigured as error:
        return SandboxReport(False, "none", str(error), git_version, ("does not run: no sandbox is available",))
    level = chosen.sandbox.level
    return SandboxReport(True, level, chosen.why, git_version, PROMISES[level])


async def verify_command(
    command: str, folder: str, timeout_s: float | None, *, before: Callable[[str], None]
) -> GateResult:
    """Runs a command as a gate on a folder, which need not be a project; uses the user's settings.

    `before` is called with the sandbox level right before the command runs.
    """
    if (result := no_command(command)) is not None:
        return result
    own = load_settings(user_settings(), Path(os.devnull))
    sandbox = await choose(own.sandbox, (str(state_folder()), str(user_folder())), limits_of(own))
    defaults = GateDefaults(own.gates.max_attempts, own.gates.timeout_s)
    seconds = limits(Gate(command, timeout_s=timeout_s), defaults).timeout_s
    before(sandbox.level)
    return await verify_here(sandbox, command, folder, env=clean_env(os.environ), timeout_s=seconds)


def hidden_folders(project: Project) -> tuple[str, ...]:
    """Interlock's own folders, which no sandbox may see."""
    config = user_folder()
    return (str(project.state_dir), str(config))


def limits_of(settings: Settings) -> JobLimits:
    """The resource limits of commands."""
    most = settings.limits
    return JobLimits(processes=most.processes, memory_mb=most.memory_mb, open_files=most.open_files)


async def plain_git() -> Sandbox:
    """Runs Interlock's own git commands: they need no confinement, but go through the sandbox port."""
    return await choose("off")
