"""Keeps secrets out of the journal: the texts of a command are concealed or redacted before the command is decided.

A text that may run (a script, a gate, a tool call) is concealed: a mark stands for each secret, and the exact text is
restored right before it runs. Nothing else restores it. All other texts are redacted.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from msgspec import Struct, to_builtins
from msgspec.structs import asdict, replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.commands.attempt_commands import AskScript, AskWorker, FailWork, RedoAttempt
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.discussion_commands import AskInDiscussion, EndTurn, StartDiscussion
from interlock.domain.messages.commands.epic_commands import FailPlanning, PlanEpic, PlanTickets, ProposeTracks
from interlock.domain.messages.commands.external_ask_commands import AskPerson
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.commands.ticket_commands import BlockTicket, CancelTicket, EditTicket
from interlock.domain.messages.commands.track_commands import AbortTrack, AddTickets, AddTrack, EditTrack
from interlock.ports.secrets import Vault

Conceal = Callable[[str], str]
T = TypeVar("T")

_WITH_TEXTS = frozenset(
    (
        *(AddTrack, AddTickets, EditTrack, EditTicket, BlockTicket, CancelTicket, AbortTrack, Bulk),
        *(AskScript, AskWorker, AskInDiscussion, AskPerson, FailWork, RedoAttempt, EndTurn),
        *(PlanEpic, ProposeTracks, PlanTickets, FailPlanning, Tell, StartDiscussion),
    )
)
"""Commands with texts of people, models or programs. Outputs of commands are redacted where they are read."""


def conceal_command(command: Command, vault: Vault) -> Command:
    if isinstance(command, AnswerApproval):
        return conceal_texts(command, vault.conceal_answer, vault.redact)
    if isinstance(command, AnswerApprovals):
        return replace(command, message=vault.redact(command.message))
    if type(command) not in _WITH_TEXTS:
        return command
    joined = "\n".join(_texts_in(to_builtins(command)))  # one search over all texts: a graph has many short ones
    return conceal_texts(command, vault.conceal, vault.redact) if vault.detects(joined) else command


def _texts_in(plain: Any) -> Iterator[str]:
    match plain:
        case str():
            yield plain
        case dict():
            for name, value in cast("dict[str, Any]", plain).items():
                if name not in _NO_TEXTS:
                    yield from _texts_in(value)
        case list() | tuple():
            for value in cast("list[Any] | tuple[Any, ...]", plain):
                yield from _texts_in(value)
        case _:
            pass


def conceal_texts(value: T, conceal: Conceal, redact: Conceal) -> T:
    """The same value with texts that may run concealed and all others redacted; the value itself if nothing changed."""
    result: Any = value
    match value:
        case str():
            result = redact(value) if len(value) >= _SHORTEST else value
        case tuple() | list():
            items = cast("tuple[Any, ...] | list[Any]", value)
            changed = [conceal_texts(item, conceal, redact) for item in items]
            if any(new is not old for new, old in zip(changed, items, strict=True)):
                result = type(items)(changed)
        case dict():
            pairs = cast("dict[str, Any]", value)
            changes = _changes(pairs, conceal, redact)
            result = {**pairs, **changes} if changes else pairs
        case Struct():
            changes = _changes(asdict(value), conceal, redact)
            result = replace(value, **changes) if changes else value
        case _:
            pass
    return cast("T", result)


def _changes(fields: dict[str, Any], conceal: Conceal, redact: Conceal) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name, old in fields.items():
        if name not in _NO_TEXTS:
            new = conceal_texts(old, conceal, conceal if name in _RUNS else redact)
            if new is not old:
                changes[name] = new
    return changes


_RUNS = frozenset(["script", "command", "env", "edited", "arguments", "args"])
"""Fields whose text may run: its exact form is stored."""
_SHORTEST = 8
_NO_TEXTS = frozenset(
    [
        *("track", "ticket", "id", "approval", "discussion", "epic", "call", "call_id", "depends_on", "name"),
        *("digest", "sha256", "arguments_sha256", "commit", "tree", "base", "before", "after", "branch"),
        *(
            "directory",
            "env_names",
            "key",
            "asker",
            "deadline",
            "sandbox",
            "role",
            "assigned_to",
            "decision",
            "priority",
            "allowed_by",
        ),
    ]
)
"""Fields that identify something. They must stay as they are, and no person or model writes a text into them."""
