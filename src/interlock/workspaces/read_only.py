"""Read-only access to the files that a worker would see: creates, locks and changes nothing."""

import os
import posixpath
import stat
from pathlib import Path

from interlock.ports.processes import Sandbox
from interlock.ports.workspaces import Link
from interlock.workspaces.committed import committed
from interlock.workspaces.git import Git, check_version, shown, text
from interlock.workspaces.integration import branch
from interlock.workspaces.repository import Finder, RepositoryLocation
from interlock.workspaces.threads import in_thread

FOLDER = ""
"""Instead of a commit: the current project folder."""
_LARGEST = 50_000_000


class ReadOnlyFiles:
    def __init__(self, project: Path, run: Sandbox) -> None:
        self._project = os.path.realpath(project)
        self._run = run
        self._place: RepositoryLocation | None = None
        self._git: Git | None = None

    async def base(self, track: str) -> str:
        """The base commit of a new attempt of this track."""
        await check_version(self._run)
        finder = Finder(Path(self._project), Path(os.devnull), self._run)
        place = await finder.choose()
        if place is None:
            return FOLDER
        self._place, self._git = place, Git(self._run, place.git_dir, env={})
        # A track in a private repository starts at a snapshot of the folder that does not exist yet.
        for name in (branch(track), "HEAD") if place is finder.around else (branch(track),):
            output = await self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", ok=(0, 1, 128))
            if output.code == 0:
                return text(output.stdout)
        return FOLDER

    async def read(self, commit: str, path: str) -> bytes | Link | None:
        inside = posixpath.normpath(path)
        if inside.startswith(("..", "/")) or "\0" in inside or "\n" in inside:
            return None
        if commit == FOLDER or self._git is None or self._place is None:
            return await in_thread(lambda: _read(self._project, inside))
        path_in_repository = posixpath.join(self._place.prefix, inside)
        return (await committed(self._git, commit, path_in_repository))[0]


def _read(folder: str, path: str) -> bytes | Link | None:
    """A regular file or a link in the folder. A parent may be a link if its target is inside the folder too."""
    above, name = os.path.split(os.path.join(folder, path))
    real = os.path.join(os.path.realpath(above), name)
    if os.path.commonpath((folder, real)) != folder:
        return None
    try:
        if stat.S_ISLNK(os.lstat(real).st_mode):
            return Link(shown(os.readlink(os.fsencode(real))))
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):  # a folder has no content
        os.close(fd)
        return None
    with open(fd, "rb") as file:
        return file.read(_LARGEST)
