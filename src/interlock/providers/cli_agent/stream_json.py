"""Reads the output of a CLI agent: one JSON object per line, in the format `stream-json` of Gemini CLI.

Types are `init`, `message`, `tool_use`, `tool_result`, `error` and `result`; other types are ignored. An answer is
complete only after a `result` with success. The agent is hostile: lines and their total size are bounded, and one
unreadable line makes the whole answer unusable.
"""

from collections.abc import Callable
from typing import Any, cast

import msgspec
from msgspec import Struct

from interlock.domain.values.budgets import Usage
from interlock.ports.model import OnText

LONGEST_LINE = 16 * 1024 * 1024
MOST = 64 * 1024 * 1024  # bytes of one answer, all lines together
_KEPT = 100_000  # bytes kept for the log

_Event = dict[str, Any]


class AgentReply(Struct, frozen=True):
    """The complete answer. `usage` is None if the agent reported none."""

    text: str
    session: str
    model: str
    usage: Usage | None


class StreamJson:
    """Takes pieces of output. `enough` is called when further output cannot help."""

    def __init__(self, on_text: OnText, enough: Callable[[], object]) -> None:
        self._on_text = on_text
        self._enough = enough
        self._rest = bytearray()
        self._looked = 0  # the rest has no line break up to here
        self._seen = 0
        self._said: list[str] = []
        self._apart = False  # the next text starts a new paragraph
        self._session = ""
        self._model = ""
        self._result: _Event | None = None
        self.fault = ""
        self.kept = b""

    def feed(self, chunk: bytes) -> None:
        if len(self.kept) < _KEPT:
            self.kept += chunk[: _KEPT - len(self.kept)]
        self._seen += len(chunk)
        if self.fault:
            return
        if self._seen > MOST:
            self._fail(f"it said more than {MOST // 1024 // 1024} MB")
            return
        self._rest += chunk
        while not self.fault and (end := self._rest.find(b"\n", self._looked)) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._looked = 0
            self._read_line(line)
        self._looked = len(self._rest)
        if self._looked > LONGEST_LINE:
            self._fail(f"it said a line of more than {LONGEST_LINE // 1024 // 1024} MB")

    def end(self) -> AgentReply | None:
        """The complete answer; None if there is none, with the reason in `fault`."""
        if self._rest and not self.fault:  # the last line break may be missing, the text may not
            self._read_line(bytes(self._rest))
            self._rest.clear()
        if not self.fault and self._result is None:
            self.fault = "its answer broke off" if self._seen else "it said nothing"
        if self.fault or self._result is None:
            return None
        return AgentReply("".join(self._said), self._session, self._model, _usage(self._result.get("stats")))

    def _read_line(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            event = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            event = None
        if not isinstance(event, dict) or not isinstance(cast("_Event", event).get("type"), str):
            self._fail(f"it printed a line that cannot be read: {line[:200].decode(errors='replace')!r}")
            return
        self._take(cast("_Event", event))

    def _take(self, event: _Event) -> None:
        match event["type"]:
            case "init":
                self._session = _text(event, "session_id")
                self._model = _text(event, "model")
            case "message" if event.get("role") == "assistant":
                self._add_text(event.get("content"), goes_on=event.get("delta") is True)
            case "tool_use":
                self._show(f"[{_text(event, 'tool_name') or 'a tool'} of its own: {_short(event.get('parameters'))}]")
            case "tool_result" if event.get("status") == "error":
                self._show(f"[it failed: {_short(event.get('error') or event.get('output'))}]")
            case "error" if event.get("severity") == "warning":
                self._show(f"[warning: {_short(event.get('message'))}]")
            case "error":
                self.fault = _short(
                    event.get("message") or event
                )  # the agent ends by itself and may write more to stderr
            case "result" if event.get("status") != "success":
                self.fault = _short(event.get("error") or event)
            case "result":
                self._session = _text(event, "session_id") or self._session
                self._result = event
            case _:
                pass

    def _add_text(self, content: object, *, goes_on: bool) -> None:
        if not isinstance(content, str):
            self._fail(f"it said a message that is no text: {_short(content)}")
            return
        if self._said and content and (self._apart or not goes_on):
            content = f"\n\n{content}"
        self._apart = self._apart and not content
        self._said.append(content)
        self._on_text(content)

    def _show(self, words: str) -> None:
        """Shown as progress; not part of the answer."""
        self._apart = True
        self._on_text(f"\n{words}\n")

    def _fail(self, why: str) -> None:
        self.fault = why
        self._rest.clear()
        self._enough()


def _text(event: _Event, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _short(value: object) -> str:
    """A short, bounded form of hostile text."""
    if isinstance(value, dict):
        value = cast("_Event", value).get("message", cast("object", value))
    words = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    words = " ".join(words.split())
    return words if len(words) <= 200 else f"{words[:199]}…"


def _usage(stats: object) -> Usage | None:
    if not isinstance(stats, dict):
        return None
    figures = cast("_Event", stats)

    def count(key: str) -> int | None:
        value = figures.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None

    cached, output, total = count("cached") or 0, count("output_tokens"), count("total_tokens")
    whole = count("input_tokens")
    if whole is None and total is not None:
        whole = max(0, total - (output or 0))
    if whole is None and output is None:
        return None
    fresh = count("input")
    return Usage(max(0, (whole or 0) - cached) if fresh is None else fresh, output or 0, cache_read=cached)
