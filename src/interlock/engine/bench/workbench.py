"""The single writer: decides commands, commits their records in groups, and publishes them when they are durable.

It runs on one asyncio loop. While the journal's own thread writes a batch, the next batch is collected; its commands
are decided on a state that includes the batch being written. Receipts, snapshots and reactions of a batch are released
when it is durable. If the append fails, the batch and everything decided on it are dropped.
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
from interlock.engine.bench.concealing import conceal_command
from interlock.engine.bench.named_gates import FindTests, no_tests, with_named_gates
from interlock.errors import JournalError, JournalUnwritable, Rejected
from interlock.ports.front import Following, Receipt
from interlock.ports.journal import Checkpoint, Clock, Ids, Journal
from interlock.ports.secrets import NoVault, Vault

Waiter = tuple["asyncio.Future[Receipt]", Receipt]
Check = Callable[[Command, State], None]
Reaction = Callable[[Sequence[Recorded], State], None]

RECENT = 4_096
"""Records kept in memory for followers; a follower further behind reads the journal."""
_PAGE = 512  # records read from the journal at once


class Workbench:
    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        ids: Ids,
        state: State,
        *,
        checkpoint_every: int = 20_000,
        vault: Vault | None = None,
        check: Check | None = None,
        find_tests: FindTests = no_tests,
    ) -> None:
        """`vault` conceals secrets in texts before they are recorded.

        `check` is called with each command before it is decided, and may refuse it. `find_tests` gives the command of
        the gate `tests`.
        """
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._vault = vault or NoVault()
        self._check = check
        self._find_tests = find_tests
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
        """The latest durable state."""
        return self._durable

    @property
    def broken(self) -> JournalError | None:
        """Why no command is accepted any more; None while the journal can be written."""
        return self._broken

    def on_durable(self, reaction: Reaction) -> None:
        self._reactions.append(reaction)

    async def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        return await self.send(actor, command, submission)

    def send(self, actor: Actor, command: Command, submission: str = "") -> "asyncio.Future[Receipt]":
        """Decides the command now; the future completes when its records are durable, or fails with the reason.

        `submission` is the id that a client gave its command; empty makes a new one.
        """
        answer: asyncio.Future[Receipt] = self._loop.create_future()
        if self._broken is not None:
            answer.set_exception(self._broken)
            return answer
        try:
            if self._check is not None:
                self._check(command, self._ahead)
            command = conceal_command(with_named_gates(command, self._find_tests), self._vault)
            sent = Submission(submission or self._ids.new(), actor, command)
            wire.encode(command)  # a text that cannot be encoded fails here, not with a whole batch later
            transition = step(self._ahead, sent, self._clock.now())
        except UnicodeEncodeError:
            answer.set_exception(Rejected("the text is not valid Unicode"))
            return answer
        except Rejected as refusal:
            answer.set_exception(refusal)
            return answer
        self._ahead = transition.state
        self._records.extend(transition.records)
        self._waiters.append((answer, Receipt(transition.state.version, transition.records)))
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
        """Followers receive the remaining records, then the end."""
        for follower in self._followers:
            follower.finish()

    async def keep(self, content: bytes) -> str:
        """Stores a large text beside the journal; it is durable when this returns its name."""
        return await self._loop.run_in_executor(self._thread, self._journal.put_blob, content)

    async def settled(self) -> None:
        """Waits until every accepted command is durable or has failed."""
        await self._idle.wait()

    async def close(self) -> None:
        """Commits every accepted command, saves a checkpoint, and closes the journal."""
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
        self._publish(())

    def _release(self, records: list[Recorded], waiters: list[Waiter], state: State) -> None:
        self._durable = state
        self._recent.extend(records)
        for answer, receipt in waiters:
            if not answer.done():
                answer.set_result(receipt)
        self._publish(records)
        grown = state.version - self._checkpointed
        if grown >= self._checkpoint_every and grown >= _size(state):
            self._checkpoint()
        if self._waiters:
            self._commit()
        else:
            self._committing = False
            self._idle.set()

    def _publish(self, records: Sequence[Recorded]) -> None:
        for reaction in self._reactions:
            reaction(records, self._durable)
        for follower in self._followers:
            follower.wake()

    def _checkpoint(self) -> None:
        """Saves the state on the journal's thread, after its last batch and before the next one."""
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
        """Some durable records after a version; empty if there are none."""
        if after >= self._durable.version:
            return ()
        recent = self._recent
        if recent and recent[0].version <= after + 1:
            skip = after + 1 - recent[0].version
            return [recent[index] for index in range(skip, len(recent))]
        until = self._durable.version

        def read() -> list[Recorded]:
            page: list[Recorded] = []
            for recorded in self._journal.read(after):
                if recorded.version > until or len(page) == _PAGE:
                    break
                page.append(recorded)
            return page

        return await self._loop.run_in_executor(self._thread, read)


class Follower:
    """A position in the journal, without a queue: a slow follower costs nothing."""

    def __init__(self, workbench: Workbench, after: int) -> None:
        self._workbench = workbench
        self._after = after
        self._news = asyncio.Event()
        self._closed = False
        self._ending = False

    async def next(self) -> Sequence[Recorded]:
        """The next records; empty only at the end."""
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
        """Ends after the remaining records."""
        self._ending = True
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()
        self._workbench._followers.discard(self)  # pyright: ignore[reportPrivateUsage]  same module


def _size(state: State) -> int:
    """The cost of a checkpoint: larger states are saved less often."""
    return sum(track.total for track in state.tracks.values()) + len(state.approvals) + len(state.tests.kept)
