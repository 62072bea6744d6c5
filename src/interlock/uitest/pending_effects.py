"""What an action set off and the workbench has not answered yet: success means that it happened (SPEC U3)."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.gui.data.sending import Sender, failure

_TURN_S = 1.0  # the next action waits so long for what the one before it set off


class Done(Struct, frozen=True):
    """How an action ended: success means that it happened."""

    success: bool
    message: str
    key: str = ""
    path: str = ""
    logs: tuple[str, ...] = ()
    tree: str = ""  # of a failure: everything that was there
    late: bool = False  # it was not over when its time was


class _Acted(Struct):
    done: Done
    set_off: Sequence["Future[Any]"]
    since: float
    deadline: float
    told: "Future[Done]"


class Settling:
    """Actions whose input is over. Nobody's hands are bound meanwhile: neither a person's nor another test's."""

    def __init__(self, explained: Callable[[Done], Done]) -> None:
        self._open: list[_Acted] = []
        self._explained = explained  # adds to a failure what was there

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(
        self, done: Done, set_off: Sequence["Future[Any]"], now: float, deadline: float, told: "Future[Done]"
    ) -> None:
        self._open.append(_Acted(done, set_off, now, deadline, told))

    def recent(self, now: float) -> bool:
        """The last action may be answered any moment: what comes after it sees what it did."""
        return any(now - each.since < _TURN_S for each in self._open)

    def check(self, send: Sender, now: float) -> None:
        """Once a frame, when it is drawn: what is answered is also in sight."""
        left: list[_Acted] = []
        for each in self._open:
            over = not send.under_way(each.set_off)
            if not over and now < each.deadline:
                left.append(each)
                continue
            done = _outcome(each) if over else _late(each.done)
            each.told.set_result(done if done.success else self._explained(done))
        self._open = left

    def closed(self, gone: Exception) -> None:
        for each in self._open:
            each.told.set_exception(gone)
        self._open = []


def _outcome(acted: _Acted) -> Done:
    refused = [words for each in acted.set_off if (words := failure(each))]
    if not acted.done.success or not refused:
        return acted.done
    return replace(acted.done, success=False, message=f"it was refused: {'; '.join(refused)}")


def _late(done: Done) -> Done:
    what = f"{done.message}, but the workbench has not answered in time"
    return replace(done, success=False, message=what, late=True)
