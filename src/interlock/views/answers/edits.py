"""The texts of an approval that a person can edit, for all front ends."""

import msgspec

from interlock.domain.values.approvals import Approval, ScriptPayload, SpawnPayload, ToolPayload, TracksPayload


def editable_text(approval: Approval) -> str | None:
    """What an edit replaces: the script, the arguments, the prompt or the tracks; None if there is no such text.

    None, too, while the approval holds only the beginning of a long text: see `with_whole_texts`.
    """
    match approval.payload:
        case ScriptPayload(script):
            return script
        case ToolPayload() as payload:
            return None if payload.whole_arguments else _indented(payload.arguments.encode())
        case SpawnPayload(prompt=prompt):
            return prompt
        case TracksPayload(tracks=tracks):
            return _indented(msgspec.json.encode(tracks))
        case _:
            return None


def editable_context(approval: Approval) -> str | None:
    """The context of a worker, whole; None for other approvals."""
    payload = approval.payload
    return payload.context if isinstance(payload, SpawnPayload) and payload.context_blob is None else None


def suffix_of(approval: Approval) -> str:
    """Of a file with that text, so that an editor knows its language."""
    return {"script": "sh", "spawn": "md"}.get(approval.kind, "json")


def _indented(content: bytes) -> str:
    try:
        return msgspec.json.format(content, indent=2).decode()
    except msgspec.MsgspecError:
        return content.decode()
