"""Stores the exact bytes of texts with secrets, outside the project and out of every sandbox's sight."""

import contextlib
import hashlib
import hmac
import math
import os
import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from interlock.assembly.secrets.redaction import HIDDEN, redactor
from interlock.errors import Rejected

MARK = re.compile(r"\[concealed:[0-9a-f]{16}\]")
_KEY = "key"
GRACE_S = 60.0
"""The time in which the command of a new text is recorded; until then nothing shows that the text is needed."""


class SecretVault:
    """One file (0600) for each concealed text, named by the text's hash: a mark in another text restores nothing."""

    def __init__(self, folder: Path, environ: Mapping[str, str], grace_s: float = GRACE_S) -> None:
        self._folder = folder
        self._environ = environ
        self.grace_s = grace_s
        self._key: bytes | None = None
        self._lock = threading.Lock()
        self._fresh: dict[str, float] = {}  # names that this process stored, with the time
        self._stores_texts = bool(self._files())
        self._redact = redactor(environ)
        self._conceal = redactor(environ, self._mark)

    def redact(self, text: str) -> str:
        return self._redact(text)

    def detects(self, text: str) -> bool:
        return self._redact(text) != text

    def conceal(self, text: str) -> str:
        concealed = self._conceal(text)
        if concealed != text:
            self._write(name_of(concealed), text.encode(errors="surrogatepass"))
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
            return (self._folder / name_of(text)).read_bytes().decode(errors="surrogatepass")
        except FileNotFoundError:
            raise Rejected(
                "it contains a secret whose exact text is not stored any more; edit it and write the secret again"
            ) from None

    @property
    def stores_texts(self) -> bool:
        """False if there is nothing to remove."""
        return self._stores_texts

    @property
    def has_fresh_texts(self) -> bool:
        return bool(self._fresh)

    def remove_all_but(self, needed: frozenset[str], *, grace: bool) -> None:
        """Removes texts and secrets whose names are not in `needed`; with `grace`, none that was stored just now."""
        left = False
        for path in self._files():
            with self._lock:
                if not grace or path.name in needed or self._is_old(path.name):
                    self._fresh.pop(path.name, None)
                half_written = grace and "." in path.name
                if path.name in needed or path.name in self._fresh or half_written:
                    left = True
                else:
                    path.unlink(missing_ok=True)
        with self._lock:
            self._stores_texts = left or bool(self._fresh)

    def _is_old(self, name: str) -> bool:
        return self._fresh.get(name, -math.inf) < time.monotonic() - self.grace_s

    def _files(self) -> list[Path]:
        try:
            return [path for path in self._folder.iterdir() if path.name != _KEY]
        except FileNotFoundError:
            return []

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
            with self._lock:
                part.replace(target)
                self._fresh[name] = time.monotonic()
                self._stores_texts = True
        else:
            try:
                os.link(part, target)
            finally:
                part.unlink()


def name_of(concealed: str) -> str:
    """The name of the file with the exact text."""
    return hashlib.sha256(concealed.encode(errors="surrogatepass")).hexdigest()
