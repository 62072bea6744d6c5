"""Editing what an approval asks about, in the person's editor."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from interlock.domain.values.approvals import Approval, ScriptPayload, SpawnPayload, ToolPayload, TracksPayload
from interlock.domain.values.gates import Blob
from interlock.errors import JournalError, Rejected
from interlock.sandbox.jobs.foreground import run_editor
from interlock.wire import pretty

Fetch = Callable[[str], bytes]

_SUFFIXES = {"script": "sh", "tool": "json", "ask": "json", "spawn": "md", "tracks": "json"}


def editable_text(approval: Approval, fetch: Fetch) -> str | None:
    """The whole text that an edit replaces; None if nothing can be edited. Raises Rejected if it cannot be read."""
    match approval.payload:
        case ScriptPayload(script):
            return script
        case ToolPayload() as payload:
            return _indented(_whole(payload.whole_arguments, payload.arguments, fetch))
        case SpawnPayload(prompt=prompt):
            return prompt
        case TracksPayload(tracks=tracks):
            return pretty(tracks)
        case _:
            return None


def editable_context(approval: Approval, fetch: Fetch) -> str | None:
    payload = approval.payload
    return _whole(payload.context_blob, payload.context, fetch) if isinstance(payload, SpawnPayload) else None


def _whole(blob: Blob | None, text: str, fetch: Fetch) -> str:
    if blob is None:
        return text
    try:
        return fetch(blob.sha256).decode()
    except (JournalError, UnicodeDecodeError) as error:
        raise Rejected(f"the whole text cannot be read, so it cannot be edited: {error}") from error


def _indented(arguments: str) -> str:
    """Arguments as a person can edit them."""
    try:
        return msgspec.json.format(arguments, indent=2)
    except msgspec.MsgspecError:
        return arguments


def edited_text(approval: Approval, text: str, refused: str | None = None) -> str | None:
    """The text after editing; None if it is unchanged. `refused` is an earlier edit; editing begins with it."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="interlock-edit-") as folder:
        file = Path(folder) / f"{approval.ticket or approval.id}.{_SUFFIXES.get(approval.kind, 'txt')}"
        file.write_text(text if refused is None else refused)
        if not run_editor(command, file):
            return None
        edited = file.read_text()
    return edited if edited != text else None
