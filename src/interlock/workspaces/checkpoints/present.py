"""The files and folders of a project as they are now: tracked and untracked ones, and the ignored ones if asked.

git only lists them, from a folder of ours and with the user's index, which is not written to. No program of the user's
repository runs. Submodules belong to their own repository. A repository inside the project is listed without `.git`.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from interlock.errors import Rejected
from interlock.ports.processes import Output, Sandbox
from interlock.workspaces.git import Git, shown
from interlock.workspaces.own_git_dirs import share_index_parts, write_for_work
from interlock.workspaces.repository import Finder, RepositoryLocation
from interlock.workspaces.threads import in_thread

NEVER = frozenset((b".git", b".interlock"))
"""Names that are never read, stored or changed, at any depth."""
_RULES = b".gitignore"
_MOST_NESTED = 200
_GITLINK = b"160000 "


class Listing(Struct, frozen=True):
    files: list[bytes]
    folders: list[bytes]


class PresentFiles:
    def __init__(self, project: Path, folder: Path, run: Sandbox, excluded: Sequence[str]) -> None:
        """`folder` is ours. `excluded` are folders of the project that count as ignored."""
        self._project = os.path.realpath(project)
        self._folder = folder
        self._run = run
        self._excluded = [os.fsencode(os.path.normpath(name)) for name in excluded]
        self._place = RepositoryLocation(self._project, "", "", "sha1", "")
        self._git = Git(run, str(folder), env={})

    async def open(self) -> None:
        """Finds the repository around the project, if there is one, and the patterns of ignored files."""
        finder = Finder(Path(self._project), self._folder, self._run)
        around = await finder.find_around()
        if around is not None:
            self._place = around
        ignored = await finder.ignored_patterns(around)
        ignored += b"".join(b"/%s%s/\n" % (self._start(), name) for name in self._excluded)
        write_for_work(self._folder, self._place.object_format, "", ignored)
        if self._place.git_dir:
            share_index_parts(self._folder, self._place.git_dir)
        objects = f"{around.common_dir}/objects" if around else str(self._folder.parent / "objects")
        self._git = Git(self._run, str(self._folder), env={"GIT_OBJECT_DIRECTORY": objects})

    async def listing(self, *, ignored: bool) -> Listing:
        tracked, submodules = await self._in_index()
        hidden = () if ignored else ("--exclude-standard",)
        others = self._inside(await self._list(self._place.top, "--others", *hidden))
        loose = await self._with_nested(others, hidden)
        closed = set[bytes]() if ignored else await self._ignored_folders()
        wanted = sorted({path for path in (*tracked, *loose) if not self._is_closed(path)})

        def look() -> Listing:
            top = os.fsencode(self._project)
            files = _plain_files(top, [path for path in wanted if path not in submodules])
            return Listing(files, _folders(top, {*closed, *submodules, *self._excluded}))

        return await in_thread(look)

    def _is_closed(self, path: bytes) -> bool:
        inside = any(path.startswith(folder + b"/") for folder in self._excluded)
        return inside or not NEVER.isdisjoint(path.split(b"/"))

    async def tracked(self) -> frozenset[bytes]:
        return (await self._in_index())[0]

    async def ignored_now(self, paths: Iterable[bytes]) -> frozenset[bytes]:
        """Those of the paths that exist here and are ignored."""
        top = os.fsencode(self._project)
        there = await in_thread(lambda: [path for path in paths if _is_there(top, path)])
        tracked = await self.tracked() if there else frozenset[bytes]()
        return await self._matching(self._place.top, [path for path in there if path not in tracked])

    def rules_folder(self, root: Path) -> Path:
        """Makes the place of the project below `root`, with the rule files that are above the project."""
        at, source = root, Path(self._place.top)
        for part in Path(self._place.prefix).parts:
            at.mkdir(parents=True)
            file = source / os.fsdecode(_RULES)
            if file.is_file() and not file.is_symlink():
                shutil.copyfile(file, at / file.name)
            at, source = at / part, source / part
        at.mkdir(parents=True)
        return at

    async def ignored_by(self, root: Path, paths: Iterable[bytes]) -> frozenset[bytes]:
        """Those of the paths that the rule files below `root` ignore; see `rules_folder`."""
        return await self._matching(str(root), list(paths))

    async def _matching(self, work_tree: str, paths: list[bytes]) -> frozenset[bytes]:
        if not paths:
            return frozenset()
        start = self._start()
        names = b"".join(start + path + b"\0" for path in paths)
        how = ("check-ignore", "--no-index", "-z", "--stdin")
        output = await self._git(*how, work_tree=work_tree, stdin=names, ok=(0, 1))
        return frozenset(self._inside(output))

    async def _in_index(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The paths in the user's index, and those of them that are submodules."""
        output = await self._list(self._place.top, "--cached", "--stage")
        entries = [entry.partition(b"\t") for entry in output.stdout.split(b"\0") if entry]
        start = self._start()
        named = [(about, path.removeprefix(start)) for about, _, path in entries if path.startswith(start)]
        modules = frozenset(path for about, path in named if about.startswith(_GITLINK))
        return frozenset(path for _, path in named) - modules, modules

    async def _ignored_folders(self) -> set[bytes]:
        output = await self._list(self._place.top, "--others", "--ignored", "--exclude-standard", "--directory")
        return {path.rstrip(b"/") for path in self._inside(output) if path.endswith(b"/")}

    async def _with_nested(self, others: list[bytes], hidden: tuple[str, ...]) -> list[bytes]:
        """The listed files, and the files of repositories inside the project."""
        files: list[bytes] = []
        waiting, entered = others[::-1], 0
        while waiting:
            path = waiting.pop()
            if not path.endswith(b"/"):
                files.append(path)
                continue
            entered += 1
            if entered > _MOST_NESTED:
                raise Rejected(f"more than {_MOST_NESTED} git repositories are inside {self._project}; not stored")
            inner = os.path.join(self._project, os.fsdecode(path))
            if not _is_link(inner):
                listed = (await self._list(inner, "--others", *hidden, nested=True)).stdout.split(b"\0")
                waiting += [path + name for name in reversed(listed) if name]
        return files

    async def _list(self, work_tree: str, *what: str, nested: bool = False) -> Output:
        below = () if nested or not self._place.prefix else ("--", f":(literal){self._place.prefix}")
        index = str(self._folder / "no-index") if nested else self._index()
        output = await self._git("ls-files", "-z", *what, *below, work_tree=work_tree, index=index)
        if b"ermission denied" in output.stderr:
            line = next(line for line in output.stderr.splitlines() if b"ermission denied" in line)
            raise Rejected(f"not everything in {self._project} can be read: {shown(line)}")
        return output

    def _index(self) -> str:
        """The user's index, or a name without a file."""
        users = os.path.join(self._place.git_dir, "index") if self._place.git_dir else ""
        return users if os.path.isfile(users) else str(self._folder / "no-index")

    def _inside(self, output: Output) -> list[bytes]:
        """The listed paths, from the project's folder."""
        start = self._start()
        paths = output.stdout.split(b"\0")
        return [path.removeprefix(start) for path in paths if path.startswith(start) and path != start]

    def _start(self) -> bytes:
        return os.fsencode(self._place.prefix) + b"/" if self._place.prefix else b""


def _plain_files(top: bytes, paths: list[bytes]) -> list[bytes]:
    """Files and links that are here, and not behind a link."""
    real: dict[bytes, bool] = {b"": True}

    def is_real(folder: bytes) -> bool:
        if folder not in real:
            real[folder] = is_real(os.path.dirname(folder)) and stat.S_ISDIR(_mode(os.path.join(top, folder)))
        return real[folder]

    modes = ((path, _mode(os.path.join(top, path))) for path in paths if is_real(os.path.dirname(path)))
    return [path for path, mode in modes if stat.S_ISREG(mode) or stat.S_ISLNK(mode)]


def _folders(top: bytes, closed: Iterable[bytes]) -> list[bytes]:
    """All folders below `top`, without the closed ones. Links are not followed."""
    found: list[bytes] = []
    left_out = frozenset(closed)
    for parent, names, _ in os.walk(top):
        above = os.path.relpath(parent, top)
        inner = [(name, os.path.normpath(os.path.join(above, name))) for name in sorted(names) if name not in NEVER]
        kept = [(name, path) for name, path in inner if path not in left_out and not os.path.islink(top + b"/" + path)]
        names[:] = [name for name, _ in kept]
        found += [path for _, path in kept]
    return found


def _is_there(top: bytes, path: bytes) -> bool:
    return bool(_plain_files(top, [path])) or stat.S_ISDIR(_mode(os.path.join(top, path)))


def _is_link(folder: str) -> bool:
    return os.path.islink(folder.rstrip("/"))


def _mode(path: bytes) -> int:
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
