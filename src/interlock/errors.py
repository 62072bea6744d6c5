"""All error classes, grouped by the party that must act.

InterlockError
├── Rejected            the user: a command that may not happen, and why
│   ├── OverBudget      the next call could cost more than is left
│   ├── NotFound        nothing has that name
│   ├── NotAllowed      this actor may not do it
│   ├── BadValue        a value is not valid
│   └── BranchMoved     the user's branch is not where a landing was prepared for
├── ToolFailure         the model: a tool call that did not work
├── Unavailable         retry later (after `retry_after_secs` if known)
│   ├── NothingSaid     the model used all tokens of its answer without saying anything
│   ├── OutOfTime       a program used its whole time limit without an answer
│   ├── NoHarness       no window is available to drive
│   └── NoAnswer        the process that holds the project gives no sign of life
├── Misconfigured       the operator: settings, files, machine
│   ├── NotBelieved     `.interlock` was not made here by this user's Interlock
│   └── JournalInUse    another process holds the project's journal
└── JournalError        the operator: the journal itself
    ├── JournalCorrupt  rows altered, removed or reordered
    │   └── NotAJournal another file is in its place
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
    """Nothing has that name; the message suggests similar names."""


class NotAllowed(Rejected):
    """The actor may not do this; another actor may."""


class BadValue(Rejected):
    """A value of the command is not valid."""


class BranchMoved(Rejected):
    """The user's branch has moved since a landing was prepared."""


class ToolFailure(InterlockError):
    """A tool call failed in a way the model should read."""


class Unavailable(InterlockError):
    """Something is not reachable now."""

    def __init__(self, message: str, retry_after_secs: float | None = None, *, may_cost: bool = False) -> None:
        super().__init__(message)
        self.retry_after_secs = retry_after_secs
        self.may_cost = may_cost  # the call broke off, so its cost is unknown


class NothingSaid(Unavailable):
    """The model used up its answer's length without saying anything; the same call again would do the same."""


class OutOfTime(Unavailable):
    """A program used its whole time limit without an answer; another try would take as long and may cost as much."""


class NoHarness(Unavailable):
    """No window is available to drive."""


class NoAnswer(Unavailable):
    """The process that holds the project gives no sign of life: it may be stopped."""


class Misconfigured(InterlockError):
    """Settings, files or the machine do not allow the work."""


class NotBelieved(Misconfigured):
    """The project's `.interlock` was not made in this place by this user's Interlock, so nothing of it counts."""


class JournalInUse(Misconfigured):
    """Another process writes this project's journal."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class JournalError(InterlockError):
    """The journal cannot be used as it is."""


class JournalCorrupt(JournalError):
    """The journal's rows differ from the written ones."""


class NotAJournal(JournalCorrupt):
    """The file is no journal at all: nothing of it can be read."""


class JournalUnwritable(JournalError):
    """No row can be appended to the journal; reading still works."""
