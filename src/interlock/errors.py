"""Every error class of the program, grouped by who must act.

InterlockError
├── Rejected            the user: a command that may not happen, and why
│   ├── OverBudget      the next call could cost more than is left
│   ├── NotFound        nothing has that name
│   ├── NotAllowed      whoever asks may not
│   └── BadValue        it cannot be understood so
├── ToolFailure         the model: a tool call that did not work
├── Unavailable         nobody yet: try again (after `retry_after_secs` where known)
│   └── NoHarness       no window is there to be driven
├── Misconfigured       the operator: settings, files, machine
│   └── JournalInUse    another process holds the project's journal
└── JournalError        the operator: the journal itself
    ├── JournalCorrupt  rows altered, removed, reordered, or not a journal
    └── JournalUnwritable  disk full, read-only, gone

Anything else that escapes is a bug.
"""


class InterlockError(Exception):
    """Base of all errors whose message is meant for a person."""


class Rejected(InterlockError):
    """A command was refused; nothing was recorded."""


class OverBudget(Rejected):
    """A call was not made because it could cost more than its budget has left."""


class NotFound(Rejected):
    """Nothing has that name; the message names what comes near."""


class NotAllowed(Rejected):
    """Somebody else may, whoever asks may not."""


class BadValue(Rejected):
    """The command is known, but not with this value."""


class ToolFailure(InterlockError):
    """A tool call failed in a way the model should read."""


class Unavailable(InterlockError):
    """Something is not reachable now."""

    def __init__(self, message: str, retry_after_secs: float | None = None, *, may_cost: bool = False) -> None:
        super().__init__(message)
        self.retry_after_secs = retry_after_secs
        self.may_cost = may_cost  # it broke off in the middle: what it cost is not known


class NoHarness(Unavailable):
    """Nobody is there to drive a window."""


class Misconfigured(InterlockError):
    """Settings, files or the machine do not allow the work."""


class JournalInUse(Misconfigured):
    """Another process writes this project's journal."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class JournalError(InterlockError):
    """The journal cannot be used as it is."""


class JournalCorrupt(JournalError):
    """The journal's rows are not what was once written."""


class JournalUnwritable(JournalError):
    """The journal cannot take another row; it stays readable."""
