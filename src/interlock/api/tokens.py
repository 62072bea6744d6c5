"""The three tokens of the HTTP API, and the files that publish them to authorised clients."""

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

Capability = Literal["drive", "approve", "ask", "link"]
"""`link` is no token: a browser that exchanges the secret of a link for a session, and may do nothing else."""


class Tokens(Struct, frozen=True):
    """New for each process: old tokens are worthless."""

    drive: str
    approve: str
    ask: str

    def capability(self, presented: str) -> Capability | None:
        """The capability of a token. Compares with all tokens in constant time."""
        token_bytes = presented.encode(errors="surrogateescape")
        capability: Capability | None = None
        known: tuple[tuple[Capability, str], ...] = (
            ("drive", self.drive),
            ("approve", self.approve),
            ("ask", self.ask),
        )
        for name, token in known:
            if hmac.compare_digest(token_bytes, token.encode()):
                capability = name
        return capability


def new_tokens() -> Tokens:
    return Tokens(token_urlsafe(32), token_urlsafe(32), token_urlsafe(32))


def proof(token: str, challenge: str) -> str:
    """Proves knowledge of a token without revealing it; clients check it before they send their own."""
    return hmac.new(token.encode(), challenge.encode(errors="surrogateescape"), sha256).hexdigest()


class Discovery:
    """Writes `api.json` and `ask.json` into the run folder, and the approve token outside any project; mode 0600."""

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
    """Writes the file atomically; it is never readable by other users."""
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
