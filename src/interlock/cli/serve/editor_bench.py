"""Projects for the editor's agent: opened here, or reached through the process that holds them.

Sessions wait in threads; the agent lives on an event loop. One thread per project follows the journal and hands every
batch to that loop.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import json

from interlock.assembly.build import conducting
from interlock.assembly.lasting_rules import keep_rule, lasting_rule
from interlock.assembly.locations import find_root
from interlock.assembly.project import Project, believed, kept_text, open_project, project_key, read_state
from interlock.cli.arguments import ModelArgs
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.sessions import LocalSession, RemoteSession, Session, hold_or_connect
from interlock.cli.work.goal import Goal, unfinished
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.gates import Blob
from interlock.editor.bench import Listed, Piece, Watcher
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.errors import InterlockError, JournalError, Misconfigured
from interlock.ports.front import Receipt
from interlock.ports.model import Message
from interlock.views.display import one_line
from interlock.views.inbox import cut_texts, with_whole_texts

T = TypeVar("T")

_STREAM = "Discussion: "
_KEY = 8  # letters of a project's key


class EditorBench:
    """Implements `Bench` for one project. Made on the agent's loop by `opened`, closed by `close`."""

    def __init__(self, project: Project, args: ModelArgs, loop: asyncio.AbstractEventLoop) -> None:
        self._project = project
        self._args = args
        self._loop = loop
        self._closing = threading.Event()
        self._sending = threading.Lock()
        self._watchers: list[Watcher] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._thinking: set[str] = set()
        self.lost = ""  # why it cannot be used any more
        self._connect()
        self._state = self._follower.state
        self._delivered = self._state.version

    @property
    def root(self) -> str:
        return str(self._project.root)

    @property
    def key(self) -> str:
        return key_of(self._project)

    @property
    def state(self) -> State:
        return self._state

    def start(self) -> None:
        threading.Thread(target=self._follow, name=f"follow {self.key}", daemon=True).start()

    async def submit(self, command: HumanCommand) -> Receipt:
        return await self._sent(lambda session: session.submit(command))

    async def say(self, discussion: str, text: str) -> Receipt:
        return await self._sent(lambda session: session.say(discussion, text))

    async def ask_landing(self, track: str) -> Receipt:
        return await self._sent(lambda session: session.ask_landing(track))

    async def message(self, blob: Blob) -> Message:
        content = await asyncio.to_thread(kept_text, self._project, blob.sha256)
        return json.decode(content, type=Message)

    async def whole(self, approval: Approval) -> Approval:
        texts: dict[str, str] = {}
        for blob in cut_texts(approval):
            try:
                texts[blob.sha256] = (await asyncio.to_thread(kept_text, self._project, blob.sha256)).decode(
                    errors="replace"
                )
            except JournalError:
                continue  # it was removed: the beginning is shown
        return with_whole_texts(approval, texts)

    def closed(self, path: str) -> str:
        return self._project.names.refusal(tuple(path.strip("/").split("/"))) or ""

    async def always_rule(self, payload: Payload) -> str:
        try:
            return await asyncio.to_thread(lasting_rule, self._project, payload)
        except InterlockError:
            return ""

    async def keep_rule(self, rule: str) -> None:
        await asyncio.to_thread(keep_rule, self._project, rule)

    def work(self, tracks: Sequence[str] = (), epics: Sequence[str] = ()) -> Goal:
        return Goal(tracks, epics)

    def unfinished(self) -> Goal:
        return unfinished(self._state)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def close(self) -> None:
        """Blocks until the journal is closed; a workbench of another process goes on."""
        self._closing.set()
        for session in {id(one): one for one in (self._sender, self._follower)}.values():
            session.__exit__(None, None, None)

    # ── sending ──────────────────────────────────────────────────────────────────────────

    async def _sent(self, send: Callable[[Session], Receipt]) -> Receipt:
        """Sends from a thread, and returns when the state here has the records."""
        if self.lost:
            raise Misconfigured(self.lost)
        receipt = await asyncio.to_thread(self._alone, send)
        if self._state.version < receipt.version:
            reached: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append((receipt.version, reached))
            await reached
        return receipt

    def _alone(self, send: Callable[[Session], T]) -> T:
        """One at a time: the connection to another process carries one request at once."""
        with self._sending:
            return send(self._sender)

    # ── following: in a thread of its own ────────────────────────────────────────────────

    def _connect(self) -> None:
        project = with_choices(self._project, self._args)
        # A question starts no other work; tracks that /plan or /run start run without a question for each ticket.
        conduct = conducting(project, auto_queue=True, approve_all=False, workers=None, focus=())
        follower = hold_or_connect(project, conduct, model_of(project, self._args))
        self._follower: LocalSession | RemoteSession = follower
        if isinstance(follower, RemoteSession):
            if follower.state.conductor.approve_all:
                follower.close()
                raise Misconfigured(
                    f"process {follower.holder} holds this project with --approve all: your approvals would be answered"
                    " unasked. Wait, or end that process first"
                )
            self._sender: Session = RemoteSession(project)  # a session is used by one thread at a time
        else:
            self._sender = follower
        follower.listen(self._heard)

    def _follow(self) -> None:
        while not self._closing.is_set():
            reason = "the workbench that holds this project has ended"
            try:
                for batch in self._follower.follow(self._delivered):
                    if batch:
                        self._delivered = batch[-1].version
                    self._post(self._arrived, batch, self._follower.state)
            except InterlockError as error:
                reason = str(error)
            if self._closing.is_set():
                return
            with self._sending:  # a command on its way finds out by itself whether it was carried out
                for session in (self._sender, self._follower):
                    if isinstance(session, RemoteSession):
                        session.close()
            try:
                self._connect()
            except InterlockError as error:
                self._post(self._ended, f"{reason}; {error}")
                return

    def _heard(self, key: str, text: str) -> None:
        """A piece of a model's output, on the engine's thread."""
        if not key.startswith(_STREAM):
            return
        if text == THINKING:
            self._thinking.add(key)
        elif text == ANSWERING:
            self._thinking.discard(key)
        else:
            self._post(self._streamed, Piece(key.removeprefix(_STREAM), text, key in self._thinking))

    def _post(self, call: Callable[..., None], *given: object) -> None:
        if not self._closing.is_set() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *given)

    # ── on the loop ──────────────────────────────────────────────────────────────────────

    def _arrived(self, batch: Sequence[Recorded], state: State) -> None:
        if state.version > self._state.version:
            self._state = state
        for watcher in tuple(self._watchers):
            watcher.records(batch, self._state)
        reached = [one for one in self._waiting if one[0] <= self._state.version]
        self._waiting = [one for one in self._waiting if one[0] > self._state.version]
        for _, future in reached:
            if not future.done():
                future.set_result(None)

    def _streamed(self, piece: Piece) -> None:
        for watcher in tuple(self._watchers):
            watcher.piece(piece)

    def _ended(self, reason: str) -> None:
        self.lost = reason
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(Misconfigured(reason))
        for watcher in tuple(self._watchers):
            watcher.ended(reason)


class EditorProjects:
    """Implements `Projects`. `fixed` is the project of `-C`, whatever folder the editor names."""

    def __init__(self, args: ModelArgs, fixed: Path | None) -> None:
        self._args = args
        self._fixed = fixed
        self._benches: dict[Path, EditorBench] = {}
        self._opening = asyncio.Lock()

    @property
    def opened(self) -> tuple[str, ...]:
        return tuple(str(root) for root in self._benches)

    async def open(self, folder: str) -> EditorBench:
        loop = asyncio.get_running_loop()
        async with self._opening:
            project = await asyncio.to_thread(self._project_of, folder)
            bench = self._benches.get(project.root)
            if bench is None or bench.lost:
                bench = await asyncio.to_thread(EditorBench, project, self._args, loop)
                self._benches[project.root] = bench
                bench.start()
            return bench

    async def discussions(self, folder: str) -> tuple[str, str, list[Listed]]:
        project = await asyncio.to_thread(self._project_of, folder)
        return str(project.root), key_of(project), await asyncio.to_thread(_listed, project)

    def close(self) -> None:
        for bench in self._benches.values():
            bench.close()

    def _project_of(self, folder: str) -> Project:
        if not Path(folder).is_dir():
            raise Misconfigured(f"{folder} is not a folder of this machine")
        root = self._fixed or find_root(Path(folder).resolve())
        project = open_project(root)
        believed(project)
        if not project.is_initialised:
            raise Misconfigured(
                f"{root} is no Interlock project yet: run 'interlock init' in it, then open the session"
            )
        return project


def key_of(project: Project) -> str:
    return project_key(project)[:_KEY]


def _listed(project: Project) -> list[Listed]:
    discussions = [one for one in read_state(project).discussions_in_order() if one.messages]
    discussions.sort(key=lambda one: one.updated_at, reverse=True)
    return [Listed(one.id, _title(project, one), one.updated_at) for one in discussions]


def _title(project: Project, discussion: Discussion) -> str:
    """The first line of the discussion: sessions of editors begin without a title."""
    try:
        first = json.decode(kept_text(project, discussion.messages[0].sha256), type=Message)
    except JournalError:
        return discussion.title
    return one_line(first.text, 80)
