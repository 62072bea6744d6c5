"""The project as outside programs use it: through a workbench of this process, or through the one that holds it."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

import msgspec

from interlock.api.control_client import ControlClient
from interlock.assembly.build import open_workbench
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.project import Project, kept_text, plain_git, project_reader, read_state
from interlock.assembly.secrets.redaction import redactor
from interlock.codeviews.python.structure import PythonStructure
from interlock.codeviews.syntax.detect import language_of
from interlock.codeviews.views.view import view
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.domain.values.gates import Blob
from interlock.engine.bench.engine_thread import EngineThread
from interlock.errors import JournalInUse, ToolFailure, Unavailable
from interlock.library.library import ARGS, with_args
from interlock.ports.front import OnRecords, PromptEntry, Receipt, ViewKind
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.tools.files.snapshots import texts_of
from interlock.tools.registry import WorkerTools
from interlock.views.display import quoted_path

PATIENCE_S = 10
"""How long to wait for a process that holds the project but runs nothing, such as a command that only records."""

Take = Callable[[Sequence[Recorded], State], None]


class HeldBench:
    """A workbench on an engine thread of this process. It stays until it is asked to stop."""

    holds = True

    def __init__(
        self, project: Project, conduct: StartConductor, model: ModelMaker, take: Take, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._engine = EngineThread()
        try:
            self._opened = self._engine.call(open_workbench(project, conduct, model=model))
        except BaseException:
            self._engine.stop()
            raise
        self.level = self._opened.sandbox_level

        async def attach() -> State:
            workbench = self._opened.workbench
            workbench.on_durable(lambda records, state: _post(loop, take, records, state))
            return workbench.state

        self.state = self._engine.call(attach())

    async def submit(self, actor: Actor, command: HumanCommand) -> Receipt:
        return await asyncio.wrap_future(self._engine.start(self._opened.submit(actor, command)))

    async def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt:
        return await asyncio.wrap_future(self._engine.start(self._opened.call(actor, discussion, call)))

    async def ended(self) -> None:
        await asyncio.wrap_future(self._engine.start(self._opened.stop_asked.wait()))

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        try:
            self._engine.call(self._opened.close("the MCP server ended"))
        finally:
            self._engine.stop()


class AttachedBench:
    """The workbench of the process that holds the project, through its private socket."""

    holds = False

    def __init__(self, project: Project, take: Take, loop: asyncio.AbstractEventLoop) -> None:
        self._client = ControlClient(project.socket)
        self._follower = ControlClient(project.socket)
        self._turn = asyncio.Lock()
        self._gone = asyncio.Event()
        self.state = read_state(project)

        def follow() -> None:
            state = self.state
            with suppress(Unavailable, OSError):
                for batch in self._follower.follow(state.version):
                    new = [record for record in batch if record.version > state.version]
                    if new:
                        state = replay(new, state)
                        _post(loop, take, new, state)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._gone.set)

        threading.Thread(target=follow, name="follow", daemon=True).start()

    async def submit(self, actor: Actor, command: HumanCommand) -> Receipt:
        async with self._turn:
            return await asyncio.to_thread(self._client.submit, actor, command)

    async def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt:
        async with self._turn:
            return await asyncio.to_thread(self._client.call, actor, discussion, call)

    async def ended(self) -> None:
        await self._gone.wait()

    async def close(self) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        self._client.close()
        self._follower.close()


def _post(loop: asyncio.AbstractEventLoop, take: Take, records: Sequence[Recorded], state: State) -> None:
    with suppress(RuntimeError):  # the server's loop has ended
        loop.call_soon_threadsafe(take, records, state)


class Access:
    """Implements `ProgramAccess`. When the process that holds the project ends, this one takes its place."""

    def __init__(
        self, project: Project, conduct: StartConductor, model: ModelMaker, specs: tuple[ToolSpec, ...]
    ) -> None:
        self._project = project
        self._conduct = conduct
        self._model = model
        self._specs = specs
        self._redact = redactor(os.environ)
        self._listeners: list[OnRecords] = []
        self._news = asyncio.Event()
        self._bench: HeldBench | AttachedBench | None = None
        self._state: State | None = None

    async def open(self) -> "HeldBench | AttachedBench":
        loop = asyncio.get_running_loop()
        bench = await asyncio.to_thread(self._open, loop)
        self._bench = bench
        if self._state is None or bench.state.version > self._state.version:
            self._state = bench.state
        return bench

    def _open(self, loop: asyncio.AbstractEventLoop) -> "HeldBench | AttachedBench":
        waiting, until = threading.Event(), time.monotonic() + PATIENCE_S
        while True:
            try:
                return HeldBench(self._project, self._conduct, self._model, self._take, loop)
            except JournalInUse:
                if time.monotonic() > until:
                    raise
            with suppress(Unavailable):
                bench = AttachedBench(self._project, self._take, loop)
                if bench.state.conductor.on:
                    return bench
                bench.disconnect()
            waiting.wait(0.05)  # a released lock sends no notification

    async def keep_open(self) -> None:
        """Returns when the workbench is asked to stop. Replaces a workbench of another process that ends."""
        while True:
            bench = self._bench or await self.open()
            await bench.ended()
            if bench.holds:
                return
            self._bench = None
            await bench.close()

    async def close(self) -> None:
        if self._bench is not None:
            await self._bench.close()

    def _take(self, records: Sequence[Recorded], state: State) -> None:
        known = self._state.version if self._state is not None else 0
        new = [record for record in records if record.version > known]
        if not new:
            return
        self._state = state
        self._news.set()
        for listener in tuple(self._listeners):
            listener(new)

    # ── the port ─────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> State:
        assert self._state is not None, "it is open"
        return self._state

    def offered(self) -> tuple[ToolSpec, ...]:
        return self._specs

    def listen(self, on_records: OnRecords) -> Callable[[], None]:
        self._listeners.append(on_records)
        return lambda: self._listeners.remove(on_records)

    async def submit(self, actor: Actor, command: HumanCommand) -> Receipt:
        return await self._included(await self._connected().submit(actor, command))

    async def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt:
        return await self._included(await self._connected().call(actor, discussion, call))

    def _connected(self) -> "HeldBench | AttachedBench":
        if self._bench is None:
            raise Unavailable("the workbench of this project has just ended; try again")
        return self._bench

    async def _included(self, receipt: Receipt) -> Receipt:
        while self.state.version < receipt.version:
            self._news.clear()
            await self._news.wait()
        return receipt

    async def message(self, blob: Blob) -> Message:
        content = await asyncio.to_thread(kept_text, self._project, blob.sha256)
        return msgspec.json.decode(content, type=Message)

    async def records(self, after: int, most: int) -> Sequence[Recorded]:
        def read() -> list[Recorded]:
            reader = project_reader(self._project)
            try:
                return list(islice(reader.read(after), most))
            finally:
                reader.close()

        return await asyncio.to_thread(read)

    async def view(self, kind: ViewKind, path: str) -> str:
        def make() -> str:
            text = texts_of(str(self._project.root), self._project.names, [path]).get(path)
            if text is None:
                raise ToolFailure(f"{quoted_path(path)} is not a text file of this project that may be shown")
            content = text.encode(errors="replace")
            return self._redact(view(kind, content, language_of(path, content)).decode(errors="replace"))

        return await asyncio.to_thread(make)

    async def prompts(self) -> tuple[PromptEntry, ...]:
        def read() -> tuple[PromptEntry, ...]:
            return tuple(
                PromptEntry(one.name, one.title, one.description, ARGS in one.text)
                for one in self._project.library.prompts()
            )

        return await asyncio.to_thread(read)

    async def prompt(self, name: str, words: str) -> str:
        return await asyncio.to_thread(lambda: with_args(self._project.library.prompt(name), words))


async def tool_specs(project: Project) -> tuple[ToolSpec, ...]:
    """The tools of a discussion, as a program sees them. The workbench that runs a call decides again."""
    tools = WorkerTools(await plain_git(), {}, PythonStructure(), project.names, off=project.settings.tools.off)
    return tools.offered(changing=True)
