"""From the window to the desk: what a hand does goes over as one piece of work, looked at a frame later."""

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, Literal, Protocol

from msgspec import Struct

from interlock.desk.authority import Authority
from interlock.desk.buttons import answer, click
from interlock.desk.desk import Desk
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.errors import InterlockError, NotAllowed
from interlock.gui.data.fetched_texts import FetchedTexts
from interlock.views.display import safe

Start = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]
Then = Callable[[Any], None]

STAYS_S = 8.0


class Note(Struct):
    """A notification, and until when it is shown."""

    text: str
    role: Literal["good", "bad", "waiting", "dim"]
    until: float


class Remembering(Protocol):
    """How a script is allowed for always (SPEC A8)."""

    async def rule_for(self, script: str, directory: str) -> str:
        """The narrowest rule; raises Rejected where there can be none."""
        ...

    async def keep(self, rule: str) -> None: ...


class Sender:
    """Never waits. What goes wrong becomes a notification."""

    def __init__(
        self,
        desk: Desk,
        by: Authority,
        start: Start,
        kept_text: Callable[[str], Awaitable[bytes | None]],
        rules: Remembering | None = None,
    ) -> None:
        self.desk = desk
        self.rules = rules
        self.by = by  # who acts: whoever drives the window in a person's place takes this over for as long
        self._start = start
        self._kept_text = kept_text
        self._open: list[tuple[Future[Any], Then | None]] = []
        self.set_off: list[Future[Any]] | None = None  # whoever drives the window learns here what that set off
        self.returned: Callable[[], None] = _nothing  # called, from any thread, when something has come back
        self.notes: list[Note] = []
        self.texts = FetchedTexts()  # by their names; empty while they are fetched

    def click(self, item: str, user_data: Any = None) -> None:
        self.run(click(self.desk, self.by, item, user_data))

    def set_value(self, name: str, value: str) -> None:
        by = self.by
        self.run(_now(lambda: self.desk.set_value(by, name, value)))

    def select_tab(self, name: str) -> None:
        self.run(_now(lambda: self.desk.select_tab(name)))

    def select_discussion(self, name: str) -> None:
        self.run(_now(lambda: self.desk.select_discussion(name)))

    def answer(self, command: AnswerApproval) -> None:
        self.run(answer(self.desk, self.by, command))

    def propose_rule(self, script: str, directory: str, then: Then) -> None:
        if self.rules is not None:
            self.run(self.rules.rule_for(script, directory), then)

    def always(self, command: AnswerApproval, rule: str) -> None:
        """Yes, and from now on the rule says it."""
        if self.rules is not None:
            self.run(self._always(self.by, command, rule, self.rules))

    async def _always(self, by: Authority, command: AnswerApproval, rule: str, rules: Remembering) -> None:
        if by.actor.startswith("test:"):
            raise NotAllowed("a test may answer, but not write rules that stay")
        await answer(self.desk, by, command)
        await rules.keep(rule)

    def run(self, work: Coroutine[Any, Any, Any], then: Then | None = None, *, by_hand: bool = True) -> None:
        try:
            future = self._start(work)
            self._open.append((future, then))
            if by_hand and self.set_off is not None:
                self.set_off.append(future)
            future.add_done_callback(lambda _: self.returned())
        except RuntimeError:  # the engine has gone: the window is closing
            work.close()

    def text(self, sha256: str) -> str:
        """A text kept beside the journal; empty until it is here."""
        if sha256 not in self.texts:
            self.texts.put(sha256, "")

            def take(content: bytes | None) -> None:
                self.texts.put(sha256, "(this text is gone)" if content is None else content.decode(errors="replace"))

            self.run(_awaited(self._kept_text(sha256)), take, by_hand=False)
        return self.texts.use(sha256)

    def note(self, text: str, role: Literal["good", "bad", "waiting", "dim"] = "bad") -> None:
        self.notes.append(Note(safe(text), role, time.monotonic() + STAYS_S))
        del self.notes[:-6]

    def drain(self) -> bool:
        """Once a frame: look at what has come back; whether anything has."""
        self.texts.next_frame()
        done = [each for each in self._open if each[0].done()]
        if done:
            self._open = [each for each in self._open if not each[0].done()]
        for future, then in done:
            if words := failure(future):
                self.note(words)
            elif then is not None and not future.cancelled():
                then(future.result())
        now = time.monotonic()
        if self.notes and self.notes[0].until < now:
            self.notes = [note for note in self.notes if note.until >= now]
            return True
        return bool(done)

    @property
    def waiting(self) -> bool:
        return bool(self._open)

    def under_way(self, some: Sequence["Future[Any]"]) -> bool:
        """Any of these has not come back yet, or nobody has looked at it."""
        return any(future is each for future, _ in self._open for each in some)


def failure(future: "Future[Any]") -> str:
    """Why nothing came of what is over; empty where something did."""
    error = None if future.cancelled() else future.exception()
    if error is None:
        return ""
    return (
        str(error) if isinstance(error, InterlockError) else f"a mistake in Interlock: {type(error).__name__}: {error}"
    )


def _nothing() -> None:
    pass


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


async def _now(act: Callable[[], Any]) -> Any:
    return act()
