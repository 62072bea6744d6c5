"""The logs of a session, without secrets: messages to and from models, tool calls, calls of CLI agents, requests to
the API, and the scripts that ran.
"""

import json
from pathlib import Path
from typing import Any, cast

import msgspec

from interlock.assembly.logs.session_files import Now, SessionFiles
from interlock.assembly.secrets.redaction import Redact
from interlock.domain.values.markdown import fenced
from interlock.engine.models.activity import Happening, ToolExecution
from interlock.engine.models.prefix_blocks import blocks_of
from interlock.ports.model import ModelRequest
from interlock.views.usage.prefix import SentRequest

PREFIXES = "prefixes.log"

_LONGEST = 200_000  # characters of one text in a log
_ARGUMENTS, _RESULT = 4_000, 2_000  # characters of a tool call's


class SessionLogs:
    """All logs of a session. A failed write never raises in the caller."""

    def __init__(self, folder: Path, now: Now, redact: Redact, keep_days: int = 30) -> None:
        self._files = SessionFiles(folder, now, keep_days)
        self._redact = redact
        self.comms = CommsLog(self._files, redact)
        self.tools = ToolCallsLog(self._files, redact)
        self.cli = CliCallsLog(self._files, redact)
        self.api = ApiHooksLog(self._files, redact)

    def script(self, text: str) -> None:
        """Stores an approved script right before it runs."""
        self._files.script(self._redact(text))

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._files.warnings

    def close(self) -> None:
        self._files.close()


class CommsLog:
    """`comms.log`: a JSON line for each message."""

    def __init__(self, files: SessionFiles, redact: Redact) -> None:
        self._files = files
        self._redact = redact
        self._logged: dict[str, int] = {}  # by key: how many messages are in the log already

    def write(self, direction: str, kind: str, provider: str, model: str, payload: dict[str, Any]) -> None:
        entry = {"ts": self._files.now(), "direction": direction, "kind": kind, "provider": provider, "model": model}
        self._files.append("comms.log", lambda: _line({**entry, "payload": self._plain(payload)}, self._redact))
        if isinstance(request := payload.get("request"), ModelRequest):
            sent = {
                "key": payload.get("key", ""),
                "attempt": payload.get("attempt", 0),
                "call": payload.get("call", ""),
            }
            about = {"ts": entry["ts"], "provider": provider, "model": model, **sent}
            self._files.append(PREFIXES, lambda: _prefix(about, request))

    def _plain(self, payload: dict[str, Any]) -> Any:
        """Logs only the new messages of a request: each turn repeats all earlier ones."""
        plain = cast("dict[str, Any]", msgspec.to_builtins(payload))
        if (request := plain.get("request")) is not None:
            key, messages = str(plain.get("key")), request["messages"]
            before = self._logged.get(key, 0)
            before = before if before < len(messages) else 0
            self._logged[key] = len(messages)
            shown = {"model": request["model"], "tools": [tool["name"] for tool in request["tools"]]}
            if not before:
                shown |= {"system": request["system"], "context": request["context"]}
            plain["request"] = {**shown, "messages_before": before, "messages": messages[before:]}
        return plain


class ToolCallsLog:
    """`toolcalls.log`: a section of Markdown for each call of a tool."""

    def __init__(self, files: SessionFiles, redact: Redact) -> None:
        self._files = files
        self._redact = redact

    def record(self, happening: Happening) -> None:
        if isinstance(happening, ToolExecution) and happening.ended:
            at = self._files.now()
            self._files.append("toolcalls.log", lambda: self._section(at, happening))

    def _section(self, at: str, call: ToolExecution) -> str:
        ended = "failed" if call.failed else "ok"
        how = f"{ended} after {call.duration_ms} ms, allowed by" if not call.refused else f"{call.refused}, not run, by"
        args = json.dumps(_safe(call.args, self._redact), ensure_ascii=False, indent=2)
        return (
            f"## {at} {_one_line(call.key)}: {_one_line(call.tool)}\n\n"
            f"{how} {_one_line(call.by)}\n\n"
            f"{fenced(_head(args, _ARGUMENTS), 'json')}\n\n"
            f"{fenced(_head(self._redact(call.result), _RESULT))}\n\n"
        )


class CliCallsLog:
    """`clicalls.log`: a JSON line for each call of a CLI agent."""

    def __init__(self, files: SessionFiles, redact: Redact) -> None:
        self._files = files
        self._redact = redact

    def write(self, fields: dict[str, Any]) -> None:
        entry = {"ts": self._files.now(), **fields}
        self._files.append("clicalls.log", lambda: _line(entry, self._redact))


class ApiHooksLog:
    """`apihooks.log`: a JSON line for each request to the API."""

    def __init__(self, files: SessionFiles, redact: Redact) -> None:
        self._files = files
        self._redact = redact

    def write(
        self,
        *,
        method: str,
        path: str,
        status: int,
        capability: str = "",
        duration_ms: float = 0,
        refused: str = "",
        **more: Any,
    ) -> None:
        entry = {
            "ts": self._files.now(),
            "method": method,
            "path": path,
            "status": status,
            "capability": capability,
            "duration_ms": duration_ms,
            "refused": refused,
            **more,
        }
        self._files.append("apihooks.log", lambda: _line(entry, self._redact))


def _prefix(about: dict[str, Any], request: ModelRequest) -> str:
    """The blocks of a request by their hashes, without texts: shows what broke a cached prefix."""
    return msgspec.json.encode(SentRequest(**about, blocks=blocks_of(request))).decode() + "\n"


def _line(entry: dict[str, Any], redact: Redact) -> str:
    return json.dumps(_safe(entry, redact), ensure_ascii=False, default=repr) + "\n"


def _safe(value: Any, redact: Redact) -> Any:
    """A copy without secrets, with long texts cut."""
    match value:
        case str():
            return redact(_head(value, _LONGEST))
        case dict():
            return {key: _safe(inner, redact) for key, inner in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_safe(inner, redact) for inner in cast("list[Any]", value)]
        case _:
            return value


def _head(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most:,} more characters …]"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
