"""The three tokens of the HTTP API, and the files that carry them to those who may have them (SPEC A4, H1, H6)."""

import hmac
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Literal

import msgspec
from msgspec import Struct

from interlock.errors import Misconfigured

Capability = Literal["drive", "approve", "ask"]


class Tokens(Struct, frozen=True):
    """Made anew each time: whoever kept an old one has nothing."""

    drive: str
    approve: str
    ask: str

    def capability(self, presented: str) -> Capability | None:
        """Compared in constant time, all of them every time."""
        given = presented.encode(errors="surrogateescape")
        found: Capability | None = None
        known: tuple[tuple[Capability, str], ...] = (
            ("drive", self.drive),
            ("approve", self.approve),
            ("ask", self.ask),
        )
        for name, token in known:
            if hmac.compare_digest(given, token.encode()):
                found = name
        return found


def new_tokens() -> Tokens:
    return Tokens(token_urlsafe(32), token_urlsafe(32), token_urlsafe(32))


def proof(token: str, challenge: str) -> str:
    """Shows that we know a token without saying it: a client asks for this before it sends its own."""
    return hmac.new(token.encode(), challenge.encode(errors="surrogateescape"), sha256).hexdigest()


class Discovery:
    """`api.json` and `ask.json` in the project's run folder, and the approve token outside any project; all 0600."""

    def __init__(self, run: Path, approve_file: Path) -> None:
        self._run = run
        self._approve_file = approve_file

    def publish(self, host: str, port: int, tokens: Tokens) -> None:
        at = {"host": host, "port": port, "pid": os.getpid()}
        approve = str(self._approve_file)
        publish(self._approve_file, {**at, "token": tokens.approve})
        publish(self._run / "ask.json", {**at, "token": tokens.ask})
        publish(self._run / "api.json", {**at, "token": tokens.drive, "approve_file": approve})

    def remove(self) -> None:
        for path in (self._run / "api.json", self._run / "ask.json", self._approve_file):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def publish(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            part.unlink()
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(msgspec.json.encode(content) + b"\n")
        part.rename(path)
    except OSError as error:
        raise Misconfigured(f"cannot write {path}: {error.strerror}") from error
