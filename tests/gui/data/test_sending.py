"""An answer by a key is held: any key takes it back, and it is sent only at its time and if it is still asked for."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from interlock.desk.authority import Authority
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.errors import NotAllowed
from interlock.gui.data.sending import Sender
from tests.domain.given import Bench, bench, shell

YES = AnswerApproval("A-1", "approve")


def asking() -> Bench:
    project = bench(shell("T"))
    project.asked("T")
    return project


class Sent(Sender):
    """Keeps the answers that would be sent."""

    def __init__(self, project: Bench) -> None:
        self.sent: list[str] = []
        desk: Any = SimpleNamespace(state=project.state)

        async def no_text(_: str) -> bytes | None:
            return None

        super().__init__(desk, Authority("human:ada", answers=True, places=True), self._begin, no_text)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        self.sent.append(work.__qualname__)
        work.close()
        done: Future[Any] = Future()
        done.set_result(None)
        return done


def test_a_held_answer_is_sent_at_its_time_and_not_before() -> None:
    sender = Sent(asking())
    sender.hold(YES, "Approving A-1", until=10)
    assert sender.settle_held(9.9, any_key=False) is False
    assert (sender.sent, sender.held is not None) == ([], True)
    sender.settle_held(10, any_key=False)
    assert (len(sender.sent), sender.held) == (1, None)


def test_any_key_takes_a_held_answer_back() -> None:
    sender = Sent(asking())
    sender.hold(YES, "Approving A-1", until=10)
    assert sender.settle_held(11, any_key=True) is True
    assert (sender.sent, sender.held) == ([], None)
    assert "was not answered" in sender.notes[0].text


def test_an_answer_to_a_question_that_is_answered_elsewhere_is_not_sent() -> None:
    project = asking()
    project.answer("A-1", "reject")
    sender = Sent(project)
    sender.hold(YES, "Approving A-1", until=10)
    sender.settle_held(11, any_key=False)
    assert (sender.sent, sender.held) == ([], None)


def test_whoever_may_not_write_rules_does_not_answer_with_one() -> None:
    kept: list[str] = []

    async def keep() -> None:
        kept.append("rule")

    async def story() -> None:
        sender = Sent(asking())
        with pytest.raises(NotAllowed, match="not write policy rules"):
            await sender._always(Authority("test:x", answers=True, places=True), YES, keep())

    asyncio.run(story())
    assert kept == []
