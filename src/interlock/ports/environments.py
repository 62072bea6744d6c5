"""The port to prepared environments: the packages that a project's commands need."""

from collections.abc import Callable
from typing import Protocol

from interlock.domain.values.gates import NewPackages
from interlock.ports.processes import Finished
from interlock.ports.workspaces import Surroundings, Workspace

Progress = Callable[[str], None]
"""Receives what is being done now, in a few words."""


class InstallFailed(Finished, frozen=True, kw_only=True):
    """A command of the prepare phase failed. It had network, and no command of a ticket ran."""

    command: str


class Environments(Protocol):
    """Makes packages available in worktrees; installs them first if nobody has."""

    @property
    def digest(self) -> str:
        """Of the commands that install the packages; empty if there are none."""
        ...

    async def ready(
        self, workspace: Workspace, progress: Progress = lambda _: None, accepted: str = ""
    ) -> Surroundings | Finished | NewPackages:
        """Puts the packages into a worktree; the failed command if they could not be installed.

        Packages that only the work of a ticket names are not installed, unless a person has accepted their key.
        """
        ...
