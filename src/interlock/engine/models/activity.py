"""Live activity of models and tools, in memory, for front ends and logs.

`ai_status` is the status of the user's own request: a discussion's turn, or planning. Workers do not change it, but
their calls and tools are published as well.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

IDLE = "idle"
SENDING = "sending..."
SHELL = "running shell..."
SHELL_DONE = "shell done, awaiting AI..."
FETCHING = "fetching url..."
SEARCHING = "searching web..."
DONE = "done"
ERROR = "error"

_OF_THE_USER = ("Discussion", "Tier 1", "Tier 2")
_BUSY = {"run_shell": SHELL, "fetch_url": FETCHING, "web_search": SEARCHING}
_KEYS = 256  # requests whose status is kept: the latest


class RequestStart(Struct, frozen=True):
    """A model call begins. `key` names the stream, such as `Discussion: D-1`."""

    key: str
    tier: str
    provider: str
    model: str


class ResponseReceived(Struct, frozen=True):
    """A model call has ended; `error` is its failure."""

    key: str
    tier: str
    text: str = ""
    calls: int = 0
    error: str = ""


class ToolExecution(Struct, frozen=True):
    """A tool call begins (`ended` is false) or ends. `by` is the rule or approval that allowed it."""

    key: str
    tier: str
    tool: str
    args: dict[str, Any]
    ended: bool = False
    result: str = ""
    failed: bool = False
    by: str = ""
    duration_ms: int = 0
    refused: str = ""  # "rejected" or "denied": it did not run


Happening = RequestStart | ResponseReceived | ToolExecution
Listener = Callable[[Happening], None]


class Activity:
    """Written on the engine's thread; its texts may be read on any thread."""

    def __init__(self) -> None:
        self.ai_status = IDLE
        self.ai_response = ""  # the latest answer to the user
        self._statuses: dict[str, str] = {}
        self._listeners: list[Listener] = []

    def status(self, key: str) -> str:
        """The status of one discussion or planner."""
        return self._statuses.get(key, IDLE)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """The listener is called after `ai_status` is updated. Returns a function that removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, happening: Happening) -> None:
        if happening.tier in _OF_THE_USER:
            if isinstance(happening, ResponseReceived) and not happening.error and not happening.calls:
                self.ai_response = happening.text
            self._set(happening.key, _status(happening))
        for listener in tuple(self._listeners):
            listener(happening)

    def withdrawn(self, key: str) -> None:
        """The request was cancelled."""
        if key in self._statuses:
            self._set(key, IDLE)

    def ended(self, key: str, *, stopped: bool, error: str) -> None:
        """A discussion's turn has ended and is recorded: its answer can be read."""
        self._set(key, IDLE if stopped else ERROR if error else DONE)

    def reset(self) -> None:
        self._statuses.clear()
        self.ai_status = IDLE
        self.ai_response = ""

    def _set(self, key: str, status: str | None) -> None:
        if status is None:
            return
        self._statuses.pop(key, None)
        self._statuses[key] = status
        if len(self._statuses) > _KEYS:
            del self._statuses[next(iter(self._statuses))]
        self.ai_status = status


def _status(happening: Happening) -> str | None:
    """The status after it; None if the status stays the same."""
    match happening:
        case RequestStart():
            return SENDING
        case ResponseReceived(error=error) if error:
            return ERROR
        case ResponseReceived(calls=calls):
            return None if calls or happening.tier == "Discussion" else DONE  # a turn is done when it is recorded
        case ToolExecution(refused=refused) if refused:
            return None
        case ToolExecution(tool="run_shell", ended=True):
            return SHELL_DONE
        case ToolExecution(tool=tool, ended=False):
            return _BUSY.get(tool)
        case ToolExecution():
            return None
