"""The envelopes of commands (Submission) and events (Recorded)."""

from typing import cast, get_args

from msgspec import Struct

from interlock.domain.messages.commands.attempt_commands import WorkerCommand
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.events.event import Event

Actor = str  # "human:<name>", "policy:<rule>", "worker:<ticket>/<attempt>", "program:<name>", "test:<id>", "system"

SYSTEM: Actor = "system"
APPROVE_ALL: Actor = "policy:approve-all"
APPROVED_STEP: Actor = "policy:approved-step"
CONTAINED: Actor = "policy:contained"

OWN_NAMES = frozenset(actor.removeprefix("policy:") for actor in (APPROVE_ALL, APPROVED_STEP, CONTAINED))
"""Answers that no rule of the policy gives; no rule may have such a name."""

_OF_WORKERS = frozenset(get_args(WorkerCommand))  # a lookup: isinstance on a union takes ten times as long


class Submission(Struct, frozen=True, gc=False):
    """A command with its actor. `id` becomes the cause of its events."""

    id: str
    actor: Actor
    command: Command


class Recorded(Struct, frozen=True, gc=False):
    """An event with its version in the journal."""

    version: int
    at: str  # RFC 3339, UTC
    actor: Actor
    cause: str
    event: Event


def is_agent(actor: Actor) -> bool:
    return actor.startswith("worker:")


PROGRAM = "program:"


def is_program(actor: Actor) -> bool:
    """Whether an outside program is the actor, such as a client of the MCP server. It drives, and never answers."""
    return actor.startswith(PROGRAM)


def program_name(actor: Actor) -> str:
    return actor.removeprefix(PROGRAM)


def is_rule(actor: Actor) -> bool:
    """Whether a rule of the policy is the actor. Its answer counts only as long as the rule allows the call."""
    return actor.startswith("policy:") and actor.removeprefix("policy:") not in OWN_NAMES


def worker(ticket: str, attempt: int) -> Actor:
    return f"worker:{ticket}/{attempt}"


def reporter(command: Command) -> Actor:
    """The actor of an outcome: the worker for what it asks, says and hands in, else the system."""
    if type(command) not in _OF_WORKERS:
        return SYSTEM
    said = cast("WorkerCommand", command)
    return worker(said.ticket, said.attempt)
