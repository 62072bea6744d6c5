"""Stores the exact bytes of texts with secrets, outside the project and out of every sandbox's sight."""

import contextlib
import hashlib
import hmac
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from interlock.assembly.redaction import HIDDEN, redactor
from interlock.domain.state.state import State
from interlock.errors import Rejected

MARK = re.compile(r"\[concealed:[0-9a-f]{16}\]")
_KEY = "key"
KEEP_S = 7 * 86_400
"""An exact text is removed when its command has ended, at the latest after this time."""


class SecretVault:
    """One file (0600) for each concealed text, named by the text's hash: a mark in another text restores nothing."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = environ
        self._key: bytes | None = None
        self._redact = redactor(environ)
        self._conceal = redactor(environ, self._mark)

    def redact(self, text: str) -> str:
        return self._redact(text)

    def detects(self, text: str) -> bool:
        return self._redact(text) != text

    def conceal(self, text: str) -> str:
        concealed = self._conceal(text)
        if concealed != text:
            self._write(_name(concealed), text.encode(errors="surrogatepass"))
        return concealed

    def conceal_answer(self, text: str) -> str:
        """Conceals the text of a person, in which marks that were shown to the person stand for their secrets."""
        return self.conceal(MARK.sub(lambda match: self._secret_of(match[0]), text))

    def _secret_of(self, mark: str) -> str:
        try:
            return (self._folder / mark[11:-1]).read_bytes().decode(errors="surrogatepass")
        except FileNotFoundError:
            return mark

    def reveal(self, text: str) -> str:
        if not MARK.search(text):
            return text
        try:
            return (self._folder / _name(text)).read_bytes().decode(errors="surrogatepass")
        except FileNotFoundError:
            raise Rejected(
                "it contains a secret whose exact text is not stored any more; edit it and write the secret again"
            ) from None

    def prune(self, still_used: Callable[[str], bool], now: float | None = None) -> None:
        """Removes texts that are too old and not used by unfinished work. `still_used` gets a name of a text."""
        oldest = (time.time() if now is None else now) - KEEP_S
        with contextlib.suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.name != _KEY and path.stat().st_mtime < oldest and not still_used(path.name):
                    path.unlink(missing_ok=True)

    def _mark(self, secret: str) -> str:
        if MARK.search(secret) or HIDDEN in secret:  # a concealed text is concealed once
            return secret
        exact = secret.encode(errors="surrogatepass")
        digest = hmac.new(self._secret_key(), exact, "sha256").hexdigest()
        self._write(digest[:16], exact)
        return f"[concealed:{digest[:16]}]"

    def _secret_key(self) -> bytes:
        """A random key: the mark of a short password must not be guessable from the journal."""
        if self._key is None:
            with contextlib.suppress(FileExistsError):
                self._write(_KEY, os.urandom(32), replace=False)
            self._key = (self._folder / _KEY).read_bytes()
        return self._key

    def _write(self, name: str, content: bytes, *, replace: bool = True) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = self._folder / name
        if not replace and target.exists():
            return
        part = self._folder / f"{name}.{os.urandom(6).hex()}"
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            part.replace(target)
        else:
            try:
                os.link(part, target)
            finally:
                part.unlink()


def texts_in_use(state: State) -> frozenset[str]:
    """The names of the texts of unfinished tickets and of pending approvals."""
    texts: list[str] = []
    for track in state.tracks.values():
        for ticket in track.tickets.values():
            if ticket.status not in ("completed", "cancelled"):
                spec, grant = ticket.spec, ticket.grant
                texts += [spec.script or "", *(gate.command for gate in spec.verify)]
                texts += [value for gate in spec.verify for value in gate.env.values()]
                texts += [grant.edited or ""] if grant is not None else []
    return frozenset(_name(text) for text in texts if MARK.search(text))


def _name(concealed: str) -> str:
    return hashlib.sha256(concealed.encode(errors="surrogatepass")).hexdigest()
