"""The result of an MCP tool as a text for a model: bounded, without escape sequences."""

from collections.abc import Iterator, Sequence
from typing import Any

import mcp_types as types

from interlock.views.display import counted, safe

MOST_TEXT = 40_000


def result_text(result: types.CallToolResult) -> str:
    text = "\n".join(_parts(result.content)) or "(no content)"
    if result.structured_content is not None and not any(isinstance(one, types.TextContent) for one in result.content):
        text = f"{text}\n{result.structured_content}"
    return bounded(text)


def bounded(text: str) -> str:
    """The text, safe to show and not too long. What is cut off is never looked at."""
    cut = text[: MOST_TEXT + 1]
    shown = safe(cut)[:MOST_TEXT]
    return shown if len(text) <= MOST_TEXT else f"{shown}\n[… {counted(len(text) - MOST_TEXT, 'more character')}]"


def _parts(content: Sequence[Any]) -> Iterator[str]:
    for part in content[:1000]:
        match part:
            case types.TextContent(text=text):
                yield text
            case types.ImageContent(mime_type=kind, data=data) | types.AudioContent(mime_type=kind, data=data):
                yield f"[{kind}, {counted(len(data) * 3 // 4, 'byte')}, not shown]"
            case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
                yield f"[resource {uri}]\n{text}"
            case types.EmbeddedResource(resource=resource):
                yield f"[resource {resource.uri}, not shown]"
            case types.ResourceLink(uri=uri):
                yield f"[resource {uri}]"
            case _:
                yield "[content of another kind, not shown]"
