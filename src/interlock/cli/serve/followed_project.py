"""A project that a front end on an event loop follows: opened here, or reached through the process that holds it.

Sessions wait in threads; the front end lives on an event loop. One thread follows the journal and hands every batch to
that loop. When the process that holds the project ends, this one takes the project over, or connects to the next one.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from interlock.assembly.lasting_rules import lasting_rule
from interlock.assembly.project import Project, kept_text
from interlock.cli.terminal.sessions import LocalSession, RemoteSession, Session
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload
from interlock.errors import InterlockError, JournalError, Misconfigured
from interlock.ports.front import Receipt
from interlock.views.inbox import cut_texts, with_whole_texts

T = TypeVar("T")
Opened = LocalSession | RemoteSession

RETRY_S = 2.0
"""The pause before the next try to open a project that could not be opened again."""


class FollowedProject:
    """The parts that all such front ends share. Made by a thread; `start` begins to follow.

    A subclass opens the session, and says what its front end is told. Its methods `heard` and `lost` run on other
    threads, `arrived` and `ended` on the loop.
    """

    tries_again = False  # whether it goes on trying to open the project after a failure

    def __init__(self, project: Project, loop: asyncio.AbstractEventLoop) -> None:
        self.project = project
        self._loop = loop
        self._closing = threading.Event()
        self._sending = threading.Lock()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self.lost = ""  # why it cannot be used any more, or at the moment
        self._connect()
        self._state = self._follower.state
        self._delivered = self._state.version

    # ── for a subclass ───────────────────────────────────────────────────────────────────

    def open_session(self) -> Opened:
        raise NotImplementedError

    def heard(self, key: str, text: str) -> None:
        """A piece of a model's output."""
        raise NotImplementedError

    def arrived(self, batch: Sequence[Recorded], state: State) -> None:
        raise NotImplementedError

    def ended(self, reason: str) -> None:
        """The project cannot be used any more."""
        raise NotImplementedError

    def reopened(self) -> None:
        """The project is open again, after its holder ended."""

    # ── for the front end, on the loop ───────────────────────────────────────────────────

    @property
    def root(self) -> str:
        return str(self.project.root)

    @property
    def state(self) -> State:
        return self._state

    @property
    def session(self) -> Opened:
        """The session that is followed now."""
        return self._follower

    def start(self) -> None:
        threading.Thread(target=self._follow, name=f"follow {self.project.root.name}", daemon=True).start()

    async def submit(self, command: HumanCommand) -> Receipt:
        return await self.sent(lambda session: session.submit(command))

    async def say(self, discussion: str, text: str) -> Receipt:
        return await self.sent(lambda session: session.say(discussion, text))

    async def ask_landing(self, track: str) -> Receipt:
        return await self.sent(lambda session: session.ask_landing(track))

    async def whole(self, approval: Approval) -> Approval:
        texts: dict[str, str] = {}
        for blob in cut_texts(approval):
            try:
                texts[blob.sha256] = (await asyncio.to_thread(kept_text, self.project, blob.sha256)).decode(
                    errors="replace"
                )
            except JournalError:
                continue  # it was removed: the beginning is shown
        return with_whole_texts(approval, texts)

    async def always_rule(self, payload: Payload) -> str:
        try:
            return await asyncio.to_thread(lasting_rule, self.project, payload)
        except InterlockError:
            return ""

    async def sent(self, send: Callable[[Session], Receipt]) -> Receipt:
        """Sends from a thread, and returns when the state here has the records."""
        if self.lost:
            raise Misconfigured(self.lost)
        receipt = await asyncio.to_thread(self._alone, send)
        if self._state.version < receipt.version:
            reached: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append((receipt.version, reached))
            await reached
        return receipt

    def close(self) -> None:
        """Blocks until the journal is closed; a workbench of another process goes on."""
        self._closing.set()
        for session in {id(one): one for one in (self._sender, self._follower)}.values():
            session.__exit__(None, None, None)

    def post(self, call: Callable[..., None], *given: object) -> None:
        """Calls it on the loop, from any thread."""
        if not self._closing.is_set() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *given)

    # ── in threads ───────────────────────────────────────────────────────────────────────

    def _alone(self, send: Callable[[Session], T]) -> T:
        """One at a time: the connection to another process carries one request at once."""
        with self._sending:
            return send(self._sender)

    def _connect(self) -> None:
        follower = self.open_session()
        self._follower: Opened = follower
        # A session is used by one thread at a time.
        self._sender: Session = RemoteSession(self.project) if isinstance(follower, RemoteSession) else follower
        follower.listen(self.heard)

    def _follow(self) -> None:
        while not self._closing.is_set():
            reason = "the workbench that holds this project has ended"
            try:
                for batch in self._follower.follow(self._delivered):
                    if batch:
                        self._delivered = batch[-1].version
                    self.post(self._arrived, batch, self._follower.state)
            except InterlockError as error:
                reason = str(error)
            if not self._closing.is_set() and not self._opened_again(reason):
                return

    def _opened_again(self, reason: str) -> bool:
        with self._sending:  # a command on its way finds out by itself whether it was carried out
            for session in {id(one): one for one in (self._sender, self._follower)}.values():
                if isinstance(session, RemoteSession):
                    session.close()
        while True:
            try:
                self._connect()
            except InterlockError as error:
                self.post(self._ended, f"{reason}; {error}")
                if not self.tries_again or self._closing.wait(RETRY_S):
                    return False
            else:
                self.post(self._reopened)
                return True

    # ── on the loop ──────────────────────────────────────────────────────────────────────

    def _arrived(self, batch: Sequence[Recorded], state: State) -> None:
        if state.version > self._state.version:
            self._state = state
        self.arrived(batch, self._state)
        reached = [one for one in self._waiting if one[0] <= self._state.version]
        self._waiting = [one for one in self._waiting if one[0] > self._state.version]
        for _, future in reached:
            if not future.done():
                future.set_result(None)

    def _ended(self, reason: str) -> None:
        self.lost = reason
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(Misconfigured(reason))
        self._waiting = []
        self.ended(reason)

    def _reopened(self) -> None:
        self.lost = ""
        self.reopened()
