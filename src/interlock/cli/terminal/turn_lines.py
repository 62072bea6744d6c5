"""The turns of a worker as lines of progress: the text of the model and its tool calls."""

from typing import Any

import msgspec

from interlock.domain.messages.events.attempt_events import TurnFinished
from interlock.engine.blobs import Fetch
from interlock.errors import InterlockError
from interlock.ports.model import Message, ToolCall
from interlock.views.display import counted, one_line, safe

_message = msgspec.json.Decoder(Message)
_SHOWN = 4  # calls of one turn
_WIDTH = 100  # characters of a line


def turn_lines(event: TurnFinished, fetch: Fetch) -> list[str]:
    """Empty if the message cannot be read: progress is no reason to stop."""
    try:
        message = _message.decode(fetch(event.message.sha256))
    except (OSError, InterlockError, msgspec.MsgspecError):
        return []
    lines = [f"says: {one_line(message.text.strip(), _WIDTH)}"] if message.text.strip() else []
    lines += [f"calls {called(call)}" for call in message.calls[:_SHOWN]]
    if len(message.calls) > _SHOWN:
        lines.append(f"calls {counted(len(message.calls) - _SHOWN, 'more tool')}")
    return [f"{event.ticket}  {line}" for line in lines]


def called(call: ToolCall) -> str:
    """A tool call in one line."""
    shown = ", ".join(_argument(name, value) for name, value in call.args.items())
    return f"{safe(call.name)} {one_line(shown, _WIDTH)}".rstrip()


def _argument(name: str, value: Any) -> str:
    text = one_line(value if isinstance(value, str) else str(value), 60)
    return text if name in ("path", "command", "script", "pattern", "url", "query") else f"{safe(name)}={text}"
