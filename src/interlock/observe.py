"""Secrets taken out of text before it is stored or shown; and the log of what was said to models and by them."""

import contextlib
import json
import queue
import re
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

HIDDEN = "[redacted]"

_SHAPES = re.compile(
    r"""-----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
      | \bsk-[A-Za-z0-9_-]{16,}
      | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{20,}
      | \bAKIA[0-9A-Z]{16}\b | \bAIza[0-9A-Za-z_-]{35} | \bxox[abprs]-[A-Za-z0-9-]{10,} | \bnpm_[A-Za-z0-9]{36}
      | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+
      | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
      | (?i:(?<=authorization:\ bearer\ )|(?<=authorization:\ basic\ ))\S+
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8

Redact = Callable[[str], str]


def redactor(environ: Mapping[str, str]) -> Redact:
    """Hides what looks like a secret, and the values of variables that are named like one."""
    values = sorted(
        {value for name, value in environ.items() if _NAMES.search(name) and len(value) >= _SHORTEST},
        key=len,
        reverse=True,
    )
    known = re.compile("|".join(map(re.escape, values))) if values else None

    def redact(text: str) -> str:
        if known is not None:
            text = known.sub(HIDDEN, text)
        return _SHAPES.sub(HIDDEN, text)

    return redact


def redacted_bytes(redact: Redact, content: bytes) -> bytes:
    """The same for bytes of any kind; what is no text stays as it is."""
    return redact(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")


# ── the log of what goes to models and comes from them (SPEC P9, L1) ─────────────────────

LARGEST = 50_000_000  # bytes of one log before it is put aside
KEPT = 50  # sessions whose logs are kept


class CommsLog:
    """`logs/sessions/<YYYYMMDD_HHMMSS>/comms.log`: one JSON line per message, without secrets.

    Written by a thread of its own: what cannot be written (a full disk) is lost and harms nothing.
    """

    def __init__(self, folder: Path, now: Callable[[], str], redact: Redact) -> None:
        self._sessions = folder / "logs" / "sessions"
        self._now = now
        self._redact = redact
        self._lines: queue.SimpleQueue[tuple[str, str, str, str, str, dict[str, Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._told: dict[str, int] = {}  # by key: messages that are in the log already

    def write(self, direction: str, kind: str, provider: str, model: str, payload: dict[str, Any]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="comms", daemon=True)
            self._thread.start()
        self._lines.put((self._now(), direction, kind, provider, model, payload))

    def close(self) -> None:
        if self._thread is not None:
            self._lines.put(None)
            self._thread.join(timeout=2)

    def _run(self) -> None:
        file: Path | None = None
        while (line := self._lines.get()) is not None:
            at, direction, kind, provider, model, payload = line
            with contextlib.suppress(OSError):
                if file is None:
                    file = self._begin(at)
                entry = {"ts": at, "direction": direction, "kind": kind, "provider": provider, "model": model}
                text = json.dumps({**entry, "payload": self._plain(payload)}, ensure_ascii=False)
                with file.open("a", encoding="utf-8", errors="replace") as out:
                    out.write(text + "\n")
                    size = out.tell()
                if size > LARGEST:
                    file.replace(file.with_suffix(".log.1"))

    def _begin(self, at: str) -> Path:
        """A folder of this session; those of long ago are removed."""
        name = f"{at[:10].replace('-', '')}_{at[11:19].replace(':', '')}"
        folder = self._sessions / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(self._sessions.iterdir())[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return folder / "comms.log"

    def _plain(self, payload: dict[str, Any]) -> Any:
        """Of a request only what the log does not hold yet: its messages grow with every turn."""
        plain = cast("dict[str, Any]", msgspec.to_builtins(payload))
        if (request := plain.get("request")) is not None:
            key, messages = str(plain.get("key")), request["messages"]
            before = self._told.get(key, 0)
            before = before if before < len(messages) else 0
            self._told[key] = len(messages)
            shown = {"model": request["model"], "tools": [tool["name"] for tool in request["tools"]]}
            if not before:
                shown["system"] = request["system"]
            plain["request"] = {**shown, "messages_before": before, "messages": messages[before:]}
        return self._without_secrets(plain)

    def _without_secrets(self, value: Any) -> Any:
        match value:
            case str():
                return self._redact(value)
            case dict():
                return {key: self._without_secrets(inner) for key, inner in cast("dict[str, Any]", value).items()}
            case list() | tuple():
                return [self._without_secrets(inner) for inner in cast("list[Any]", value)]
            case _:
                return value
