"""A discussion's messages as updates for the editor: one by one as they come, or all of them again."""

from collections.abc import Iterator, Mapping, Sequence

import acp
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCallProgress,
    ToolCallStart,
    UserMessageChunk,
)

from interlock.editor.tool_calls import Content, finished, started
from interlock.ports.model import Message
from interlock.views.display import safe

Update = AgentMessageChunk | AgentThoughtChunk | ToolCallProgress | ToolCallStart | UserMessageChunk

REFUSED = ("REJECTED by the human", "DENIED by the rule", "ACCESS DENIED")
"""How the result of a call begins that did not run; a stored result has no other mark of it."""

PIECE = 100_000
"""Characters of one update of a replay."""


def replayed(
    discussion: str, messages: Sequence[Message], root: str, diffs: Mapping[str, list[Content]]
) -> Iterator[Update]:
    """The whole discussion as it happened, with the diffs of its edits. A call without a result stays pending."""
    for message in messages:
        match message.role:
            case "user":
                yield from (acp.update_user_message_text(piece) for piece in _pieces(message.text))
            case "assistant":
                yield from (acp.update_agent_thought_text(piece) for piece in _pieces(message.reasoning))
                yield from (acp.update_agent_message_text(piece) for piece in _pieces(message.text))
                yield from (started(discussion, call, root) for call in message.calls)
            case "tool":
                failed = message.text.startswith(REFUSED)
                diff = diffs.get(message.call_id, [])
                yield finished(discussion, message.call_id, message.text, diff, failed=failed)


def _pieces(text: str) -> Iterator[str]:
    shown = safe(text)
    return (shown[at : at + PIECE] for at in range(0, len(shown), PIECE))


class StreamedAnswer:
    """Joins what a model streams with the stored message, so that nothing is shown twice and nothing is missing."""

    def __init__(self) -> None:
        self._text = ""
        self._thought = ""

    def piece(self, text: str, *, thinking: bool) -> Update | None:
        """The update for a streamed piece; None for blank text before the answer."""
        if thinking:
            self._thought += text
            return acp.update_agent_thought_text(safe(text)) if text else None
        if not self._text and not text.strip():
            return None
        self._text += text
        return acp.update_agent_message_text(safe(text))

    def rest(self, message: Message) -> Iterator[Update]:
        """The updates that the stored message still needs. What was streamed after it belongs to the next message."""
        text, thought, self._text, self._thought = self._text, self._thought, "", ""
        if thought.startswith(message.reasoning):
            self._thought = thought[len(message.reasoning) :] if message.reasoning else ""
        elif not thought.strip():
            yield acp.update_agent_thought_text(safe(message.reasoning))
        if text.startswith(message.text):
            self._text = text[len(message.text) :].lstrip("\n")
        elif message.text.startswith(text):
            yield acp.update_agent_message_text(safe(message.text[len(text) :]))
        # Otherwise it was redacted, or an attempt broke off and was made again: it was shown as it came.
