"""A session on a project: with a workbench in this process, or through the process that holds the project."""

import asyncio
import getpass
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from types import TracebackType
from typing import Protocol, Self

from interlock.api.control_client import SILENCE_S, ControlClient
from interlock.assembly.build import open_workbench
from interlock.assembly.holder import describe_silence, holder_of, recorded_submission
from interlock.assembly.locations import root_of
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.open_workbench import OpenWorkbench
from interlock.assembly.project import Project, believed, open_project, read_state, standing
from interlock.assembly.restoring.undoing import Undoing
from interlock.cli.arguments import ProjectArgs
from interlock.cli.terminal.output import paint, say, warn_sandbox_off
from interlock.cli.terminal.signals import end_in_order
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.engine.bench.engine_thread import EngineThread
from interlock.engine.models.streams import Listener
from interlock.errors import JournalInUse, NoAnswer, Unavailable
from interlock.ports.effects import Undone, UndoPlan
from interlock.ports.front import Receipt
from interlock.views.display import safe

PATIENCE_S = 5
"""How long to wait for a process that holds the project but does not answer."""

NOT_DONE = "This command was not carried out, and will not be."


def silence_s() -> float:
    """Seconds without a sign of life after which a command gives up; INTERLOCK_ANSWER_S changes them."""
    try:
        given = float(os.environ.get("INTERLOCK_ANSWER_S", ""))
    except ValueError:
        return SILENCE_S
    return given if 0.1 <= given <= 3600 else SILENCE_S


@contextmanager
def _describing_silence(project: Project) -> Generator[None]:
    try:
        yield
    except NoAnswer as silent:
        raise NoAnswer(describe_silence(project, str(silent))) from None


class Session(Protocol):
    @property
    def project(self) -> Project: ...

    @property
    def state(self) -> State: ...

    def submit(self, command: HumanCommand, submission: str = "") -> Receipt:
        """`submission` is an id of the caller: a repeated one changes nothing."""
        ...

    def ask_landing(self, track: str) -> Receipt: ...

    def say(self, discussion: str, text: str) -> Receipt: ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Receive the models' output as it streams: of a remote session while it is followed, if called before.

        Returns the unsubscriber.
        """
        ...

    def dirty(self) -> tuple[str, ...]:
        """The user's uncommitted changes; a remote session does not know them."""
        ...

    def undo_plan(self, *, redo: bool) -> UndoPlan: ...

    def undo(self, plan: UndoPlan) -> Undone:
        """A remote session refuses to take back a landing: only the process that holds the project moves branches."""
        ...

    def follow(self, after: int | None = None, *, works: bool = False) -> Iterator[Sequence[Recorded]]:
        """Batches of records after a version, or from now on, until the workbench ends.

        `state` is at least as new as the batch; an empty batch means that something else may have changed. `works`: the
        process that holds the project stays open for the work of this session.
        """
        ...

    @property
    def clients_at_work(self) -> int:
        """Other processes whose work is under way in this one."""
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
    """Lock the project for this process, or connect to the process that holds it. Only for the main thread."""
    end_in_order(ctrl_c=False)
    return hold_or_connect(project, conduct, model)


def hold_or_connect(
    project: Project, conduct: StartConductor | None = None, model: ModelMaker | None = None
) -> "LocalSession | RemoteSession":
    """The same in any thread, without the handlers of signals.

    With `conduct` the work needs a process that runs tickets: this one, or the one that holds the project.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return LocalSession(project, conduct, model=model)
        except JournalInUse as busy:
            remote = _connected(project)
            # A command that only records something ends soon, and runs nothing for this one.
            if remote is not None and (conduct is None or remote.state.conductor.on):
                return remote
            if time.monotonic() > deadline:
                raise busy from None
            if remote is not None:
                remote.close()
            threading.Event().wait(0.05)  # a released lock sends no notification


def _connected(project: Project) -> "RemoteSession | None":
    """None if the process that holds the project is starting or ending."""
    try:
        return RemoteSession(project)
    except NoAnswer:
        raise
    except Unavailable:
        return None


@contextmanager
def hearing(session: Session, listener: Listener) -> Generator[None]:
    """The listener receives the models' output inside the block."""
    end = session.listen(listener)
    try:
        yield
    finally:
        end()


class LocalSession:
    def __init__(
        self, project: Project, conduct: StartConductor | None, *, sample: bool = False, model: ModelMaker | None = None
    ) -> None:
        self.project = project
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
        if self._opened.hint:
            say(paint(safe(self._opened.hint), "dim", sys.stderr), sys.stderr)

    @property
    def state(self) -> State:
        return self._opened.state

    def submit(self, command: HumanCommand, submission: str = "") -> Receipt:
        return self._engine.call(self._opened.submit(actor(), command, submission))

    def ask_landing(self, track: str) -> Receipt:
        return self._engine.call(self._opened.ask_landing(actor(), track))

    def say(self, discussion: str, text: str) -> Receipt:
        return self._engine.call(self._opened.say(actor(), discussion, text))

    def listen(self, listener: Listener) -> Callable[[], None]:
        return self._opened.streams.listen(listener)

    def dirty(self) -> tuple[str, ...]:
        return self._engine.call(self._opened.dirty())

    def undo_plan(self, *, redo: bool) -> UndoPlan:
        return self._engine.call(self._undoing().plan(redo=redo))

    def undo(self, plan: UndoPlan) -> Undone:
        return self._engine.call(self._undoing().run(plan))

    def _undoing(self) -> Undoing:
        return Undoing(self.project, self._opened.opened_workspaces)

    @property
    def clients_at_work(self) -> int:
        return self._opened.clients_at_work

    @property
    def sandbox_level(self) -> str:
        return self._opened.sandbox_level

    @property
    def hint(self) -> str:
        """What a person may want to do first."""
        return self._opened.hint

    def follow(self, after: int | None = None, *, works: bool = False) -> Iterator[Sequence[Recorded]]:
        following = self._opened.follow(self.state.version if after is None else after)
        yield ()
        while (records := self._engine.call(self._opened.news(following))) is not None:
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
        self.project = project
        with _describing_silence(project):
            self._client = ControlClient(project.socket, silence_s())
        self.holder = holder_of(project)
        self._state = read_state(project)
        self._listeners: list[Listener] = []

    @property
    def state(self) -> State:
        return self._state

    def submit(self, command: HumanCommand, submission: str = "") -> Receipt:
        """Carried out once, even if the holder stops answering or ends in between: the journal shows its id."""
        submission, before = submission or token_hex(16), self._state.version
        try:
            receipt = self._client.submit(actor(), command, submission)
            self._state = read_state(self.project)
        except NoAnswer as silent:
            done = recorded_submission(self.project, submission, before)
            if done is None:
                raise NoAnswer(f"{describe_silence(self.project, str(silent))}. {NOT_DONE}") from None
            receipt, self._state = done, read_state(self.project)
        except Unavailable:  # the other process is ending; its journal is complete once its lock is free
            with hold_or_connect(self.project) as other:
                done = recorded_submission(self.project, submission, before)
                receipt = other.submit(command, submission) if done is None else done
                self._state = other.state
        return receipt

    def ask_landing(self, track: str) -> Receipt:
        with _describing_silence(self.project):
            receipt = self._client.ask_landing(actor(), track)
        self._state = read_state(self.project)
        return receipt

    def say(self, discussion: str, text: str) -> Receipt:
        with _describing_silence(self.project):
            receipt = self._client.say(actor(), discussion, text)
        self._state = read_state(self.project)
        return receipt

    def listen(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _hear(self, key: str, piece: str) -> None:
        for listener in self._listeners:
            listener(key, piece)

    def dirty(self) -> tuple[str, ...]:
        return ()

    def undo_plan(self, *, redo: bool) -> UndoPlan:
        return asyncio.run(Undoing(self.project).plan(redo=redo))

    def undo(self, plan: UndoPlan) -> Undone:
        return asyncio.run(Undoing(self.project).run(plan))

    @property
    def clients_at_work(self) -> int:
        return 0

    def follow(self, after: int | None = None, *, works: bool = False) -> Iterator[Sequence[Recorded]]:
        yield ()
        with _describing_silence(self.project):
            since, heard = self._state.version if after is None else after, self._hear if self._listeners else None
            for batch in self._client.follow(since, works=works, heard=heard):
                new = [recorded for recorded in batch if recorded.version > self._state.version]
                self._state = replay(new, self._state)
                yield batch  # also if `submit` has already read it: the caller waits for a batch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()
