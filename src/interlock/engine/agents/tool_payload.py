"""The approval payload of a tool call."""

import json
from hashlib import sha256

from interlock.domain.values.approvals import ToolPayload
from interlock.engine.blobs import INLINE, KeptTexts
from interlock.ports.model import ToolCall
from interlock.ports.tools import Preview


async def tool_payload(texts: KeptTexts, call: ToolCall, preview: Preview, directory: str) -> ToolPayload:
    diff, whole = await texts.shortened(
        "".join(f"{hunk.path} [{hunk.number}] {hunk.header}\n{hunk.text}" for hunk in preview.hunks)
    )
    arguments = json.dumps(call.args, ensure_ascii=False, sort_keys=True)
    named = sha256(arguments.encode(errors="replace")).hexdigest()
    if len(arguments) > INLINE:  # the model's message holds all of it; the payload has its digest
        arguments = arguments[:INLINE] + f"… ({len(arguments):,} characters)"
    return ToolPayload(call.id, call.name, arguments, named, preview.title, len(preview.hunks), diff, directory, whole)
