"""The repository of the work: the user's own, or a private one for a folder without a repository.

It has three git handles. `refs` is the user's repository: branches and history only. Its configuration may name
programs, so no command that reads files, attributes or diffs uses it. `plumbing` has only our settings and attributes
and shares the objects: files of a worker (`.git`, `.gitattributes`, `.gitmodules`, nested repositories) find no filter,
driver or hook there. `users_files` is the same for the user's own work tree and index, with the user's line endings.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from interlock.errors import Misconfigured
from interlock.ports.processes import Output, Sandbox
from interlock.workspaces.commits import Commits
from interlock.workspaces.git import NO_FETCH, Git, check_version, flags, shown
from interlock.workspaces.objects import Objects, identity
from interlock.workspaces.own_git_dirs import write_for_users_files, write_for_work

SNAPSHOTS = "snapshot"  # the branch of a private repository
_STATE = ".interlock"
_MIRRORED = ("core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase")
_SPARSE = ("core.sparsecheckout", "core.sparsecheckoutcone")


@dataclass(frozen=True)
class RepositoryLocation:
    """The repository that contains the project."""

    top: str
    git_dir: str
    common_dir: str
    object_format: str
    prefix: str  # path of the project inside it, "" or "sub/folder"


@dataclass(frozen=True)
class Repository:
    place: RepositoryLocation
    private: bool
    refs: Git
    plumbing: Git
    users_files: Git
    objects: Objects
    commits: Commits
    scratch: Path  # our own git folder for this project, in the user's state folder

    async def resolve(self, name: str) -> str | None:
        """The commit of a ref or object name."""
        (commit,) = await self.commits.find(name)
        return commit.id if commit is not None else None

    async def commit(self, tree: str, parents: tuple[str, ...], message: str) -> str:
        """Writes a commit durably."""
        commit = await self.objects.commit(tree, parents, message)
        self.commits.note_tree(commit, tree)
        return commit

    async def is_descendant(self, commit: str, ancestor: str) -> bool:
        return (await self.refs("merge-base", "--is-ancestor", ancestor, commit, ok=(0, 1, 128))).code == 0


class Finder:
    """Finds and opens the repository of a project, as the user's own git would."""

    def __init__(self, project: Path, scratch: Path, run: Sandbox) -> None:
        self._project = project
        self.scratch = scratch  # our own git folder for this project
        self._run = run
        self.around: RepositoryLocation | None = None  # the repository that contains the project, used or not

    async def open(self) -> Repository:
        await check_version(self._run)
        place = await self.choose()
        if place is not None and place is self.around:
            return await self._assemble(place, private=False)
        await self._make_private(self._private_dir)
        return await self._assemble(self._private_place(), private=True)

    async def choose(self) -> RepositoryLocation | None:
        """The repository of the work; None if a private one must be created first. Creates nothing."""
        around = await self.find_around()
        if around is not None and await self._has_commit() and await self._all_landed(self._private_dir):
            return around
        return self._private_place() if _is_git_dir(self._private_dir) else None

    @property
    def _private_dir(self) -> Path:
        return self._project / _STATE / "private.git"

    def _private_place(self) -> RepositoryLocation:
        return RepositoryLocation(str(self._project), str(self._private_dir), str(self._private_dir), "sha1", "")

    async def find_around(self) -> RepositoryLocation | None:
        """The location of the user's repository. Creates nothing."""
        self.around = await self._locate()
        return self.around

    async def _locate(self) -> RepositoryLocation | None:
        asked = ("--show-toplevel", "--git-dir", "--git-common-dir", "--show-object-format", "--show-prefix")
        output = await self._as_user("rev-parse", "--path-format=absolute", *asked)
        if output.code != 0:
            if b"dubious ownership" in output.stderr:
                raise Misconfigured(
                    f"the repository around {self._project} belongs to another user; to trust it:"
                    f" git config --global --add safe.directory {self._project}"
                )
            return None
        answers = os.fsdecode(output.stdout).split("\n")
        if len(answers) != len(asked) + 1:
            raise Misconfigured(f"the path of the repository around {self._project} has a line break in it")
        top, git_dir, common_dir, object_format, prefix, _ = answers
        return RepositoryLocation(top, git_dir, common_dir, object_format, prefix.rstrip("/"))

    async def _has_commit(self) -> bool:
        """True if HEAD contains this folder: false in a new repository and in an ignored folder."""
        return (await self._as_user("rev-parse", "HEAD^{commit}", "HEAD:./")).code == 0

    async def _all_landed(self, own: Path) -> bool:
        """A private repository is replaced by a real one only if nothing in it waits for landing."""
        if not _is_git_dir(own):
            return True
        waiting = Git(self._run, str(own), env={})(
            "for-each-ref", "--no-merged=HEAD", "refs/heads/interlock/", ok=(0, 128)
        )
        return not (await waiting).stdout

    async def _make_private(self, own: Path) -> None:
        if not _is_git_dir(own):
            _make_folder(own)
            await Git(self._run, str(own), env={})(
                "init", "--quiet", "--bare", "--template=", f"--initial-branch={SNAPSHOTS}"
            )

    async def _assemble(self, place: RepositoryLocation, *, private: bool) -> Repository:
        _require_plain_index(Path(place.git_dir, "index"))
        config = await self._config()
        who = identity(config.get("user.name"), config.get("user.email"))
        name, _, email = who.rstrip(">").partition(" <")
        env = {
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": email,
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": email,
        }
        objects = f"{place.common_dir}/objects"
        own_env = {**env, "GIT_OBJECT_DIRECTORY": objects, **_shallow(place)}
        shared = config.get("core.sharedrepository", "")
        write_for_work(self.scratch, place.object_format, shared, self._ignored(place, config))
        users_dir = self.scratch / "users_files"
        write_for_users_files(users_dir, place.object_format, shared, place.git_dir)
        keys = () if private else (*_MIRRORED, *_SPARSE)
        mirrored = tuple(f"{key}={config[key]}" for key in keys if key in config)
        refs = Git(self._run, place.git_dir, env=env)
        return Repository(
            place=place,
            private=private,
            refs=refs,
            plumbing=Git(self._run, str(self.scratch), settings=("core.autocrlf=false",), env=own_env),
            users_files=Git(self._run, str(users_dir), settings=mirrored, env=own_env),
            objects=Objects(objects, place.object_format, who),
            commits=Commits(refs),
            scratch=self.scratch,
        )

    async def ignored_patterns(self, place: RepositoryLocation | None) -> bytes:
        """What git ignores in this repository, or in a folder without one, besides its `.gitignore` files."""
        return self._ignored(place, await self._config())

    def _ignored(self, place: RepositoryLocation | None, config: dict[str, str]) -> bytes:
        ignored = [b"/%s/" % os.fsencode(os.path.join(place.prefix if place else "", _STATE))]
        sources = [self._global_ignores(config)]
        if place is not None:
            sources.append(Path(place.common_dir, "info", "exclude"))
        ignored += [source.read_bytes() for source in sources if source.is_file()]
        return b"\n".join([*ignored, b""])

    def _global_ignores(self, config: dict[str, str]) -> Path:
        default = os.path.join(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "git", "ignore")
        return Path(os.path.expanduser(config.get("core.excludesfile", default)))

    async def _config(self) -> dict[str, str]:
        """The user's git settings; only plain values of a few keys are used."""
        output = await self._as_user("config", "--list", "-z", "--includes")
        pairs = (entry.partition("\n") for entry in shown(output.stdout).split("\0"))
        return {key: value for key, _, value in pairs if key}

    async def _as_user(self, *args: str) -> Output:
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **NO_FETCH}
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES"):
            if name in os.environ:
                env[name] = os.environ[name]
        off = flags("core.fsmonitor=false", "core.hooksPath=/dev/null")
        return await self._run.run_trusted(["git", *off, *args], cwd=str(self._project), env=env)


def _require_plain_index(index: Path) -> None:
    """git would wait for ever at a FIFO."""
    if index.exists() and not index.is_file():
        raise Misconfigured(f"{index} is not a plain file; remove it, then 'git reset' makes a new one")


def _shallow(place: RepositoryLocation) -> dict[str, str]:
    file = f"{place.common_dir}/shallow"
    return {"GIT_SHALLOW_FILE": file} if os.path.exists(file) else {}


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").exists()


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
