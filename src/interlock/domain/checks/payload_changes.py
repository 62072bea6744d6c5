"""What changed between an approved payload and the one that would run now."""

from typing import Any, cast

from msgspec import to_builtins
from msgspec.structs import replace

from interlock.domain.values.approvals import (
    Answered,
    Approval,
    Change,
    Payload,
    ScriptPayload,
    SpawnPayload,
    ToolPayload,
    with_edit,
)

MOST = 400  # characters of a value
_NAMES = {"env_names": "environment", "diff": "change"}
_HIDDEN = frozenset({"type", "call", "arguments_sha256", "arguments_blob", "diff_blob", "context_blob"})
"""Fields that say nothing to a person. The text beside a digest or a blob shows the change."""


def approved(approval: Approval, answer: Answered) -> Payload:
    """The payload as the answer allowed it, with its edits."""
    payload = approval.payload
    if answer.edited is not None and isinstance(payload, ScriptPayload | ToolPayload | SpawnPayload):
        payload = with_edit(payload, answer.edited)
    if answer.edited_context is not None and isinstance(payload, SpawnPayload):
        payload = replace(payload, context=answer.edited_context, context_blob=None)
    return payload


def payload_changes(before: Payload, after: Payload) -> tuple[Change, ...]:
    """The fields that differ, in the order of the payload; of lists only the names that came or went."""
    old: dict[str, object] = to_builtins(before)
    new: dict[str, object] = to_builtins(after)
    changes: list[Change] = []
    for field in dict.fromkeys((*old, *new)):
        was, now = _parts(old.get(field)), _parts(new.get(field))
        if field not in _HIDDEN and was != now:
            gone, came = [part for part in was if part not in now], [part for part in now if part not in was]
            changes.append(Change(_NAMES.get(field, field), _shown(gone), _shown(came)))
    return tuple(changes)


def _parts(value: object) -> tuple[str, ...]:
    """The names of a list; the one text of any other value."""
    match value:
        case {"unknown": str(reason)}:  # an effect that cannot be shown
            return (reason,)
        case dict():
            effect = cast("dict[str, Any]", value)
            return (effect.get("ended", ""), *(f"{file['change']} {file['path']}" for file in effect.get("files", ())))
        case list() | tuple():
            return tuple(map(str, cast("tuple[object, ...]", value)))
        case bool():
            return ("on" if value else "off",)
        case None:
            return ()
        case _:
            return (str(value),)


def _shown(parts: list[str]) -> str:
    text = " ".join(parts)
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
