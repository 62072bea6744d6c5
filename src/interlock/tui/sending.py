"""Sends the user's actions to the project: one task each, failures as notes, and answers by a key after a pause."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal

from msgspec import Struct

from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.events.approval_events import ApprovalsAnswered
from interlock.domain.values.approvals import Pending
from interlock.errors import InterlockError, Misconfigured
from interlock.ports.front import Receipt
from interlock.tui.bench import Bench
from interlock.views.answer_sets import set_sentence
from interlock.views.display import one_line

PAUSE_S = 2.0
"""The time between a key that answers and the answer. Any key takes the answer back meanwhile.

Longer than the pauses between the keys of a person who types, so that typing never answers anything.
"""

STAYS_S = 8.0

Tone = Literal["good", "bad", "waiting", "dim"]
Then = Callable[[Any], None]


class Note(Struct, frozen=True):
    text: str
    tone: Tone
    until: float


class Held(Struct, frozen=True):
    """An answer given by a key, not sent yet."""

    approvals: tuple[str, ...]
    words: str
    until: float
    act: Callable[[], None]


class Sender:
    """Belongs to the event loop. `changed` is called when a note or the held answer is another."""

    def __init__(self, changed: Callable[[], None], pause_s: float = PAUSE_S) -> None:
        self.bench: Bench | None = None
        self.pause_s = pause_s
        self.notes: list[Note] = []
        self.held: Held | None = None
        self._changed = changed
        self._tasks: set[asyncio.Task[None]] = set()

    # ── commands ─────────────────────────────────────────────────────────────────────────

    def submit(self, command: HumanCommand, said: str = "", then: Then | None = None) -> None:
        self.run(lambda bench: bench.submit(command), said, then)

    def answer(self, command: AnswerApproval, rule: str = "", *, everywhere: bool = False) -> None:
        """With `rule`, the rule that allows the same from now on is stored after the answer."""

        async def send(bench: Bench) -> Receipt:
            receipt = await bench.submit(command)
            if rule:
                await bench.keep_rule(rule, everywhere=everywhere)
            return receipt

        self.run(send)

    def answer_many(self, command: AnswerApprovals) -> None:
        def tell(receipt: Receipt) -> None:
            for record in receipt.records:
                if isinstance(record.event, ApprovalsAnswered):
                    self.note(set_sentence(record.event), "waiting" if record.event.left_out else "good")

        self.run(lambda bench: bench.submit(command), then=tell)

    def run(
        self,
        work: Callable[[Bench], Awaitable[Any]],
        said: str = "",
        then: Then | None = None,
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Runs it beside the drawing. `said` is a note about its success, `otherwise` is called after a failure."""
        bench = self.bench

        async def sending() -> None:
            try:
                if bench is None:
                    raise Misconfigured("the project is not open yet")
                result = await work(bench)
            except InterlockError as error:
                self.note(str(error), "bad")
                if otherwise is not None:
                    otherwise()
                return
            if said:
                self.note(said, "good")
            if then is not None:
                then(result)

        self._begin(sending())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def is_sending(self) -> bool:
        return bool(self._tasks)

    async def settled(self) -> None:
        """Returns when everything that was sent has ended."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # ── answers by a key ─────────────────────────────────────────────────────────────────

    def hold(self, approvals: tuple[str, ...], words: str, act: Callable[[], None]) -> None:
        self.held = Held(approvals, words, time.monotonic() + self.pause_s, act)
        self._changed()

    def take_back(self) -> bool:
        """Whether there was an answer to take back."""
        held, self.held = self.held, None
        if held is not None:
            self.note(f"{held.words}: taken back, nothing was sent", "dim")
        return held is not None

    def settle(self) -> None:
        """Sends the held answer when its time has come; drops it if every approval was answered elsewhere."""
        held = self.held
        if held is None or self.bench is None:
            return
        state = self.bench.state
        found = [state.approvals.get(name) for name in held.approvals]
        if not any(one is not None and isinstance(one.state, Pending) for one in found):
            self.held = None
            self._changed()
        elif time.monotonic() >= held.until:
            self.held = None
            held.act()
            self._changed()

    # ── notes ────────────────────────────────────────────────────────────────────────────

    def note(self, text: str, tone: Tone = "bad") -> None:
        self.notes.append(Note(one_line(text, 500), tone, time.monotonic() + STAYS_S))
        del self.notes[:-6]
        self._changed()

    def latest(self) -> Note | None:
        """The latest note that is still shown."""
        now = time.monotonic()
        self.notes = [note for note in self.notes if note.until > now]
        return self.notes[-1] if self.notes else None
