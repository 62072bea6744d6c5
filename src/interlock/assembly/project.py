"""A project on disk: its location, its settings, and everything that needs no running workbench."""

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.assembly.locations import FOLDER, MCP_FILE, mcp_servers_content, state_folder, user_folder, user_settings
from interlock.assembly.settings.load import Start, load_settings, started_by, with_own_values
from interlock.assembly.settings.rights import RIGHTS
from interlock.assembly.settings.secret_files import closed_names, own_closed_names
from interlock.assembly.settings.settings import Settings, WorkspaceSettings
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.state.state import State
from interlock.domain.values.gates import Gate, GateDefaults, GateResult, limits
from interlock.engine.bench.load_state import load_state
from interlock.errors import Misconfigured, NotBelieved
from interlock.identity.careful import each_below, open_beneath
from interlock.identity.making import keep_from_git_clean, make_folder
from interlock.identity.standing import Standing, is_still_own, standing_of
from interlock.journal.blobs import Blobs
from interlock.journal.exported import ExportedJournal
from interlock.journal.reading import JournalReader, stored_lines
from interlock.journal.verify import VerifyReport, rebuild_head, verify
from interlock.library.library import Library, project_files
from interlock.policy.programs import Programs
from interlock.policy.rule_files import read_rules
from interlock.policy.sources import NAME as POLICY
from interlock.policy.sources import RuleSources
from interlock.policy.trust import TrustStore
from interlock.policy.verdict import ShellPolicy
from interlock.ports.processes import Sandbox
from interlock.runners.gate_here import no_command, verify_here
from interlock.sandbox.jobs.jobs import JobLimits
from interlock.sandbox.levels.choose import choice, choose
from interlock.sandbox.levels.promises import promises
from interlock.sandbox.limits.environment import clean_env
from interlock.views.display import safe
from interlock.workspaces.checkouts.include import read_list
from interlock.workspaces.git_workspaces import GitWorkspaces


class Project(Struct, frozen=True):
    """A folder that Interlock works on, with its settings and Interlock's state folder."""

    root: Path
    settings: Settings  # the project's values only as far as they are trusted
    state_dir: Path
    starts: tuple[Start, ...] = ()  # what the project's file sets and needs trust, trusted or not
    names: ClosedNames = field(default_factory=ClosedNames)  # of files that are not opened for a model

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
    """Reads the settings of both files; uses nothing of the project's `.interlock`."""
    asked = load_settings(user_settings(), root / "interlock.toml")
    own = load_settings(user_settings(), Path(os.devnull))
    starts = started_by(asked, own)
    project = Project(root, asked, state_folder(), starts, closed_names(asked))
    store = trust_store(project) if starts else None
    untrusted = [start.key for start in starts if store is not None and not store.trusts(start.digest)]
    return replace(project, settings=with_own_values(asked, own, untrusted))


def unused_settings(project: Project) -> str:
    """What of the project's settings and lists does not count because it is not trusted, in words; or nothing."""
    store = trust_store(project) if project.starts else None
    names = [
        start.key
        for start in project.starts
        if RIGHTS[start.key] == "trust" and store is not None and not store.trusts(start.digest)
    ]
    unused: list[str] = []
    if names:
        unused.append(f"interlock.toml sets {', '.join(names)}, which you have not trusted: your own settings are used")
    if not all(is_trusted(project, item) for item in _include_items(project)):
        unused.append(f"{INCLUDE} is not trusted: none of your files is copied into worktrees")
    return f"{'; '.join(unused)}. 'interlock trust --show' shows it" if unused else ""


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
    """Deletes these files if they are in `.interlock/artifacts`, and files there that are too old. Follows no link."""
    inside = (FOLDER, "artifacts")
    for named in paths:
        parts = os.path.relpath(os.path.join(project.root, named), project.root).split("/")
        if tuple(parts[:2]) == inside and len(parts) > 2:
            with suppress(OSError, ValueError):
                _unlink_file(open_beneath(project.root, tuple(parts[:-1])), parts[-1])
    oldest = time.time() - project.settings.tests.keep_days * 86_400

    def remove_old(folder: int, name: str, status: os.stat_result) -> None:
        if not stat.S_ISDIR(status.st_mode) and status.st_mtime < oldest:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)

    with suppress(OSError):
        artifacts = open_beneath(project.root, inside)
        try:
            each_below(artifacts, remove_old)
        finally:
            os.close(artifacts)


def _unlink_file(folder: int, name: str) -> None:
    try:
        if stat.S_ISREG(os.lstat(name, dir_fd=folder).st_mode):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)


def project_reader(project: Project) -> JournalReader:
    return JournalReader(project.folder)


def exported_journal(file: str) -> ExportedJournal:
    return ExportedJournal(Path(file))


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


def make_project(project: Project) -> str:
    """Makes the project's `.interlock` with its identity, if it has none yet; returns its id.

    Raises NotBelieved if there is a folder that this user's Interlock did not make here.
    """
    standing = believed(project)
    if standing.kind == "own":
        return standing.id
    try:
        return make_folder(project.root, project.state_dir, now())
    except FileExistsError:
        return believed(project).id  # another process has made it in the meantime
    except OSError as error:
        raise Misconfigured(f"cannot write {error.filename or project.folder}: {error.strerror}") from error


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def identity_check(project: Project, identity: str) -> Callable[[], None]:
    """Raises NotBelieved if another folder has taken the place of the opened one."""

    def check() -> None:
        if not is_still_own(project.root, identity):
            raise NotBelieved(f"{project.folder} was replaced while it was open, so nothing more runs")

    return check


def standing(project: Project) -> Standing:
    return standing_of(project.root, project.state_dir)


def believed(project: Project) -> Standing:
    """The standing of a folder that counts. Raises NotBelieved otherwise; writes, starts and connects nothing."""
    found = standing(project)
    if not found.counts:
        raise NotBelieved(safe(found.sentence))
    return found


# ── trust ────────────────────────────────────────────────────────────────────────────────

SETUP = "workspace.setup"
SERVICES = "workspace.services"


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
    if (rules := rule_sources(project).project_content()) is not None:
        yield TrustItem(POLICY, rules, "rules of interlock.toml; untrusted rules can only tighten")


INCLUDE = ".worktreeinclude"


def _include_items(project: Project) -> Iterator[TrustItem]:
    if (content := read_list(str(project.root / INCLUDE))) is not None:
        yield TrustItem(INCLUDE, content, "files of yours that git ignores and that are copied into every worktree")


def trusts_include(project: Project, content: bytes) -> bool:
    return is_trusted(project, TrustItem(INCLUDE, content))


def _server_items(project: Project) -> Iterator[TrustItem]:
    if (content := mcp_servers_content(project.root)) is not None:
        yield TrustItem(MCP_FILE, content, "MCP servers: programs that are started, in the sandbox, and addresses")


def _library_items(project: Project) -> Iterator[TrustItem]:
    for name, content in project_files(project.root):
        yield TrustItem(name, content)


TRUSTED: tuple[Callable[[Project], Iterator[TrustItem]], ...] = (
    _program_items,
    _policy_items,
    _include_items,
    _server_items,
    _library_items,
)
"""The parts of a project that are used only if the user trusts them."""


def trust_items(project: Project) -> tuple[TrustItem, ...]:
    return tuple(thing for things in TRUSTED for thing in things(project))


def trust_store(project: Project) -> TrustStore:
    return TrustStore(project.state_dir / "trust.json", project.root)


def is_trusted(project: Project, thing: TrustItem) -> bool:
    return trust_store(project).trusts(thing.digest)


def project_starts(project: Project) -> tuple[Start, ...]:
    """The programs, rights and choices in the project's settings, trusted or not."""
    return project.starts


def trust_starts(project: Project, keys: set[str]) -> None:
    """Trusts the present values of these keys: the user has just set them in the app."""
    chosen = [(start.digest, start.key) for start in open_project(project.root).starts if start.key in keys]
    if chosen:
        trust_store(project).add(chosen)


def trusted_workspace(project: Project) -> WorkspaceSettings:
    """The commands that make worktrees ready, if they are the user's or exactly these texts are trusted."""
    for name in ("prepare", "setup", "tests", "path", "services"):
        _check_trust(project, f"workspace.{name}")
    return project.settings.workspace


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
        return RuleSources(user_settings(), None, lambda _: False, _names_of(project).refusal)
    store = trust_store(project)
    return RuleSources(
        user_settings(),
        project.root / "interlock.toml",
        lambda content: store.trusts(TrustItem(POLICY, content).digest),
        project.names.refusal,
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
    return ShellPolicy(rule_sources(project).rules, _names_of(project).refusal, programs=_programs(project))


def _names_of(project: Project | None) -> ClosedNames:
    return own_closed_names() if project is None else project.names


def _programs(project: Project | None) -> Programs:
    """Where commands find their programs, and the folders that no allowed program may come from."""
    path = clean_env(os.environ).get("PATH", os.defpath)
    return Programs(path, (str(project.root), str(project.state_dir)) if project else ())


def policy_with(project: Project, rule: str) -> ShellPolicy:
    """The policy with one more rule of the user."""
    added = read_rules(rule, "the new rule", "user")
    sources = rule_sources(project)
    return ShellPolicy(lambda: (*added, *sources.rules()), project.names.refusal, programs=_programs(project))


async def keep_out_of_git(project: Project, workspaces: GitWorkspaces) -> None:
    """Makes git ignore Interlock's folders, and keeps `git clean` from removing the journal."""
    # In this order: git refuses to add a folder that looks like a repository and is not ignored.
    if await workspaces.exclude(project.not_in_git):
        with suppress(OSError):  # a full disk, for example: the work goes on
            keep_from_git_clean(project.folder)


async def exclude_from_git(project: Project) -> Literal["repository", "private"]:
    """Makes git ignore Interlock's folders; returns whether the project has a git repository of its own."""
    workspaces = GitWorkspaces(project.root, project.state_dir, await plain_git())
    await workspaces.open()
    await keep_out_of_git(project, workspaces)
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
    missing: tuple[str, ...] = ()  # promises of this level that do not hold here, with the reason


async def sandbox_report(project: Project) -> SandboxReport:
    git = await (await plain_git()).run_trusted(("git", "--version"), cwd="/", env={"PATH": os.environ.get("PATH", "")})
    git_version = git.stdout.decode(errors="replace").strip() if git.code == 0 else ""
    try:
        chosen = await choice(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))
    except Misconfigured as error:
        return SandboxReport(False, "none", str(error), git_version, ("does not run: no sandbox is available",))
    level = chosen.sandbox.level
    return SandboxReport(True, level, chosen.why, git_version, *promises(level, chosen.missing))


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
    return JobLimits(processes=most.processes, memory_mb=most.memory_mb, open_files=most.open_files, tmp_mb=most.tmp_mb)


async def plain_git() -> Sandbox:
    """Runs Interlock's own git commands: they need no confinement, but go through the sandbox port."""
    return await choose("off")
