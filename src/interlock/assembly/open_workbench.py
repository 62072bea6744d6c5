"""A workbench that is open for writing: the front that the desk, the API and the command line use."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from interlock.api.control import ControlServer
from interlock.assembly.agents import Agents, FileViews
from interlock.assembly.logs.session_logs import SessionLogs
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.secrets.redaction import redactor
from interlock.assembly.secrets.sweep import SecretSweep
from interlock.assembly.secrets.vault import SecretVault
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.messages.envelopes import Actor, Recorded, program_name
from interlock.domain.state.state import State
from interlock.engine.agents.chat import call_command, say_command
from interlock.engine.bench.concealing import conceal_texts
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import Fetch, KeptTexts
from interlock.engine.effects.conductor import Conductor
from interlock.engine.effects.landing import LandingConductor, ask_landing
from interlock.engine.effects.test_retention import Retention
from interlock.engine.models.activity import Activity
from interlock.engine.models.calls import ModelCalls
from interlock.engine.models.streams import Listener, Streams
from interlock.engine.planning.survey import Surveyor
from interlock.errors import BadValue, Misconfigured
from interlock.ports.front import Following, Receipt
from interlock.ports.model import Model, ToolCall
from interlock.ports.processes import Sandbox
from interlock.ports.work import GateRunner
from interlock.tools.catalogue import UiFigures
from interlock.trackfiles.writing import TrackFiles
from interlock.workspaces.git_workspaces import GitWorkspaces


class WindowSlot:
    """The window that shows this workbench, if there is one."""

    def __init__(self) -> None:
        self.read: Callable[[], tuple[float, float, float, float]] | None = None

    def figures(self) -> UiFigures:
        return UiFigures() if self.read is None else UiFigures(*self.read())


class Monitors(Struct, frozen=True):
    """The activity of models and tools: in memory for the front ends, and in log files."""

    streams: Streams
    activity: Activity
    logs: SessionLogs
    window: WindowSlot


class Storage(Struct, frozen=True):
    """The journal's only writer, its stored texts, and the parts that follow every durable batch."""

    workbench: Workbench
    fetch: Fetch
    files: TrackFiles
    retention: Retention
    sweep: SecretSweep
    vault: SecretVault


class ModelSlot:
    """The model that a conducting workbench asks; it can be replaced at any time."""

    def __init__(
        self, calls: ModelCalls | None, sandbox: Sandbox, logs: SessionLogs, routed: Callable[[Model], Model]
    ) -> None:
        """`routed` adds the CLI agents to a model."""
        self._routed = routed
        self._calls = calls
        self._sandbox = sandbox
        self._logs = logs

    def use(self, maker: ModelMaker) -> None:
        if self._calls is None:
            raise Misconfigured("this workbench was opened without a model, so none can be chosen")
        self._calls.use(self._routed(maker(self._sandbox, self._logs.cli.write)))

    async def close(self) -> None:
        if self._calls is not None:
            await self._calls.close()


class Conducting(Struct, frozen=True):
    """Runs tickets in a sandbox."""

    conductor: Conductor
    gates: GateRunner
    sandbox_level: str
    models: ModelSlot
    agents: Agents | None = None


class OpenWorkbench:
    """A workbench that is open for writing. With `conducting` tickets run; otherwise commands are only recorded."""

    def __init__(
        self,
        root: Path,
        names: ClosedNames,
        workspaces: GitWorkspaces,
        storage: Storage,
        monitors: Monitors,
        conducting: Conducting | None,
    ) -> None:
        self._root = root
        self._names = names
        self._workspaces = workspaces
        self._storage = storage
        self._conducting = conducting
        self._control: ControlServer | None = None
        self.workbench = storage.workbench
        self.fetch = storage.fetch
        self.streams = monitors.streams
        self.activity = monitors.activity
        self.logs = monitors.logs
        self.window = monitors.window
        self.stop_asked = asyncio.Event()
        self.hint = ""  # what a person may want to do first
        # The method itself, not a wrapper around it: an answer goes from the desk straight to its recorder.
        recorder = self.workbench if conducting else LandingConductor(self.workbench, workspaces)
        self.submit = recorder.submit

    @property
    def state(self) -> State:
        return self.workbench.state

    @property
    def sandbox_level(self) -> str:
        """Empty if this workbench runs no tickets."""
        return self._conducting.sandbox_level if self._conducting else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Failures that harm nothing, such as a log that cannot be written."""
        return (*self._storage.files.warnings, *self.logs.warnings)

    def use_model(self, maker: ModelMaker) -> None:
        if self._conducting is None:
            raise Misconfigured("this workbench runs no tickets, so it has no use for a model")
        self._conducting.models.use(maker)

    @property
    def clients_at_work(self) -> int:
        """Other processes whose work is under way in this one."""
        return self._control.working if self._control is not None else 0

    async def news(self, following: Following) -> Sequence[Recorded] | None:
        """The next records; empty if the work of another process has ended; None at the end of the journal."""
        assert self._control is not None
        records = asyncio.ensure_future(following.next())
        detached = asyncio.ensure_future(self._control.detached.wait())
        try:
            await asyncio.wait((records, detached), return_when=asyncio.FIRST_COMPLETED)
            if records.done():
                return records.result() or None
            self._control.detached.clear()
            return ()
        finally:
            records.cancel()
            detached.cancel()

    def follow(self, after: int) -> Following:
        return self.workbench.follow(after)

    def listen(self, listener: Listener) -> Callable[[], None]:
        return self.streams.listen(listener)

    async def opened_workspaces(self) -> GitWorkspaces:
        if self._conducting is None:
            await self._workspaces.open()
        return self._workspaces

    async def ask_landing(self, actor: Actor, track: str) -> Receipt:
        await self._workspaces.open()
        gates = self._conducting.gates if self._conducting else None
        return await ask_landing(self.workbench, self._workspaces, actor, track, gates)

    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt:
        """Adds the user's message to a discussion about the project or one of its folders."""
        state = self.workbench.state.discussion(discussion)
        if self._conducting is None:
            await self._workspaces.open()
        about = await Surveyor(self._workspaces, FileViews(self._names)).project_context()
        texts = KeptTexts(self.workbench.keep, self.fetch)
        redact = redactor(os.environ)
        command = await say_command(texts, state, redact(text), redact(about), self._folder(base_dir))
        return await self.workbench.submit(actor, command)

    async def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt:
        """Starts the turn of one tool call. Its outcome is an event of the discussion."""
        texts, vault = KeptTexts(self.workbench.keep, self.fetch), self._storage.vault
        hidden = conceal_texts(call, vault.conceal, vault.conceal)
        command = await call_command(texts, self.workbench.state.discussion(discussion), program_name(actor), hidden)
        return await self.workbench.submit(actor, command)

    def _folder(self, name: str) -> str:
        folder = (self._root / name).resolve()
        if not folder.is_relative_to(self._root.resolve()) or not folder.is_dir():
            raise BadValue(f"{name!r} is not a folder of this project; leave it empty to discuss the whole project")
        return str(folder)

    async def dirty(self) -> tuple[str, ...]:
        """The user's uncommitted changes, which no worktree has."""
        return await self._workspaces.dirty()

    async def serve(self, path: Path) -> None:
        self._control = ControlServer(self, path, self.stop_asked.set)
        await self._control.start()

    async def close(self, reason: str = "the workbench was closed") -> None:
        if self._conducting is not None:
            await self._conducting.conductor.stop(reason)
            if self._conducting.agents is not None:
                await self._conducting.agents.close()
            await self._conducting.models.close()
        self.workbench.end_following()
        if self._control is not None:
            await self._control.stop()
        await self._storage.retention.close()
        await self.workbench.settled()
        await self._storage.sweep.close(self.workbench.state)
        # Before the lock is released, so that no other process writes newer files in between.
        await self._storage.files.close(self.workbench.state)
        await self.workbench.close()
        self.logs.close()

    def write_track_files(self) -> None:
        """Writes the tracks as files, now and after every durable batch."""
        files = self._storage.files
        self.workbench.on_durable(lambda _, state: files.show(state))
        files.show(self.workbench.state)
