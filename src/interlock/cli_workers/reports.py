"""What an agent reports while it works: JSON lines in the formats of Claude Code, Codex and Gemini CLI, or plain text.

Everything is untrusted and bounded. An unknown line is skipped: agents add new ones often.
"""

import json
from collections.abc import Callable
from typing import Any, Protocol, cast

from interlock.cli_workers.profile import Output
from interlock.domain.values.budgets import Usage

_LONGEST_LINE = 8 * 1024 * 1024
_LONGEST_TEXT = 400_000
_SHOWN = 200

Line = dict[str, Any]


class Report(Protocol):
    """The result so far. `failure` is the agent's own word about an error; `ended` if it reported its end."""

    text: str
    session: str
    usage: Usage
    model: str
    failure: str
    ended: bool

    def take(self, line: Line) -> None: ...


class Listeners:
    def __init__(self, on_text: Callable[[str], None], on_tool: Callable[[str], None]) -> None:
        self.on_text = on_text
        self.on_tool = on_tool


class JsonLines:
    """Splits output into lines and gives each JSON object to the report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._rest = bytearray()
        self._skipping = False

    def feed(self, piece: bytes) -> None:
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._rest += line
            self._line(bytes(self._rest))
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > _LONGEST_LINE:
            self._rest.clear()
            self._skipping = True

    def end(self) -> None:
        self._line(bytes(self._rest))
        self._rest.clear()

    def _line(self, line: bytes) -> None:
        if self._skipping:
            self._skipping = False
            return
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            self._report.take(cast("Line", value))


class _Base:
    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self.text = ""
        self.session = ""
        self.usage = Usage()
        self.model = ""
        self.failure = ""
        self.ended = False

    def say(self, text: str) -> None:
        if text:
            self._listeners.on_text(text)

    def tool(self, name: object, args: object) -> None:
        shown = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        self._listeners.on_tool(f"{str(name)[:_SHOWN]} {' '.join(shown.split())[:_SHOWN]}")


class ClaudeReport(_Base):
    """`claude -p --output-format stream-json --verbose`."""

    def take(self, line: Line) -> None:
        self.session = _text(line, "session_id") or self.session
        match line.get("type"):
            case "system":
                self.model = _text(line, "model") or self.model
            case "assistant":
                for block in _objects(_object(line, "message").get("content")):
                    if block.get("type") == "text":
                        self.say(_text(block, "text") + "\n")
                    elif block.get("type") == "tool_use":
                        self.tool(block.get("name"), block.get("input"))
            case "result":
                self.ended = True
                self.text = _text(line, "result")
                self.usage = _claude_usage(line)
                if line.get("is_error") is True:
                    self.failure = self.text or _text(line, "subtype") or "it reports an error"
            case _:
                pass


class CodexReport(_Base):
    """`codex exec --json`."""

    def take(self, line: Line) -> None:
        match line.get("type"):
            case "thread.started":
                self.session = _text(line, "thread_id")
            case "item.started" | "item.completed":
                self._item(_object(line, "item"), completed=line["type"] == "item.completed")
            case "turn.completed":
                self.ended = True
                used = _object(line, "usage")
                cached = _number(used, "cached_input_tokens")
                self.usage = self.usage.plus(
                    Usage(max(_number(used, "input_tokens") - cached, 0), _number(used, "output_tokens"), cached)
                )
            case "turn.failed":
                self.ended = True
                self.failure = _text(_object(line, "error"), "message") or "its turn failed"
            case "error":
                self.failure = _text(line, "message") or self.failure
            case _:
                pass

    def _item(self, item: Line, *, completed: bool) -> None:
        kind = item.get("type")
        if kind == "agent_message" and completed:
            self.text = _text(item, "text")
            self.say(self.text + "\n")
        elif kind == "command_execution" and not completed:
            self.tool("Bash", item.get("command"))
        elif kind == "file_change" and not completed:
            self.tool("apply_patch", item.get("changes"))


class GeminiReport(_Base):
    """`gemini --output-format stream-json`."""

    def take(self, line: Line) -> None:
        match line.get("type"):
            case "init":
                self.session = _text(line, "session_id")
                self.model = _text(line, "model") or self.model
            case "message" if line.get("role") == "assistant":
                content = _text(line, "content")
                self.text = (self.text + content if line.get("delta") else content)[-_LONGEST_TEXT:]
                self.say(content)
            case "tool_use":
                self.text = ""  # the answer is what follows the last tool
                self.tool(line.get("tool_name"), line.get("parameters"))
            case "error":
                self.failure = _text(line, "message") or self.failure
            case "result":
                self.ended = True
                self.session = _text(line, "session_id") or self.session
                self._result(line)
            case _:
                pass

    def _result(self, line: Line) -> None:
        stats = _object(line, "stats")
        cached = _number(stats, "cached")
        self.usage = Usage(max(_number(stats, "input_tokens") - cached, 0), _number(stats, "output_tokens"), cached)
        if line.get("status") != "success":
            self.failure = _text(_object(line, "error"), "message") or self.failure or "it reports an error"
        else:
            self.failure = ""


class TextReport(_Base):
    """Plain text: all of it is the answer. It has no `take`: its output is not JSON."""

    def take(self, line: Line) -> None:
        pass

    def feed(self, piece: bytes) -> None:
        text = piece.decode(errors="replace")
        self.text = (self.text + text)[-_LONGEST_TEXT:]
        self.say(text)

    def end(self) -> None:
        self.ended = True


def report_of(output: Output, listeners: Listeners) -> tuple[Report, "JsonLines | TextReport"]:
    """The report, and what takes the agent's output."""
    match output:
        case "claude":
            report: Report = ClaudeReport(listeners)
        case "codex":
            report = CodexReport(listeners)
        case "gemini":
            report = GeminiReport(listeners)
        case _:
            text = TextReport(listeners)
            return text, text
    return report, JsonLines(report)


def _claude_usage(line: Line) -> Usage:
    used = _object(line, "usage")
    cost = line.get("total_cost_usd")
    return Usage(
        _number(used, "input_tokens"),
        _number(used, "output_tokens"),
        _number(used, "cache_read_input_tokens"),
        _number(used, "cache_creation_input_tokens"),
        int(cost * 1_000_000) if isinstance(cost, int | float) and 0 <= cost < 1e6 else 0,
    )


def _text(line: Line, name: str) -> str:
    value = line.get(name)
    return value[-_LONGEST_TEXT:] if isinstance(value, str) else ""


def _number(line: Line, name: str) -> int:
    value = line.get(name)
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else 0


def _object(line: Line, name: str) -> Line:
    value = line.get(name)
    return cast("Line", value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[Line]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Line", item) for item in items if isinstance(item, dict)]
