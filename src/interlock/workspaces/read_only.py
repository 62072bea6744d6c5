"""Files as a worker would be shown them, for whoever only looks: nothing is made, locked or changed."""

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
"""In place of a commit: the project's folder as it is now."""
_LARGEST = 50_000_000


class Looking:
    def __init__(self, project: Path, run: Sandbox) -> None:
        self._project = os.path.realpath(project)
        self._run = run
        self._place: RepositoryLocation | None = None
        self._git: Git | None = None

    async def base(self, track: str) -> str:
        """The commit that an attempt of this track would begin at now."""
        await check_version(self._run)
        finder = Finder(Path(self._project), Path(os.devnull), self._run)
        place = await finder.choose()
        if place is None:
            return FOLDER
        self._place, self._git = place, Git(self._run, place.git_dir, env={})
        # A track of a private repository begins at a picture of the folder that is still to be taken.
        for name in (branch(track), "HEAD") if place is finder.around else (branch(track),):
            found = await self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", ok=(0, 1, 128))
            if found.code == 0:
                return text(found.stdout)
        return FOLDER

    async def read(self, commit: str, path: str) -> bytes | Link | None:
        inside = posixpath.normpath(path)
        if inside.startswith(("..", "/")) or "\0" in inside or "\n" in inside:
            return None
        if commit == FOLDER or self._git is None or self._place is None:
            return await in_thread(lambda: _read(self._project, inside))
        found = posixpath.join(self._place.prefix, inside)
        return (await committed(self._git, commit, found))[0]


def _read(folder: str, path: str) -> bytes | Link | None:
    """A plain file or a link in the folder; a folder on the way may be a link if what it leads to is in it too."""
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
    if not stat.S_ISREG(os.fstat(fd).st_mode):  # of a folder no file can be made
        os.close(fd)
        return None
    with open(fd, "rb") as file:
        return file.read(_LARGEST)
