"""The single writer: decides, commits in groups, and only then tells anybody.

Lives on one asyncio loop. While a batch is being fsynced on the journal's own thread, the next one
gathers: decided on state that already includes the one being written. Answers, snapshots and
reactions of a batch are released when it is durable; if it cannot be, they never happen.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from interlock import wire
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Actor, Recorded, Submission
from interlock.domain.state.state import State
from interlock.domain.step import step
from interlock.errors import JournalError, JournalUnwritable, Rejected
from interlock.ports.front import Following, Receipt
from interlock.ports.journal import Checkpoint, Clock, Ids, Journal

Waiter = tuple["asyncio.Future[Receipt]", Receipt]
Reaction = Callable[[Sequence[Recorded], State], None]

RECENT = 4_096
"""Records kept in memory for followers; whoever is further behind reads the journal."""
_PAGE = 512  # records read from it at once


class Workbench:
    def __init__(
        self, journal: Journal, clock: Clock, ids: Ids, state: State, *, checkpoint_every: int = 20_000
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._durable = state
        self._ahead = state
        self._records: list[Recorded] = []
        self._waiters: list[Waiter] = []
        self._committing = False
        self._broken: JournalError | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._loop = asyncio.get_running_loop()
        self._reactions: list[Reaction] = []
        self._recent: deque[Recorded] = deque(maxlen=RECENT)
        self._followers: set[Follower] = set()
        self._checkpoint_every = checkpoint_every
        self._checkpointed = state.version
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def state(self) -> State:
        """The latest state that is durable."""
        return self._durable

    @property
    def broken(self) -> JournalError | None:
        """Why nothing is taken any more, if so."""
        return self._broken

    def on_durable(self, reaction: Reaction) -> None:
        self._reactions.append(reaction)

    async def submit(self, actor: Actor, command: Command) -> Receipt:
        return await self.send(actor, command)

    def send(self, actor: Actor, command: Command) -> "asyncio.Future[Receipt]":
        """Decided now; the future is done when its events are durable, or failed with the reason."""
        answer: asyncio.Future[Receipt] = self._loop.create_future()
        if self._broken is not None:
            answer.set_exception(self._broken)
            return answer
        submission = Submission(self._ids.new(), actor, command)
        try:
            wire.encode(command)  # a text that cannot be written must fail here, not a whole batch later
            taken = step(self._ahead, submission, self._clock.now())
        except UnicodeEncodeError:
            answer.set_exception(Rejected("the text is not valid Unicode"))
            return answer
        except Rejected as refusal:
            answer.set_exception(refusal)
            return answer
        self._ahead = taken.state
        self._records.extend(taken.records)
        self._waiters.append((answer, Receipt(taken.state.version, taken.records)))
        if not self._committing:
            self._committing = True
            self._idle.clear()
            self._loop.call_soon(self._commit)
        return answer

    def follow(self, after: int) -> Following:
        follower = Follower(self, after)
        self._followers.add(follower)
        return follower

    def end_following(self) -> None:
        """Followers get what is left, and then the end."""
        for follower in self._followers:
            follower.finish()

    async def keep(self, content: bytes) -> str:
        """Keep a big text beside the journal; durable when this returns its name."""
        return await self._loop.run_in_executor(self._thread, self._journal.put_blob, content)

    async def settled(self) -> None:
        """Everything taken so far is durable, or has failed."""
        await self._idle.wait()

    async def close(self) -> None:
        """Everything taken is committed, a checkpoint kept, the journal closed."""
        await self._idle.wait()
        if self._broken is None:
            self._checkpoint()
        await self._loop.run_in_executor(self._thread, self._journal.close)
        self._thread.shutdown()
        for follower in tuple(self._followers):
            follower.close()

    def _commit(self) -> None:
        records, waiters, state = self._records, self._waiters, self._ahead
        self._records, self._waiters = [], []
        if not records:
            self._release(records, waiters, state)
            return
        done = self._loop.run_in_executor(self._thread, self._journal.append, records)
        done.add_done_callback(lambda written: self._committed(written, records, waiters, state))

    def _committed(
        self, written: "asyncio.Future[None]", records: list[Recorded], waiters: list[Waiter], state: State
    ) -> None:
        error = written.exception()
        if error is None:
            self._release(records, waiters, state)
            return
        self._broken = error if isinstance(error, JournalError) else JournalUnwritable(str(error))
        failed = [*waiters, *self._waiters]
        self._records, self._waiters, self._ahead = [], [], self._durable
        for answer, _ in failed:
            if not answer.done():
                answer.set_exception(self._broken)
        self._committing = False
        self._idle.set()
        self._tell(())

    def _release(self, records: list[Recorded], waiters: list[Waiter], state: State) -> None:
        self._durable = state
        self._recent.extend(records)
        for answer, receipt in waiters:
            if not answer.done():
                answer.set_result(receipt)
        self._tell(records)
        grown = state.version - self._checkpointed
        if grown >= self._checkpoint_every and grown >= _size(state):
            self._checkpoint()
        if self._waiters:
            self._commit()
        else:
            self._committing = False
            self._idle.set()

    def _tell(self, records: Sequence[Recorded]) -> None:
        for reaction in self._reactions:
            reaction(records, self._durable)
        for follower in self._followers:
            follower.wake()

    def _checkpoint(self) -> None:
        """Written on the journal's thread, after the batch it pictures and before the next one."""
        state = self._durable
        if state.version == self._checkpointed:
            return
        self._checkpointed = state.version

        def save() -> None:
            head = self._journal.head()
            if head.version == state.version:
                self._journal.save_checkpoint(Checkpoint(head, wire.encode_state(state)))

        self._thread.submit(save)

    async def since(self, after: int) -> Sequence[Recorded]:
        """Durable records after a version, as many as are at hand; empty when there are none."""
        if after >= self._durable.version:
            return ()
        recent = self._recent
        if recent and recent[0].version <= after + 1:
            skip = after + 1 - recent[0].version
            return [recent[index] for index in range(skip, len(recent))]
        until = self._durable.version

        def read() -> list[Recorded]:
            found: list[Recorded] = []
            for recorded in self._journal.read(after):
                if recorded.version > until or len(found) == _PAGE:
                    break
                found.append(recorded)
            return found

        return await self._loop.run_in_executor(self._thread, read)


class Follower:
    """A position in the journal; costs nothing while it waits and nothing when it is slow."""

    def __init__(self, workbench: Workbench, after: int) -> None:
        self._workbench = workbench
        self._after = after
        self._news = asyncio.Event()
        self._closed = False
        self._ending = False

    async def next(self) -> Sequence[Recorded]:
        """At least one record; empty only when there will be no more."""
        while not self._closed and self._workbench.state.version <= self._after:
            if self._ending or self._workbench.broken is not None:
                return ()
            self._news.clear()
            await self._news.wait()
        if self._closed:
            return ()
        records = await self._workbench.since(self._after)
        self._after = records[-1].version
        return records

    def wake(self) -> None:
        self._news.set()

    def finish(self) -> None:
        """There will be no more: what is left is still told."""
        self._ending = True
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()
        self._workbench._followers.discard(self)  # pyright: ignore[reportPrivateUsage]  same module


def _size(state: State) -> int:
    """Checkpoints cost the size of the state: the bigger, the rarer."""
    return sum(track.total for track in state.tracks.values()) + len(state.approvals) + len(state.tests.kept)
