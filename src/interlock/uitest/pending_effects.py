"""Effects of actions that the workbench has not confirmed yet: an action succeeds only when its effects do."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.gui.data.sending import Sender, failure

_TURN_S = 1.0  # the next action waits at most so long for the effects of the one before it


class Done(Struct, frozen=True):
    """The outcome of an action."""

    success: bool
    message: str
    key: str = ""
    path: str = ""
    logs: tuple[str, ...] = ()
    tree: str = ""  # all widgets, if the action failed
    late: bool = False  # the effects were not confirmed before the deadline


class _PendingAction(Struct):
    done: Done
    effects: Sequence["Future[Any]"]
    since: float
    deadline: float
    future: "Future[Done]"


class PendingEffects:
    """Actions whose input is complete. Meanwhile the user and other tests can use the window."""

    def __init__(self, explained: Callable[[Done], Done]) -> None:
        self._open: list[_PendingAction] = []
        self._explained = explained  # adds the window's content to a failure

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(
        self, done: Done, effects: Sequence["Future[Any]"], now: float, deadline: float, future: "Future[Done]"
    ) -> None:
        self._open.append(_PendingAction(done, effects, now, deadline, future))

    def recent(self, now: float) -> bool:
        """Whether the last action may be confirmed soon, so that the next one should wait for its effects."""
        return any(now - pending.since < _TURN_S for pending in self._open)

    def check(self, send: Sender, now: float) -> None:
        """Once per frame, after it is drawn: a confirmed effect is then also visible."""
        left: list[_PendingAction] = []
        for pending in self._open:
            over = not send.any_open(pending.effects)
            if not over and now < pending.deadline:
                left.append(pending)
                continue
            done = _outcome(pending) if over else _timed_out(pending.done)
            pending.future.set_result(done if done.success else self._explained(done))
        self._open = left

    def closed(self, error: Exception) -> None:
        for pending in self._open:
            pending.future.set_exception(error)
        self._open = []


def _outcome(pending: _PendingAction) -> Done:
    refusals = [message for effect in pending.effects if (message := failure(effect))]
    if not pending.done.success or not refusals:
        return pending.done
    return replace(pending.done, success=False, message=f"it was refused: {'; '.join(refusals)}")


def _timed_out(done: Done) -> Done:
    message = f"{done.message}, but the workbench has not answered in time"
    return replace(done, success=False, message=message, late=True)
