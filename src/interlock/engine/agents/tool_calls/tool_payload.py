"""The approval payload of a tool call."""

import json
from hashlib import sha256

from msgspec import UNSET, UnsetType

from interlock.domain.values.approvals import ToolPayload
from interlock.domain.values.gates import Blob
from interlock.engine.blobs import INLINE, KeptTexts
from interlock.ports.model import ToolCall
from interlock.ports.tools import Preview


async def tool_payload(texts: KeptTexts, call: ToolCall, preview: Preview, directory: str) -> ToolPayload:
    diff, whole = await texts.shortened(
        "".join(f"{hunk.path} [{hunk.number}] {hunk.header}\n{hunk.text}" for hunk in preview.hunks)
    )
    arguments = json.dumps(call.args, ensure_ascii=False, sort_keys=True)
    named = sha256(arguments.encode(errors="replace")).hexdigest()
    blob: Blob | UnsetType = UNSET
    if len(arguments) > INLINE:
        _, kept = await texts.shortened(arguments)
        blob = kept or UNSET
        arguments = arguments[:INLINE] + f"… ({len(arguments):,} characters)"
    hunks = len(preview.hunks)
    about = (call.id, call.name, arguments, named, preview.title, hunks, diff, directory, whole, blob)
    return ToolPayload(*about, hosts=preview.hosts or UNSET)
