"""The ports that run attempts and gates, and the policy checked before."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.gates import GateResult
from interlock.domain.values.tickets import Saved, TicketSpec


class Assignment(Struct, frozen=True):
    """One attempt at one ticket. `digest` is the hash of what was approved."""

    track: str
    ticket: TicketSpec
    attempt: int
    script: str  # the ticket's script, or a person's edit of it
    digest: str = ""
    why: str | None = None  # why the earlier attempt failed
    env: tuple[tuple[str, str], ...] = ()  # the rule allows the script only with these variables


class Done(Struct, frozen=True):
    """The work is finished and saved; None when there is nothing to merge."""

    saved: Saved | None
    summary: str = ""


class Failed(Struct, frozen=True):
    """The work failed."""

    reason: str
    output: str = ""


class Crew(Protocol):
    """Where attempts run."""

    def terms(self, assignment: Assignment) -> ScriptPayload:
        """Exactly what `work` would run, for the approval that must come first."""
        ...

    async def work(self, assignment: Assignment) -> Done | Failed:
        """Runs the script if its terms still match `digest`."""
        ...


class GateRunner(Protocol):
    """Runs one gate of a ticket on one saved tree."""

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult: ...


class PolicyVerdict(Struct, frozen=True):
    """The decision of a policy. An allowed script must run with `env` added to its environment.

    Without a rule's name nothing is recorded: the project has no policy.
    """

    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    env: tuple[tuple[str, str], ...] = ()


class Policy(Protocol):
    """Decides by rules before a person is asked."""

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        """The verdict on a script in a directory; `own` are the gates accepted with its ticket."""
        ...

    def tool(self, name: str) -> PolicyVerdict:
        """The verdict on a changing tool, by its name."""
        ...
