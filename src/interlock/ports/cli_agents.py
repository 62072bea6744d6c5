"""The port to CLI agents: programs with tools of their own that work on a ticket, such as Claude Code.

An agent runs in the sandbox, in the worktree of its ticket. It asks about each changing call of a tool and waits for
the decision. Its process stays alive meanwhile, but it is disposable: after a crash a new attempt begins.
"""

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from interlock.domain.values.budgets import Usage
from interlock.ports.model import OnText, ToolCall
from interlock.ports.tools import Preview, ToolPlace


class AgentTerms(Struct, frozen=True):
    """What a person should know before the agent starts, one line each."""

    title: str
    lines: tuple[str, ...]
    supervised: bool  # every changing call is asked about first


class AgentCall(Struct, frozen=True):
    """A tool call that waits for a decision.

    `call` has our name where we have an equal tool: a command is `run_shell` with a `script`. `preview` is its effect.
    """

    call: ToolCall
    preview: Preview


class CallDecision(Struct, frozen=True):
    """The answer to a call. `args` are the arguments to use, if a person changed them."""

    allow: bool
    message: str = ""
    args: dict[str, Any] | None = None


class AgentAnswer(Struct, frozen=True):
    """The agent has ended its turn. `session` continues the conversation, if the agent can do that."""

    text: str
    session: str
    usage: Usage
    model: str


OnTool = Callable[[str], None]
"""Receives one line for each tool call that the agent makes, for display only."""


class AgentRun(Struct, frozen=True):
    """One turn of an agent. `session` is the conversation to continue; without it the prompt is the whole input."""

    agent: str
    track: str
    ticket: str
    attempt: int
    prompt: str
    place: ToolPlace
    on_text: OnText
    on_tool: OnTool
    session: str = ""
    model: str = ""


class AgentSession(Protocol):
    """A running agent."""

    @property
    def attempt(self) -> int: ...

    @property
    def env_names(self) -> tuple[str, ...]:
        """The names of the variables that the agent's commands see."""
        ...

    booking: str
    """The reservation of its cost."""

    async def next(self) -> AgentCall | AgentAnswer:
        """The oldest call without a decision, or the end. Raises Unavailable or Misconfigured if the agent failed."""
        ...

    def decide(self, call: str, decision: CallDecision) -> None: ...


class CliAgents(Protocol):
    """Starts agents and keeps their processes, at most one for each ticket."""

    def terms(self, agent: str) -> AgentTerms:
        """Raises Misconfigured if there is no such agent, or if it cannot be used here."""
        ...

    def running(self, track: str, ticket: str) -> AgentSession | None: ...

    def can_continue(self, track: str, ticket: str, session: str) -> bool:
        """Whether what the agent stored about this conversation is still there."""
        ...

    async def start(self, run: AgentRun) -> AgentSession:
        """Ends an earlier process of the same ticket first."""
        ...

    async def end(self, track: str, ticket: str, *, forget: bool = False) -> None:
        """Ends the ticket's process, if there is one. `forget` also removes what the agent stored."""
        ...

    def leave(self, track: str, ticket: str) -> None:
        """Like `end`, without waiting."""
        ...

    async def close(self) -> None: ...
