"""Submits UI actions to the engine thread and polls their futures each frame."""

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, Literal, Protocol

from msgspec import Struct

from interlock.desk.answering import answer_together
from interlock.desk.authority import Authority
from interlock.desk.buttons import answer, click
from interlock.desk.desk import Desk
from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.events.approval_events import ApprovalsAnswered
from interlock.domain.values.approvals import Payload, Pending
from interlock.errors import InterlockError
from interlock.gui.data.fetched_texts import FetchedTexts
from interlock.ports.learned_rules import LearnedRules
from interlock.views.answer_sets import set_sentence
from interlock.views.display import safe

Start = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]
Then = Callable[[Any], None]
Otherwise = Callable[[], None]  # called after a failure

STAYS_S = 8.0


class Note(Struct):
    """A notification, with the time until which it is shown."""

    text: str
    role: Literal["good", "bad", "waiting", "dim"]
    until: float


class HeldAnswer(Struct, frozen=True):
    """An answer given by a key, not sent yet: until `until` (the window's time) any key takes it back."""

    name: str  # of what is answered
    words: str  # what it does, such as "Approving A-1"
    until: float
    act: Callable[[], None]
    is_open: Callable[[], bool]  # False if it was answered elsewhere, or withdrawn


class RuleStore(Protocol):
    """Writes rules that allow a script or a tool in this project from now on."""

    async def rule_for(self, payload: Payload) -> str:
        """The narrowest rule; raises Rejected if no rule can allow it."""
        ...

    def keep(self, rule: str, *, everywhere: bool) -> Coroutine[Any, Any, None]: ...


class Sender:
    """Never blocks. A failure becomes a notification."""

    def __init__(
        self,
        desk: Desk,
        by: Authority,
        start: Start,
        kept_text: Callable[[str], Awaitable[bytes | None]],
        rules: RuleStore | None = None,
        learned: LearnedRules | None = None,
    ) -> None:
        self.desk = desk
        self.rules = rules
        self.learned = learned
        self.by = by  # the actor; the test harness replaces it while a test acts
        self._start = start
        self._kept_text = kept_text
        self._open: list[tuple[Future[Any], Then | None, Otherwise | None]] = []
        self.effects: list[Future[Any]] | None = None  # while a test acts: the futures its action started
        self.on_result: Callable[[], None] = _nothing  # called from any thread when a future is done
        self.notes: list[Note] = []
        self.held: HeldAnswer | None = None
        self.texts = FetchedTexts()  # by digest; empty while being fetched

    def click(self, item: str, user_data: Any = None, *, otherwise: Otherwise | None = None) -> None:
        self.run(click(self.desk, self.by, item, user_data), otherwise=otherwise)

    def set_value(self, name: str, value: str) -> None:
        by = self.by
        self.run(_now(lambda: self.desk.set_value(by, name, value)))

    def select_tab(self, name: str) -> None:
        self.run(_now(lambda: self.desk.select_tab(name)))

    def select_discussion(self, name: str) -> None:
        self.run(_now(lambda: self.desk.select_discussion(name)))

    def answer(
        self, command: AnswerApproval, rule: str = "", *, everywhere: bool = False, by: Authority | None = None
    ) -> None:
        """Send an answer; with `rule`, also store the rule that allows the same from now on."""
        if self.held is not None and self.held.name == command.approval:
            self.held = None
        by = by or self.by
        if rule and self.rules is not None:
            self.run(self._always(by, command, self.rules.keep(rule, everywhere=everywhere)))
        else:
            self.run(answer(self.desk, by, command))

    def hold(
        self, command: AnswerApproval, words: str, until: float, rule: str = "", *, everywhere: bool = False
    ) -> None:
        """Keep an answer that a key gave; `settle_held` sends it at `until`."""
        by = self.by
        self.hold_action(
            command.approval,
            words,
            until,
            lambda: self.answer(command, rule, everywhere=everywhere, by=by),
            lambda: isinstance(self.desk.state.approval(command.approval).state, Pending),
        )

    def hold_action(
        self, name: str, words: str, until: float, act: Callable[[], None], is_open: Callable[[], bool] = lambda: True
    ) -> None:
        """The same for any action."""
        self.held = HeldAnswer(name, words, until, act, is_open)

    def settle_held(self, now: float, *, any_key: bool) -> bool:
        """Once per frame, before it is drawn: drop, send or keep the held answer; True if a key took it back."""
        held = self.held
        if held is None:
            return False
        if any_key:
            self.held = None
            self.note(f"{held.name} was not answered: a key took the answer back", "dim")
        elif not held.is_open():
            self.held = None
        elif now >= held.until:
            self.held = None
            held.act()
        return any_key

    def answer_many(self, command: AnswerApprovals) -> None:
        """One answer to many; the reply names what was left out."""

        def tell(done: ApprovalsAnswered) -> None:
            self.note(set_sentence(done), "waiting" if done.left_out else "good")

        self.run(answer_together(self.desk, self.by, command), tell)

    def accept_rule(self, rule: str, then: Otherwise, *, everywhere: bool, least: int) -> None:
        if self.learned is not None:
            work = self.learned.accept(rule, everywhere=everywhere, least=least)
            self.run(self._write_rule(self.by, work), lambda _: then())

    def forget_rule(self, name: str, then: Otherwise) -> None:
        if self.learned is not None:
            self.run(self._write_rule(self.by, self.learned.forget(name)), lambda _: then())

    async def _write_rule(self, by: Authority, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            by.must_answer()
            by.must_write_rules()
        except InterlockError:
            work.close()
            raise
        return await work

    def propose_rule(self, payload: Payload, then: Then) -> None:
        if self.rules is not None:
            self.run(self.rules.rule_for(payload), then)

    async def _always(self, by: Authority, command: AnswerApproval, keep: Coroutine[Any, Any, None]) -> None:
        try:
            by.must_write_rules()
            await answer(self.desk, by, command)
        except InterlockError:
            keep.close()
            raise
        await keep

    def run(
        self,
        work: Coroutine[Any, Any, Any],
        then: Then | None = None,
        otherwise: Otherwise | None = None,
        *,
        by_user: bool = True,
    ) -> None:
        try:
            future = self._start(work)
            self._open.append((future, then, otherwise))
            if by_user and self.effects is not None:
                self.effects.append(future)
            future.add_done_callback(lambda _: self.on_result())
        except RuntimeError:  # the engine has stopped: the window is closing
            work.close()

    def text(self, sha256: str) -> str:
        """A text stored beside the journal; empty until it is fetched."""
        if sha256 not in self.texts:
            self.texts.put(sha256, "")

            def take(content: bytes | None) -> None:
                self.texts.put(
                    sha256, "(the text was removed)" if content is None else content.decode(errors="replace")
                )

            self.run(_awaited(self._kept_text(sha256)), take, by_user=False)
        return self.texts.use(sha256)

    def note(self, text: str, role: Literal["good", "bad", "waiting", "dim"] = "bad") -> None:
        self.notes.append(Note(safe(text), role, time.monotonic() + STAYS_S))
        del self.notes[:-6]

    def drain(self) -> bool:
        """Once per frame: handle the futures that are done; True if anything changed."""
        self.texts.next_frame()
        done = [one for one in self._open if one[0].done()]
        if done:
            self._open = [one for one in self._open if not one[0].done()]
        for future, then, otherwise in done:
            if message := failure(future):
                self.note(message)
                if otherwise is not None:
                    otherwise()
            elif then is not None and not future.cancelled():
                then(future.result())
        now = time.monotonic()
        if self.notes and self.notes[0].until < now:
            self.notes = [note for note in self.notes if note.until >= now]
            return True
        return bool(done)

    @property
    def waiting(self) -> bool:
        return bool(self._open) or self.held is not None

    def any_open(self, some: Sequence["Future[Any]"]) -> bool:
        """Whether any of these futures is not handled yet."""
        return any(future is wanted for future, *_ in self._open for wanted in some)


def failure(future: "Future[Any]") -> str:
    """The error of a finished future; empty if it succeeded or was cancelled."""
    error = None if future.cancelled() else future.exception()
    if error is None:
        return ""
    return str(error) if isinstance(error, InterlockError) else f"a bug in Interlock: {type(error).__name__}: {error}"


def _nothing() -> None:
    pass


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


async def _now(act: Callable[[], Any]) -> Any:
    return act()
