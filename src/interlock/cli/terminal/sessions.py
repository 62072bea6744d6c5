"""A session on a project: with a workbench in this process, or through the process that holds the project."""

import getpass
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from interlock.api.control_client import ControlClient
from interlock.assembly.build import open_workbench
from interlock.assembly.locations import root_of
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.open_workbench import OpenWorkbench
from interlock.assembly.project import Project, believed, open_project, read_state, standing
from interlock.cli.arguments import ProjectArgs
from interlock.cli.terminal.output import paint, say, warn_sandbox_off
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.engine.bench.engine_thread import EngineThread
from interlock.engine.models.streams import Listener
from interlock.errors import JournalInUse, Unavailable
from interlock.ports.front import Receipt
from interlock.views.display import safe

PATIENCE_S = 5
"""How long to wait for a process that holds the project but does not answer."""


class Session(Protocol):
    @property
    def state(self) -> State: ...

    def submit(self, command: HumanCommand) -> Receipt: ...

    def ask_landing(self, track: str) -> Receipt: ...

    def say(self, discussion: str, text: str) -> Receipt: ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Receive the models' output as it streams. A remote session receives nothing. Returns the unsubscriber."""
        ...

    def dirty(self) -> tuple[str, ...]:
        """The user's uncommitted changes; a remote session does not know them."""
        ...

    def follow(self, after: int | None = None) -> Iterator[Sequence[Recorded]]:
        """Batches of records after a version, or from now on, until the workbench ends.

        `state` is at least as new as the batch.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def project_of(args: ProjectArgs) -> Project:
    """The project of a command that uses its `.interlock`. Raises NotBelieved if that was not made here."""
    project = open_project(root_of(args.project))
    believed(project)
    return project


def folder_of(args: ProjectArgs) -> Project:
    """The project of a command that uses only its files and settings; says so if its `.interlock` does not count."""
    project = open_project(root_of(args.project))
    if not (found := standing(project)).counts:
        say(paint(f"interlock: {safe(found.sentence)}", "waiting", sys.stderr), sys.stderr)
    return project


def actor() -> str:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return f"human:{name}"


def open_session(project: Project, conduct: StartConductor | None = None, model: ModelMaker | None = None) -> Session:
    """Lock the project for this process, or connect to the process that holds it."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return LocalSession(project, conduct, model=model)
        except JournalInUse as busy:
            try:
                return RemoteSession(project)
            except Unavailable:
                # That process is starting or ending; a released lock sends no notification, so poll.
                if time.monotonic() > deadline:
                    raise busy from None
                threading.Event().wait(0.05)


class LocalSession:
    def __init__(
        self, project: Project, conduct: StartConductor | None, *, sample: bool = False, model: ModelMaker | None = None
    ) -> None:
        self._engine = EngineThread()
        self._reason = "the workbench was closed"
        try:
            self._opened: OpenWorkbench = self._engine.call(
                open_workbench(project, conduct, sample=sample, model=model)
            )
        except BaseException:
            self._engine.stop()
            raise
        if self._opened.sandbox_level == "off":
            warn_sandbox_off()

    @property
    def state(self) -> State:
        return self._opened.state

    def submit(self, command: HumanCommand) -> Receipt:
        return self._engine.call(self._opened.submit(actor(), command))

    def ask_landing(self, track: str) -> Receipt:
        return self._engine.call(self._opened.ask_landing(actor(), track))

    def say(self, discussion: str, text: str) -> Receipt:
        return self._engine.call(self._opened.say(actor(), discussion, text))

    def listen(self, listener: Listener) -> Callable[[], None]:
        return self._opened.streams.listen(listener)

    def dirty(self) -> tuple[str, ...]:
        return self._engine.call(self._opened.dirty())

    def follow(self, after: int | None = None) -> Iterator[Sequence[Recorded]]:
        following = self._opened.follow(self.state.version if after is None else after)
        yield ()
        while records := self._engine.call(following.next()):
            yield records
        if broken := self._opened.workbench.broken:
            raise broken

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._engine.call(self._opened.close("interrupted" if kind is KeyboardInterrupt else self._reason))
        finally:
            self._engine.stop()
        for warning in self._opened.warnings:
            say(safe(warning), sys.stderr)


class RemoteSession:
    """Reads the state from the journal and follows new records; sends commands through the control socket."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.client = ControlClient(project.socket)
        self._state = read_state(project)

    @property
    def state(self) -> State:
        return self._state

    def submit(self, command: HumanCommand) -> Receipt:
        try:
            receipt = self.client.submit(actor(), command)
            self._state = read_state(self._project)
        except Unavailable:
            with open_session(self._project) as local:  # the other process has ended meanwhile
                receipt = local.submit(command)
                self._state = local.state
        return receipt

    def ask_landing(self, track: str) -> Receipt:
        receipt = self.client.ask_landing(actor(), track)
        self._state = read_state(self._project)
        return receipt

    def say(self, discussion: str, text: str) -> Receipt:
        receipt = self.client.say(actor(), discussion, text)
        self._state = read_state(self._project)
        return receipt

    def listen(self, listener: Listener) -> Callable[[], None]:
        return lambda: None

    def dirty(self) -> tuple[str, ...]:
        return ()

    def follow(self, after: int | None = None) -> Iterator[Sequence[Recorded]]:
        yield ()
        for recorded in self.client.follow(self._state.version if after is None else after):
            if recorded.version > self._state.version:
                self._state = replay((recorded,), self._state)
            yield (recorded,)  # also if `submit` has already read it: the caller waits for a batch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
