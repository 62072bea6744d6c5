"""Keeps secrets out of the journal: every text of a command is concealed before the command is decided.

A concealed text names each secret by a mark. Where a text runs (a script, a gate, a tool call), the exact text is
restored right before. Nothing else restores it.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from msgspec import Struct, to_builtins
from msgspec.structs import asdict, replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
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

_WITH_TEXTS = (
    *(AddTrack, AddTickets, EditTrack, EditTicket, BlockTicket, CancelTicket, AbortTrack, Bulk),
    *(AskScript, AskWorker, AskInDiscussion, AskPerson, FailWork, RedoAttempt, EndTurn),
    *(PlanEpic, ProposeTracks, PlanTickets, FailPlanning, Tell, StartDiscussion),
)
"""Commands with texts of people, models or programs. Outputs of commands are redacted where they are read."""


def conceal_command(command: Command, vault: Vault) -> Command:
    if isinstance(command, AnswerApproval):
        return conceal_texts(command, vault.conceal_answer)
    if not isinstance(command, _WITH_TEXTS):
        return command
    joined = "\n".join(_texts_in(to_builtins(command)))  # one search over all texts: a graph has many short ones
    return conceal_texts(command, vault.conceal) if vault.detects(joined) else command


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


def conceal_texts(value: T, conceal: Conceal) -> T:
    """The same value with all its texts concealed; the value itself if nothing changed."""
    result: Any = value
    match value:
        case str():
            result = conceal(value) if len(value) >= _SHORTEST else value
        case tuple() | list():
            items = cast("tuple[Any, ...] | list[Any]", value)
            concealed = [conceal_texts(item, conceal) for item in items]
            if any(new is not old for new, old in zip(concealed, items, strict=True)):
                result = type(items)(concealed)
        case dict():
            pairs = cast("dict[str, Any]", value)
            parts: dict[str, Any] = {name: conceal_texts(item, conceal) for name, item in pairs.items()}
            result = pairs if all(parts[name] is pairs[name] for name in pairs) else parts
        case Struct():
            fields = asdict(value)
            texts = {name: old for name, old in fields.items() if name not in _NO_TEXTS}
            changes = {name: new for name, old in texts.items() if (new := conceal_texts(old, conceal)) is not old}
            result = replace(value, **changes) if changes else value
        case _:
            pass
    return cast("T", result)


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
