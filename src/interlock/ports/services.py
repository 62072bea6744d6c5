"""The port that runs a command together with the project's services."""

from typing import Protocol

from interlock.ports.processes import Finished, Job, OnOutput


class Services(Protocol):
    @property
    def shown(self) -> tuple[str, ...]:
        """Exactly what starts beside a command, one line for each service; part of an approval's terms."""
        ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that a command gets because of them."""
        ...

    async def run(self, job: Job, folder: str, on_stdout: OnOutput | None = None) -> Finished:
        """As `Sandbox.run`, with the services started in `folder` before the command.

        A service that is not ready is a failure: then the command does not run. `message` says what happened to a
        service, if something did.
        """
        ...
