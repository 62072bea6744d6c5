"""Ports for running attempts and gates, and for the policy that decides first."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.gates import GateResult
from interlock.domain.values.tickets import Saved, TicketSpec


class Assignment(Struct, frozen=True):
    """One attempt at one ticket."""

    track: str
    ticket: TicketSpec
    attempt: int
    script: str  # the ticket's own script, or a person's edit of it
    why: str | None = None  # why the previous attempt failed
    env: tuple[tuple[str, str], ...] = ()  # variables that the allowing rule requires


class Done(Struct, frozen=True):
    """The attempt succeeded. `saved` is None if there is nothing to merge."""

    saved: Saved | None
    summary: str = ""


class Failed(Struct, frozen=True):
    """The attempt failed."""

    reason: str
    output: str = ""


class Unsaved(Struct, frozen=True):
    """The attempt succeeded, but its work could not be saved. It is only in its folder."""

    reason: str
    summary: str = ""


class NotAllowed(Struct, frozen=True):
    """The rules no longer allow the script in its worktree, so it did not run."""

    verdict: "PolicyVerdict"


LastCheck = Callable[[], Awaitable["PolicyVerdict | None"]]
"""Called in the ready worktree, right before a script starts. Returns the verdict that stops it, or None."""


class Prepared(Struct, frozen=True):
    """An attempt that is ready to run.

    `terms` is exactly what an approval shows. `run` takes the digest of the approved terms; it runs these terms only
    if their digest is the same, and fails otherwise.
    """

    terms: ScriptPayload
    run: Callable[[str, LastCheck | None], Awaitable[Done | Failed | Unsaved | NotAllowed]]


class Crew(Protocol):
    """Runs attempts, on this machine or elsewhere."""

    def prepare(self, assignment: Assignment) -> Prepared:
        """Computes the terms of an attempt; starts nothing."""
        ...

    async def make_ready(self, assignment: Assignment) -> Failed | None:
        """Makes the worktree of an attempt, so that its script can be judged in it. Returns a failure, or None."""
        ...

    async def save_again(self, assignment: Assignment, summary: str) -> Done | Unsaved | None:
        """Saves the work that an earlier attempt left in its folder; None if the folder is gone."""
        ...


class GateRunner(Protocol):
    """Runs one gate of a ticket on one saved tree."""

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult: ...


class PolicyVerdict(Struct, frozen=True):
    """The verdict of the rules on a script or tool.

    An `allow` holds only with `env` added to the environment. A verdict without a rule name is not recorded: no
    policy is configured.
    """

    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    env: tuple[tuple[str, str], ...] = ()
    explicit: bool = False  # a rule of the user or the project decided, not the absence of one

    @property
    def asking_rule(self) -> str:
        """The rule that wants a person's answer; autonomy does not answer for that person."""
        return self.rule if self.verdict == "ask" and self.explicit else ""


class Policy(Protocol):
    """Evaluates the rules before a person is asked."""

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        """The verdict on a script in a directory; `own` are the gate commands accepted with its ticket."""
        ...

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        """The verdict on a changing tool, by its name, all files that it changes, and all hosts that it contacts."""
        ...
