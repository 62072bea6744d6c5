"""Keeps secrets out of the journal: every text of a command is concealed before the command is decided.

A concealed text names each secret by a mark. Where a text runs (a script, a gate, a tool call), the exact text is
restored right before. Nothing else restores it.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from msgspec import Struct
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

Conceal = Callable[[str], str]
T = TypeVar("T")

_WITH_TEXTS = (
    *(AddTrack, AddTickets, EditTrack, EditTicket, BlockTicket, CancelTicket, AbortTrack, Bulk),
    *(AskScript, AskWorker, AskInDiscussion, AskPerson, FailWork, RedoAttempt, EndTurn),
    *(PlanEpic, ProposeTracks, PlanTickets, FailPlanning, Tell, StartDiscussion),
)
"""Commands with texts of people, models or programs. Outputs of commands are redacted where they are read."""


def conceal_command(command: Command, conceal: Conceal, conceal_answer: Conceal) -> Command:
    """`conceal_answer` serves answers of people: they may keep the marks of what they were shown in an edit."""
    if isinstance(command, AnswerApproval):
        return conceal_texts(command, conceal_answer)
    return conceal_texts(command, conceal) if isinstance(command, _WITH_TEXTS) else command


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
