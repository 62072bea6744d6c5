"""Removes secrets from text before it is stored or shown."""

import re
from collections.abc import Callable, Mapping

from interlock.assembly.secrets.detectors.detector import joined
from interlock.assembly.secrets.detectors.named_values import named_value_spans, small_letters
from interlock.assembly.secrets.detectors.places import place_spans
from interlock.assembly.secrets.detectors.shapes import block_spans, token_spans

HIDDEN = "[redacted]"

_NAMES = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PASS|_PWD|_PAT|_DSN|_AUTH|_COOKIE|_WEBHOOK|_WEBHOOK_URL"
    r"|_CONNECTION_STRING|_CONN_STR|(?:DATABASE|DB|REDIS|MONGO|MONGODB|POSTGRES|MYSQL|AMQP|BROKER|RABBITMQ|CACHE|SMTP)_UR[LI])$"
    r"|^(?:PASS|DSN|PAT|PGPASSWORD|DATABASE_URL|MYSQL_PWD)$",
    re.IGNORECASE,
)
_SHORTEST = 8

Redact = Callable[[str], str]


Hide = Callable[[str], str]
"""What stands for a secret."""


def redactor(environ: Mapping[str, str], hide: Hide = lambda _: HIDDEN) -> Redact:
    """Hides texts in the form of a secret, and the values of variables with a secret's name."""
    values = sorted(
        {value for name, value in environ.items() if _NAMES.search(name) and len(value) >= _SHORTEST},
        key=len,
        reverse=True,
    )

    def redact(text: str) -> str:
        for value in values:  # longest first: one may be part of another
            if value in text:
                text = text.replace(value, hide(value))
        return _without_shapes(text, hide)

    return redact


def _without_shapes(text: str, hide: Hide) -> str:
    small = small_letters(text)
    spans = [*token_spans(text), *block_spans(text), *place_spans(text, small), *named_value_spans(text, small)]
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end in joined(spans):
        parts += [text[at:start], hide(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def redacted_bytes(redact: Redact, content: bytes) -> bytes:
    """Redacts bytes; bytes that are not UTF-8 stay unchanged."""
    return redact(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")
