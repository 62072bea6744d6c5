"""What runs attempts and gates, and the policy that is asked first."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.gates import GateResult
from interlock.domain.values.tickets import Saved, TicketSpec


class Assignment(Struct, frozen=True):
    """One attempt at one ticket. `digest` names exactly what was allowed to run."""

    track: str
    ticket: TicketSpec
    attempt: int
    script: str  # the ticket's own, or the human's edit of it
    digest: str = ""
    why: str | None = None  # what went wrong before
    env: tuple[tuple[str, str], ...] = ()  # with which alone a rule allows it


class Done(Struct, frozen=True):
    """The work is finished and saved; None when there is nothing to merge."""

    saved: Saved | None
    summary: str = ""


class Failed(Struct, frozen=True):
    """The work ended badly."""

    reason: str
    output: str = ""


class Crew(Protocol):
    """Where attempts run."""

    def terms(self, assignment: Assignment) -> ScriptPayload:
        """Exactly what `work` would run, for the approval that must come first."""
        ...

    async def work(self, assignment: Assignment) -> Done | Failed:
        """Runs it, unless the terms are not (any more) those that `digest` names."""
        ...


class GateRunner(Protocol):
    """Runs one gate of a ticket on one saved tree."""

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult: ...


class PolicyVerdict(Struct, frozen=True):
    """`env` must be added to the environment of what is allowed: it is allowed only so.

    Without the name of a rule nothing is recorded about it: for whoever has no policy at all.
    """

    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    env: tuple[tuple[str, str], ...] = ()


class Policy(Protocol):
    """What rules say before a person is asked."""

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        """Of a script that would run in a directory; `own` are the gates accepted with its ticket."""
        ...

    def tool(self, name: str) -> PolicyVerdict:
        """Of a tool that changes something, by its name."""
        ...
